"""A Messages API on the loopback that answers as a script says, for the program inside the Claude Agent SDK."""

from __future__ import annotations

import http.server
import json
import tempfile
import threading
from collections.abc import Callable
from typing import Any

from tests.frameworks.enforce.story import ANSWER, Request, Turn

Responder = Callable[[Request], tuple[Turn, list[str]] | None]


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers one request."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.give({})

    def do_HEAD(self) -> None:
        self.give({})

    def do_POST(self) -> None:
        body = self.body()
        if "count_tokens" in self.path:
            return self.give({"input_tokens": 10})
        if not self.path.startswith("/v1/messages"):
            return self.give({})
        request = json.loads(body)
        blocks = self.server.stub.blocks(request)
        message = {
            "id": f"msg_{len(self.server.stub.bodies)}",
            "type": "message",
            "role": "assistant",
            "model": request.get("model", "x"),
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": {"input_tokens": 10, "output_tokens": 1},
        }
        reason = "tool_use" if blocks[0]["type"] == "tool_use" else "end_turn"
        if not request.get("stream"):
            return self.give({**message, "content": blocks, "stop_reason": reason})
        return self.stream(message, blocks, reason)

    def body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        whole = b""
        while size := int(self.rfile.readline().strip() or b"0", 16):
            whole += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return whole

    def give(self, value: Any) -> None:
        self.send(json.dumps(value).encode(), "application/json")

    def send(self, data: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def stream(self, message: dict[str, Any], blocks: list[dict[str, Any]], reason: str) -> None:
        events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
        for index, block in enumerate(blocks):
            if block["type"] == "text":
                empty = {"type": "text", "text": ""}
                delta = {"type": "text_delta", "text": block["text"]}
            else:
                empty = {**block, "input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            events += [
                {"type": "content_block_start", "index": index, "content_block": empty},
                {"type": "content_block_delta", "index": index, "delta": delta},
                {"type": "content_block_stop", "index": index},
            ]
        ended = {"stop_reason": reason, "stop_sequence": None}
        events += [
            {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 5}},
            {"type": "message_stop"},
        ]
        text = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
        self.send(text.encode(), "text/event-stream")


class Server(http.server.ThreadingHTTPServer):
    """Knows whose it is."""

    daemon_threads = True
    stub: Stub


class Stub:
    """Serves until closed.

    Attributes:
        respond: Given what the model receives, the calls and their ids, or None for the answer.
        bodies: Requests as they came.
    """

    def __init__(self) -> None:
        self.respond: Responder = lambda _: None
        self.bodies: list[dict[str, Any]] = []
        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.stub = self
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.home = tempfile.mkdtemp(prefix="claude_home_")

    def blocks(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        """The response's content."""
        if "Read" not in [tool.get("name") for tool in request.get("tools", [])]:
            return [{"type": "text", "text": "ok"}]  # a side request of the program, such as for a title
        self.bodies.append(request)
        answer = self.respond(received(request))
        if answer is None:
            return [{"type": "text", "text": ANSWER}]
        turn, keys = answer
        return [
            {"type": "tool_use", "id": key, "name": name, "input": arguments}
            for key, (name, arguments) in zip(keys, turn, strict=True)
        ]

    @property
    def environment(self) -> dict[str, str]:
        """What leads the program here, and nowhere else."""
        return {
            "HOME": self.home,
            "CLAUDE_CONFIG_DIR": f"{self.home}/.claude",
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{self.server.server_address[1]}",
            "ANTHROPIC_API_KEY": "not-a-key",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
        }


def received(request: dict[str, Any]) -> Request:
    """What the model received, in the words of the stories."""
    results: dict[str, list[str]] = {}
    users: list[str] = []
    for message in request["messages"]:
        if message["role"] != "user":
            continue
        content = message["content"]
        for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
            if block["type"] == "tool_result":
                results[block["tool_use_id"]] = texts(block.get("content"))
            elif block["type"] == "text":
                users.append(block["text"])
    return Request([tool["name"] for tool in request["tools"]], results, users)


def texts(content: Any) -> list[str]:
    return [content] if isinstance(content, str) else [str(block.get("text", "")) for block in content or []]
