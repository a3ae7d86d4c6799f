"""The examples of ``docs/hooks.md`` run: set-up lines in their frameworks, loops against clients of the same shape."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from pydantic import BaseModel

from otel_docsfab import Supervisor
from otel_docsfab.core import wording
from otel_docsfab.gate.hooks import Runtime
from tests.frameworks.enforce.bars import CONTENT, NOTICE
from tests.frameworks.enforce.documented import examples, run
from tests.frameworks.environments import run_in

ENVIRONMENTS = {Runtime.LANGCHAIN: "langgraph"}


@pytest.mark.framework
@pytest.mark.parametrize("runtime", Runtime)
def test_the_set_up_of_each_runtime_runs(runtime):
    told = run_in(ENVIRONMENTS.get(runtime, runtime), "tests.frameworks.enforce.documented", runtime)
    assert told.splitlines()[-1] == "done"


def test_every_runtime_has_a_set_up_and_every_loop_an_example():
    assert {where for where, _ in examples()} == {*Runtime, "loop-openai", "loop-anthropic", "mcp"}


class OpenAI:
    """Reads for ever, until the tools are withdrawn."""

    def __init__(self):
        self.requests = []
        self.chat = SimpleNamespace(completions=SimpleNamespace(create=self.create))

    def create(self, *, model, messages, tools=None):
        self.requests.append((list(messages), tools))
        function = SimpleNamespace(name="read", arguments=json.dumps({"path": "a.md"}))
        calls = [SimpleNamespace(id=f"call_{len(self.requests)}", function=function)]
        message = SimpleNamespace(content="the answer", tool_calls=calls if tools else None)
        message.model_dump = lambda exclude_none: {"role": "assistant", "tool_calls": len(calls)}
        return SimpleNamespace(choices=[SimpleNamespace(message=message)])


class Anthropic:
    """The same in the other API's words."""

    def __init__(self):
        self.requests = []
        self.messages = SimpleNamespace(create=self.create)

    def create(self, *, model, max_tokens, messages, tools, tool_choice):
        self.requests.append((list(messages), tools if tool_choice["type"] == "auto" else None))
        call = SimpleNamespace(type="tool_use", id=f"c{len(self.requests)}", name="read", input={"path": "a.md"})
        text = SimpleNamespace(type="text", text="the answer")
        return SimpleNamespace(content=[call if tool_choice["type"] == "auto" else text])


@pytest.mark.parametrize(("name", "client"), [("loop-openai", OpenAI), ("loop-anthropic", Anthropic)])
def test_a_hand_written_loop_is_stopped_retried_asked_and_answers(name, client):
    client = client()
    names = run(
        name,
        {
            "supervisor": Supervisor(),
            "client": client,
            "json": json,
            "prompt": "go",
            "schemas": ["read"],
            "read_file": lambda path: CONTENT,
        },
    )
    result = names["result"]
    assert (result.answer, result.ok, len(result.attempts)) == ("the answer", True, 2)
    assert [attempt.turns for attempt in result.attempts] == [18, 10]
    assert result.attempts[1].conclude_now.turn == 10
    assert len(client.requests) == 18 + 11
    last, tools = client.requests[-1]
    assert tools is None
    assert wording.CONCLUDE_REQUEST in json.dumps(last[-1], default=str)
    assert NOTICE in json.dumps(last, default=str)


class TextContent(BaseModel):
    type: str = "text"
    text: str


class CallToolResult(BaseModel):
    content: list[TextContent]
    isError: bool = False  # noqa: N815 - its name in the protocol


async def test_an_mcp_client_gets_the_notice_as_a_part_of_its_own():
    async def call_tool(name, arguments):
        return CallToolResult(content=[TextContent(text=CONTENT)])

    names = run("mcp", {"session": SimpleNamespace(call_tool=call_tool)})
    async with Supervisor().attempt() as attempt:
        results = [await names["call_tool"](attempt, "read", {"path": "a.md"}) for _ in range(10)]
    assert [part.text for part in results[0].content] == [CONTENT]
    assert [part.text for part in results[1].content] == [CONTENT, NOTICE]
    assert [part.text for part in results[9].content] == [NOTICE]
