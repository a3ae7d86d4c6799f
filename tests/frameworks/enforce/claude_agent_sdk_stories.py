"""The stories on the Claude Agent SDK: its program, and a stub of the Messages API. Run as a module in its environment.

The program's own tools read and write; their names, paths and line numbers are put into the stories' words.
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import claude_agent_sdk as sdk
from claude_agent_sdk import AgentDefinition, ClaudeAgentOptions, ClaudeSDKClient, HookMatcher, ResultMessage
from openinference.instrumentation.claude_agent_sdk import ClaudeAgentSDKInstrumentor
from opentelemetry.sdk.trace import TracerProvider

from otel_docsfab.gate.hooks import claude_agent_sdk as hooks
from tests.frameworks.enforce.claude_stub import Stub
from tests.frameworks.enforce.stories import LOOP, played, stories_of
from tests.frameworks.enforce.story import CONTENT, READ, Facts, Request, Stage, Turn, tell

ROOT = Path(tempfile.mkdtemp(prefix="docsfab_"))
for name, text in CONTENT.items():
    (ROOT / name).write_text(text)

_CONTEXT = re.compile(r"\n*<system-reminder>\n(.*?)\n?</system-reminder>", re.DOTALL)
_HOOK = re.compile(r"^(PostToolUse:\w+|PostToolBatch) hook additional context: ", re.DOTALL)
_LINE = re.compile(r"^ *\d+\t", re.MULTILINE)


def asked(name: str, arguments: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """A call of a story as the program's own."""
    if name == "read":
        return "Read", {"file_path": str(ROOT / arguments["path"])}
    if name == "edit":
        return "Write", {"file_path": str(ROOT / "out.txt"), "content": arguments["text"]}
    return name, arguments


def plain(text: str) -> str:
    text = text.removeprefix("PreToolUse:Read hook error: ")
    return _LINE.sub("", text).replace(f"{ROOT}/", "").replace("[docsfab] Read", "[docsfab] read")


def received(request: Request) -> Request:
    """Results as content and notice; the context of a batch stands among the user texts."""
    results: dict[str, list[str]] = {}
    users = [text for text in request.users if not text.startswith("<system-reminder>")]
    for key, parts in request.results.items():
        whole = "\n".join(parts)
        content = plain(_CONTEXT.sub("", whole).rstrip("\n"))
        notices = []
        for context in _CONTEXT.findall(whole):
            said = _HOOK.match(context)
            if said is None:
                continue
            text = plain(context[said.end() :])
            if said[1] == "PostToolBatch":
                users.append(text)
            else:
                notices.append(text)
        results[key] = [content, *notices]
    return Request([{"Read": "read", "Write": "edit"}.get(tool, tool) for tool in request.tools], results, users)


def stub_of(stage: Stage) -> Stub:
    stub = Stub()

    def respond(request: Request) -> tuple[Turn, list[str]] | None:
        turn = stage.script.next(received(request))
        return None if turn is None else ([asked(*call) for call in turn], stage.script.ids())

    stub.respond = respond
    return stub


class Driver:
    modes = ("async", "stream")

    def options(self, stage: Stage, stub: Stub, **more: Any) -> ClaudeAgentOptions:
        ran = stage.tools.ran

        async def count(given: Any, *_: Any) -> dict[str, Any]:
            name = {"Read": "read", "Write": "edit"}.get(given["tool_name"])
            if name is not None:
                ran[name] += 1
            return {}

        mine = {event: [HookMatcher(hooks=[count])] for event in ("PostToolUse", "PostToolUseFailure")}
        settings: dict[str, Any] = {
            "cwd": str(ROOT),
            "env": stub.environment,
            "tools": ["Read", "Write"],
            "allowed_tools": ["Read", "Write"],
            "permission_mode": "acceptEdits",
            "setting_sources": [],
            "max_turns": 60,
            "model": "claude-sonnet-4-5",
            "hooks": mine,
        }
        return ClaudeAgentOptions(**{**settings, **more})

    def docsfab(self, stage: Stage) -> Any:
        return hooks.Docsfab(stage.supervisor, withhold_without_compaction=True)

    def play(self, stage: Stage, mode: str, *, provider: TracerProvider | None = None, hooks: bool = True) -> str:
        instrumentor = ClaudeAgentSDKInstrumentor()
        if provider is not None:
            instrumentor.instrument(tracer_provider=provider)
        try:
            return self.run(stage, mode, self.docsfab(stage) if hooks else None)
        finally:
            if provider is not None:
                instrumentor.uninstrument()

    def run(self, stage: Stage, mode: str, docsfab: Any, **more: Any) -> str:
        async def go() -> str:
            options = self.options(stage, stub_of(stage), **more)
            if mode == "async":
                messages = sdk.query(prompt="go", options=options)
                if docsfab is not None:
                    messages = docsfab.query(prompt="go", options=options)
                return said([message async for message in messages])
            async with ClaudeSDKClient(docsfab.hooked(options)) as client:
                await client.query("go")
                return said([message async for message in client.receive_response()])

        return asyncio.run(asyncio.wait_for(go(), 200))

    def step(self, stage: Stage, mode: str, **options: Any) -> Any:
        given = self.options(stage, stub_of(stage))
        return asyncio.run(hooks.arun(self.docsfab(stage), "step", "go", given, **options))


