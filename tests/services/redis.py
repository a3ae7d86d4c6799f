"""A real Redis server of one's own: loopback, free port, ended by process id."""

import shutil
import subprocess
from pathlib import Path

import redis

from tests.services.loopback import PATIENCE_S, free_port, missing, wait_until


class RedisServer:
    """A server that can be stopped, started again and frozen.

    Args:
        directory: Gets its data.
        durable: Whether every write is on the disk before it is answered, so that a restart forgets nothing.
    """

    def __init__(self, directory: Path, *, durable: bool = True) -> None:
        self._program = shutil.which("redis-server") or missing("redis-server is not installed")
        self._directory = directory
        self._durable = durable
        self._process: subprocess.Popen[bytes] | None = None
        self.port = free_port()

    def client(self, timeout_s: float = 5.0) -> redis.Redis:
        """A client with timeouts and no retries of its own."""
        retry = redis.retry.Retry(redis.backoff.NoBackoff(), 0)
        return redis.Redis(port=self.port, socket_timeout=timeout_s, socket_connect_timeout=timeout_s, retry=retry)

    def start(self) -> None:
        """Start it and wait until it answers."""
        safety = ["--appendonly", "yes", "--appendfsync", "always"] if self._durable else ["--appendonly", "no"]
        command = [self._program, "--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self._directory)]
        self._process = subprocess.Popen([*command, "--save", "", *safety], stdout=subprocess.DEVNULL)
        wait_until("redis answers", self._answers)

    def stop(self) -> None:
        """Kill it, as a crash would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(timeout=PATIENCE_S)
            self._process = None

    def _answers(self) -> bool:
        client = self.client()
        try:
            return bool(client.ping())
        except redis.RedisError:
            return False
        finally:
            client.close()
