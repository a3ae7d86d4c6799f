"""An OpenAI-compatible streaming endpoint on loopback that gets stuck where it is told to.

The first request of a conversation is answered with a tool call. The next one gets stuck: the name of the model says
where. It knows a second request by the tool result in it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any, Self

CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 0, "model": "stub"}
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
READ = {"name": "read", "arguments": '{"path": "a.md"}'}


def deltas(where: str, *, second: bool) -> Iterator[tuple[dict[str, Any], str | None]]:
    """What streams, (delta, finish reason); a stream without a reason is stuck after it."""
    if not second:
        yield {"role": "assistant", "tool_calls": [_call(0, "call-1", READ)]}, None
        yield {}, "tool_calls"
    elif where == "streaming-answer":
        yield {"role": "assistant", "content": "The answer "}, None
    elif where == "streaming-tool-call":
        yield {"role": "assistant", "tool_calls": [_call(0, "call-2", {"name": "read", "arguments": '{"pa'})]}, None
    elif where == "streaming":
        yield {"role": "assistant", "reasoning_content": "Let me think "}, None
    elif where == "between-requests":
        yield {"role": "assistant", "tool_calls": [_call(0, "call-2", {"name": "hang", "arguments": "{}"})]}, None
        yield {}, "tool_calls"


def _call(index: int, call_id: str, function: dict[str, str]) -> dict[str, Any]:
    return {"index": index, "id": call_id, "type": "function", "function": function}


class Server:
    """``async with Server() as server``: ``server.url`` is its base URL."""

    async def __aenter__(self) -> Self:
        self._open: set[asyncio.StreamWriter] = set()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        host, port = self._server.sockets[0].getsockname()[:2]
        self.url = f"http://{host}:{port}/v1"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for writer in self._open:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open.add(writer)
        try:
            while (request := await _request(reader)) is not None:
                where = request["model"]
                second = any(message["role"] == "tool" for message in request["messages"])
                if where == "awaiting-first-byte" and second:
                    await reader.read()  # nothing comes back until the client goes away
                    return
                writer.write(HEAD)
                reason = None
                for delta, reason in deltas(where, second=second):
                    choice = {"index": 0, "delta": delta, "finish_reason": reason}
                    _send(writer, json.dumps(CHUNK | {"choices": [choice]}))
                    await writer.drain()
                if reason is None:
                    await reader.read()
                    return
                _send(writer, "[DONE]")
                writer.write(b"0\r\n\r\n")
                await writer.drain()
        finally:
            self._open.discard(writer)
            writer.close()


async def _request(reader: asyncio.StreamReader) -> dict[str, Any] | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    length = next(
        int(line.partition(b":")[2]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")
    )
    body: dict[str, Any] = json.loads(await reader.readexactly(length))
    return body


def _send(writer: asyncio.StreamWriter, data: str) -> None:
    event = f"data: {data}\n\n".encode()
    writer.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