def said(messages: list[Any]) -> str:
    return next((message.result or "" for message in reversed(messages) if isinstance(message, ResultMessage)), "")


driver = Driver()


def cautious() -> Facts:
    """As it comes, nothing is withheld."""
    stage = Stage(*LOOP[:12], toolset="claude-code")
    return played(stage, lambda: driver.run(stage, "async", hooks.Docsfab(stage.supervisor)))


def compaction() -> Facts:
    """The program says that it will compact; the hook is called as it calls it."""
    stage = Stage(*LOOP[:12], toolset="claude-code")
    docsfab = driver.docsfab(stage)
    original = docsfab._batch
    turns = iter(range(1, 100))

    def batch(given: dict[str, Any], key: Any) -> Any:
        answer = original(given, key)
        if next(turns) == 10:
            docsfab._HANDLERS["PreCompact"](docsfab, {"hook_event_name": "PreCompact"}, key)
        return answer

    docsfab._HANDLERS = docsfab._HANDLERS | {"PostToolBatch": lambda _, given, key: batch(given, key)}
    return played(stage, lambda: driver.run(stage, "async", docsfab))


def subagent(*reads: Turn) -> Facts:
    """The program's own sub-agent reads the same file."""
    task = ("Agent", {"description": "d", "prompt": "q", "subagent_type": "sub"})
    stage = Stage(READ, [task], READ, toolset="claude-code")
    inner = Stage(*reads)
    stub = stub_of(stage)
    outer = stub.respond

    def respond(request: Request) -> Any:
        if "Agent" in request.tools or "Task" in request.tools:
            return outer(request)
        turn = inner.script.next(received(request))
        return None if turn is None else ([asked(*call) for call in turn], [f"sub_{key}" for key in inner.script.ids()])

    stub.respond = respond

    async def go() -> str:
        options = driver.options(
            stage,
            stub,
            tools=["Read", "Task"],
            allowed_tools=["Read", "Task", "Agent"],
            agents={"sub": AgentDefinition(description="d", prompt="p", tools=["Read"])},
        )
        return said([message async for message in driver.docsfab(stage).query(prompt="go", options=options)])

    return played(stage, lambda: asyncio.run(go()))


def pending() -> Facts:
    """The ceiling falls in the middle of a turn: every call of it has its result all the same."""
    stage = Stage(READ * 4, toolset="claude-code", limits={"execution.toolCallCeiling": 2})
    returned: dict[str, str] = {}
    called: list[str] = []

    async def go() -> str:
        options = driver.options(stage, stub_of(stage))
        async for message in driver.docsfab(stage).query(prompt="go", options=options):
            for block in getattr(message, "content", None) or []:
                if type(block).__name__ == "ToolUseBlock":
                    called.append(block.id)
                elif type(block).__name__ == "ToolResultBlock":
                    returned[block.tool_use_id] = plain(str(block.content))
        return ""

    facts = played(stage, lambda: asyncio.run(go()))
    facts.more.update(called=called, returned=returned)
    return facts


def installed() -> Facts:
    """Options made after ``install`` have the hooks; made after its undoing, none."""
    stage = Stage(READ, READ, toolset="claude-code")
    undo = hooks.install(stage.supervisor)
    try:
        options = driver.options(stage, stub_of(stage))
    finally:
        undo()
    assert not any(hooks._is_ours(one) for one in driver.options(stage, Stub()).hooks["PostToolUse"])

    async def go() -> str:
        return said([message async for message in sdk.query(prompt="go", options=options)])

    return played(stage, lambda: asyncio.run(go()))


STORIES = stories_of(driver, toolset="claude-code") | {
    "cautious": cautious,
    "compaction": compaction,
    "subagent": lambda: subagent(READ, READ),
    "subagent-loops": lambda: subagent(*LOOP),
    "pending": pending,
    "installed": installed,
}

if __name__ == "__main__":
    for variable in list(os.environ):  # nothing of the caller's reaches the program
        if variable.startswith(("CLAUDE", "ANTHROPIC", "OTEL", "HTTP", "http", "ALL_PROXY")):
            del os.environ[variable]
    tell(STORIES, sys.argv[1:])
