"""Leases between machines, in one Redis server (extra ``[redis]``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Self

from otel_docsfab.errors import ConfigError

if TYPE_CHECKING:
    from redis import Redis

_TOKEN_MS: Final = 7 * 86_400_000
"""How long the newest token of a name is remembered; from then on the server's time alone makes tokens grow, ms."""

# A token is larger than the one before, and than every one given before a server that lost its data.
# A server that started less than a lease ago may have forgotten one that still lasts: it gives none until then.
_ACQUIRE: Final = """
local owner = redis.call('HGET', KEYS[1], 'owner')
if owner and owner ~= ARGV[1] then return false end
if not owner then
  local uptime = tonumber(string.match(redis.call('INFO', 'server'), 'uptime_in_seconds:(%d+)'))
  if uptime and uptime * 1000 < tonumber(ARGV[2]) then return false end
end
local time = redis.call('TIME')
local token = time[1] * 1000000 + time[2]
local last = tonumber(redis.call('GET', KEYS[2]) or 0)
if token <= last then token = last + 1 end
local text = string.format('%.0f', token)
redis.call('SET', KEYS[2], text, 'PX', ARGV[3])
redis.call('HSET', KEYS[1], 'owner', ARGV[1], 'token', text)
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return text
"""
_RENEW: Final = """
local held = redis.call('HMGET', KEYS[1], 'owner', 'token')
if held[1] ~= ARGV[1] or held[2] ~= ARGV[2] then return 0 end
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return 1
"""
_RELEASE: Final = """
local held = redis.call('HMGET', KEYS[1], 'owner', 'token')
if held[1] == ARGV[1] and held[2] == ARGV[2] then redis.call('DEL', KEYS[1]) end
return 0
"""


class RedisLeaseStore:
    """Leases in one Redis server, each change one script, so that nothing comes between asking and changing.

    Time is the server's. After a restart, with or without its data, no new lease is given for as long as one lasts;
    give all keepers the same time. A replica that takes over may have missed the newest lease: what a lease protects
    must check the fencing token.

    Args:
        client: A client with timeouts that are shorter than the keeper's interval.
        prefix: Begins the names of the keys.
    """

    def __init__(self, client: Redis, prefix: str = "docsfab:lease") -> None:
        """Send nothing yet."""
        self._prefix = prefix
        self._acquire = client.register_script(_ACQUIRE)
        self._renew = client.register_script(_RENEW)
        self._release = client.register_script(_RELEASE)

    @classmethod
    def from_url(cls, url: str, *, timeout_s: float = 2.0, prefix: str = "docsfab:lease") -> Self:
        """A store by the server's URL.

        Args:
            url: Such as ``redis://host:6379/0``.
            timeout_s: Longest wait for the server, seconds.
            prefix: Begins the names of the keys.

        Raises:
            ConfigError: The extra is not installed.
        """
        try:
            from redis import Redis  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise ConfigError("leases in Redis need its client: pip install 'otel-docsfab[redis]'") from error
        return cls(Redis.from_url(url, socket_timeout=timeout_s, socket_connect_timeout=timeout_s), prefix)

    def acquire(self, name: str, owner: str, ttl_ms: int) -> int | None:
        """See ``LeaseStore``."""
        token: Any = self._acquire(keys=self._keys(name), args=[owner, ttl_ms, _TOKEN_MS])
        return None if token is None else int(token)

    def renew(self, name: str, owner: str, token: int, ttl_ms: int) -> bool:
        """See ``LeaseStore``."""
        return bool(self._renew(keys=self._keys(name), args=[owner, token, ttl_ms, _TOKEN_MS]))

    def release(self, name: str, owner: str, token: int) -> None:
        """See ``LeaseStore``."""
        self._release(keys=self._keys(name), args=[owner, token])

    def _keys(self, name: str) -> list[str]:
        """The lease and its newest token; braces keep both on one node of a cluster."""
        return [f"{self._prefix}:{{{name}}}", f"{self._prefix}:{{{name}}}:token"]
