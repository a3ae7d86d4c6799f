"""Runs the demo's story: a scripted agent with real spans, behind a gate or only watched."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from opentelemetry.trace import Span, Tracer

from otel_docsfab.cli.demo_story import Call, Scene, Tools, Turn
from otel_docsfab.core import StepKind
from otel_docsfab.supervisor import Attempt, Supervisor

AGENT = "docs-agent"
MODEL = "scripted-model"
GATED = ("read", "grep")
"""Behind the gate; ``edit`` is seen by the span processor alone and resets the counts all the same."""

ToolRunner = Callable[[Call], object]


class DemoAgent:
    """The scripted agent: a loop as a hand-written one has it, with spans of the GenAI conventions."""

    def __init__(self, tracer: Tracer, tools: Tools, tell: Callable[[str], None]) -> None:
        """Use this tracer and these tools.

        Args:
            tracer: Makes the spans.
            tools: What the agent can do.
            tell: Shows a remark.
        """
        self._tracer = tracer
        self._tools = tools.by_name()
        self._tell = tell

    def enforced(self, supervisor: Supervisor, scene: Scene, run_id: str) -> None:
        """Run a scene behind the gate; the supervisor ends and retries it."""

        def run_attempt(attempt: Attempt) -> str | None:
            if attempt.retry_prompt:
                self._tell(f"the retry's prompt says: {attempt.retry_prompt}")
            gated = {name: attempt.gate(self._tools[name], tool=name) for name in GATED}

            def run_tool(call: Call) -> object:
                if call.tool in gated:
                    return gated[call.tool](**call.arguments)
                return self._spanned(call)

            with self._agent_span({}) as span:
                turns = scene.attempts[min(attempt.ref.number, len(scene.attempts)) - 1]
                return self._turns(turns, span, run_tool)

        supervisor.run_step(scene.step, run_attempt, run_id=run_id, agent_name=AGENT, model=MODEL)

    def observed(self, supervisor: Supervisor, scene: Scene, run_id: str) -> None:
        """Run a scene as it is; the span processor only watches it."""
        step = supervisor.settings.resolve(scene.step).step
        for number, turns in enumerate(scene.attempts, 1):
            facts: dict[str, Any] = {
                "docsfab.run.id": run_id,
                "docsfab.step.id": scene.step,
                "docsfab.step.kind": str(step.kind or StepKind.READ_ONLY),
                "docsfab.attempt.number": number,
            }
            if number > 1:
                facts["docsfab.attempt.retry_of"] = "no-progress"
            with self._agent_span(facts) as span:
                self._turns(turns, span, self._spanned)

    @contextmanager
    def _agent_span(self, facts: dict[str, Any]) -> Iterator[Span]:
        attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": AGENT, **facts}
        with self._tracer.start_as_current_span(
            f"invoke_agent {AGENT}", attributes=attributes, record_exception=False
        ) as span:
            yield span

    def _turns(self, turns: tuple[Turn, ...], span: Span, run_tool: ToolRunner) -> str | None:
        for turn in turns:
            if turn.compaction:
                span.add_event("docsfab.compaction")
                self._tell("the host compacts the context")
            self._ask_model(turn)
            if turn.remark:
                self._tell(turn.remark)
            if turn.answer is not None:
                return turn.answer
            for call in turn.calls:
                run_tool(call)
        return None

    def _ask_model(self, turn: Turn) -> None:
        finish = "stop" if turn.answer is not None else "tool_calls"
        attributes = {"gen_ai.operation.name": "chat", "gen_ai.request.model": MODEL}
        with self._tracer.start_as_current_span(f"chat {MODEL}", attributes=attributes) as span:
            span.set_attribute("gen_ai.response.finish_reasons", [finish])

    def _spanned(self, call: Call) -> object:
        """A tool call as an instrumented runtime makes it: its span carries arguments and result."""
        attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": call.tool}
        with self._tracer.start_as_current_span(f"execute_tool {call.tool}", attributes=attributes) as span:
            span.set_attribute("gen_ai.tool.call.arguments", json.dumps(call.arguments))
            result = self._tools[call.tool](**call.arguments)
            span.set_attribute("gen_ai.tool.call.result", result)
            return result
