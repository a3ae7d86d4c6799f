"""One tool call in a run: admitted or denied, then judged, and what the model gets of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from opentelemetry import trace

from otel_docsfab.core import DeliverResult, Verdict, wording
from otel_docsfab.errors import AttemptStopped
from otel_docsfab.gate import render
from otel_docsfab.gate.span import tool_span, write_denial, write_verdict
from otel_docsfab.supervisor import Admission

if TYPE_CHECKING:
    from otel_docsfab.gate.hooks._run import Run


class Shape(Protocol):
    """How a runtime's tool result takes a notice; ``otel_docsfab.gate.render`` is one."""

    def with_notice(self, result: Any, notice: str) -> Any:
        """The result and the notice, the notice as a part of its own."""

    def notice_only(self, result: Any, notice: str) -> Any:
        """The notice instead of the result."""


class Call:
    """One tool call of a run.

    Attributes:
        denial: What the model gets instead of a result when the call must not run; else None.
    """

    __slots__ = ("_admission", "_call_id", "_run", "_span", "_tool", "denial")

    def __init__(self, run: Run, tool: str, call_id: str | None, admission: Admission) -> None:
        """Made by ``Run.start``."""
        self._run = run
        self._tool = tool
        self._call_id = call_id
        self._admission = admission
        self._span: Any = None
        denied = admission.denied
        self.denial = wording.denial(tool, denied.reason) if denied is not None and run.attempt.enforced else None

    @contextmanager
    def running(self) -> Iterator[None]:
        """While the tool runs: its span is here, and what it starts belongs to the attempt."""
        if not self._run.attempt.watched:
            yield
            return
        with tool_span(self._run.attempt, self._tool) as self._span:
            if self.denial is not None:
                write_denial(self._span, self._admission)
            yield

    def on_current_span(self) -> None:
        """Write the verdict on the tool's span that is current here, for runtimes without a place around the tool."""
        with self._run.guarded():
            span = trace.get_current_span()
            attributes = getattr(span, "attributes", None) or {}
            if attributes.get("gen_ai.operation.name") == "execute_tool":
                self._span = span
                if self.denial is not None:
                    write_denial(span, self._admission)

    def deliver(
        self,
        result: Any,
        *,
        ok: bool = True,
        judged: Callable[[], Any] | None = None,
        shape: Any = render,
        can_withhold: bool = True,
    ) -> Any:
        """The call returned.

        Args:
            result: What the runtime is about to give to the model.
            ok: Whether the call succeeded.
            judged: Gives what the model gets of it, when that is not the result itself.
            shape: A ``Shape``.
            can_withhold: Whether the runtime lets this result be replaced; else it gets the notice beside it.

        Returns:
            The result, with its notice, or the notice alone; the result itself when anything goes wrong.
        """
        given = result
        with self._run.guarded():
            content = result if judged is None or not ok else judged()
            verdict = self._run.attempt.finish_call(self._admission, content, ok=ok)
            if verdict is not None:
                given = self._shaped(result, verdict, shape, can_withhold=can_withhold)
        return given

    def _shaped(self, result: Any, verdict: DeliverResult, shape: Shape, *, can_withhold: bool) -> Any:
        run = self._run
        if self._span is not None:
            write_verdict(self._span, verdict)
        enforced = run.attempt.enforced
        withheld = enforced and run.withholds and can_withhold and verdict.verdict is Verdict.NOTICE_ONLY
        run.delivered(self._call_id, verdict, in_full=not withheld)
        if not enforced or verdict.verdict is Verdict.DELIVER or verdict.first_turn is None:
            return result
        notice = wording.notice(verdict.tool, verdict.subject, verdict.first_turn)
        return shape.notice_only(result, notice) if withheld else shape.with_notice(result, notice)

    def failed(self) -> None:
        """The call failed, was cancelled, or never ran."""
        self.deliver(None, ok=False)

    def stopped_inside(self, stop: AttemptStopped) -> str:
        """The call failed because an agent that it ran was stopped: that ends the sub-agent's attempt, not this one.

        Returns:
            What the model gets.

        Raises:
            AttemptStopped: The stop is this attempt's own, or nothing is enforced here.
        """
        self.failed()
        if self._run.attempt.machine.stop is not None or not self._run.attempt.enforced:
            raise stop
        return stopped_text(self._tool, stop)


def stopped_text(tool: str, stop: AttemptStopped) -> str:
    """What a model is told of a sub-agent that was stopped."""
    return f"{wording.NOTICE_MARK} {tool} was stopped. {stop.message}"
