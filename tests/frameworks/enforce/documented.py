"""Runs the examples of ``docs/hooks.md``: ``python -m tests.frameworks.enforce.documented <runtime>``.

Each example stands behind a mark that says where it runs; the names that it takes for granted are made here.
"""

from __future__ import annotations

import re
import sys
from typing import Any

from otel_docsfab import Supervisor
from tests.frameworks.environments import ROOT

_EXAMPLE = re.compile(r"<!-- run: ([\w-]+) -->\n```python\n(.*?)```", re.DOTALL)


def examples() -> list[tuple[str, str]]:
    """Where each runs, and its code."""
    return _EXAMPLE.findall((ROOT / "docs" / "hooks.md").read_text())


def run(name: str, given: dict[str, Any]) -> dict[str, Any]:
    """Run the examples of this name one after the other; returns their names."""
    for where, code in examples():
        if where == name:
            exec(code, given)  # noqa: S102 - our own documentation
    return given


def given(runtime: str) -> dict[str, Any]:
    """What the examples of a runtime take for granted."""
    names: dict[str, Any] = {"supervisor": Supervisor(toolset="claude-code" if "claude" in runtime else None)}
    if runtime == "pydantic_ai":
        from pydantic_ai import Agent  # noqa: PLC0415 - each runtime is in an environment of its own
        from pydantic_ai.models.test import TestModel  # noqa: PLC0415 - as above

        return names | {"Agent": Agent, "model": TestModel(call_tools=[])}
    if runtime == "langchain":
        from langchain.agents import create_agent  # noqa: PLC0415 - as above
        from langchain_core.language_models import FakeListChatModel  # noqa: PLC0415 - as above

        return names | {"create_agent": create_agent, "model": FakeListChatModel(responses=["x"]), "tools": []}
    if runtime == "google_adk":
        from google.adk.agents import LlmAgent  # noqa: PLC0415 - as above
        from google.adk.runners import InMemoryRunner  # noqa: PLC0415 - as above

        return names | {"InMemoryRunner": InMemoryRunner, "agent": LlmAgent(name="agent", model="gemini-2.5-flash")}
    if runtime == "claude_agent_sdk":
        from claude_agent_sdk import ClaudeAgentOptions  # noqa: PLC0415 - as above

        return names | {"options": ClaudeAgentOptions()}
    return names


if __name__ == "__main__":
    run(sys.argv[1], given(sys.argv[1]))
    sys.stdout.write("done\n")
