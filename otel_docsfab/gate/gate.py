"""A gate around one tool: judge what it returns, tell, withhold, deny (R1 to R22)."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, ParamSpec, TypeVar, cast

from opentelemetry.trace import INVALID_SPAN

from otel_docsfab.core import Verdict, wording
from otel_docsfab.errors import AttemptStopped
from otel_docsfab.gate import render
from otel_docsfab.gate.span import ToolSpan, write_denial, write_verdict
from otel_docsfab.supervisor import UNWATCHED, Admission, Attempt, Site

P = ParamSpec("P")
R = TypeVar("R")


def gated(
    attempt: Attempt,
    function: Callable[P, R],
    *,
    tool: str | None = None,
    ok: Callable[[Any], bool] | None = None,
    call_id: Callable[..., str | None] | None = None,
) -> Callable[P, R]:
    """Put a tool behind an attempt.

    The wrapped tool runs unless the call is denied. Its result is judged by what it returns and delivered as
    ``otel_docsfab.gate.render`` says. A fault of ours lets the result through as it is.

    Args:
        attempt: The attempt its calls belong to.
        function: A sync or async callable; its parameters are the call's arguments, however they are passed.
        tool: Tool name; the callable's own name by default.
        ok: Tells from a result whether the call succeeded; a tool that raises, or an ``ok`` that does, means it failed.
        call_id: Tells the runtime's call id from the call's arguments, for evictions by id.

    Returns:
        A callable of the same kind and signature.

    Raises:
        AttemptStopped: From a call after a stop, when the attempt was opened with ``on_stop="raise"``.
    """
    gate = _Gate(attempt, function, tool or _name_of(function), ok, call_id)
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None)):  # noqa: B004 - not a test for callability

        @functools.wraps(function)
        async def call_async(*args: P.args, **kwargs: P.kwargs) -> Any:
            return await gate.call_async(args, kwargs)

        return cast("Callable[P, R]", call_async)

    @functools.wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> Any:
        return gate.call(args, kwargs)

    return cast("Callable[P, R]", call)


def _name_of(function: Callable[..., Any]) -> str:
    """The callable's own name, or that of what a ``functools.partial`` wraps; else the name of its class."""
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


class _Gate:
    """What a wrapped tool shares between its calls."""

    def __init__(
        self,
        attempt: Attempt,
        function: Callable[..., Any],
        tool: str,
        ok: Callable[[Any], bool] | None,
        call_id: Callable[..., str | None] | None,
    ) -> None:
        self._attempt = attempt
        self._function = function
        self._tool = tool
        self._ok = ok
        self._call_id = call_id
        try:
            self._signature: inspect.Signature | None = inspect.signature(function)
        except (TypeError, ValueError):
            self._signature = None
        parameters = self._signature.parameters.values() if self._signature is not None else ()
        self._positional = tuple(p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))
        attempt.gated.add(tool)

    def call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not self._attempt.watched:
            return self._function(*args, **kwargs)
        with ToolSpan(self._attempt, self._tool) as span:
            admission = self._start(args, kwargs)
            if self._attempt.enforced and admission.denied is not None:
                write_denial(span, admission)
                return self._deny(admission)
            try:
                result = self._function(*args, **kwargs)
            except BaseException:
                self._finish(admission, None, span, raised=True)
                raise
            if type(result) is not str and inspect.isawaitable(result):  # a plain function that hands out a coroutine
                return self._finish_later(admission, result, span)
            return self._finish(admission, result, span)

    async def call_async(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not self._attempt.watched:
            return await self._function(*args, **kwargs)
        with ToolSpan(self._attempt, self._tool) as span:
            admission = self._start(args, kwargs)
            if self._attempt.enforced and admission.denied is not None:
                write_denial(span, admission)
                return self._deny(admission)
            return await self._finish_later(admission, self._function(*args, **kwargs), span)

    async def _finish_later(self, admission: Admission, work: Awaitable[Any], span: Any) -> Any:
        try:
            result = await work
        except BaseException:
            self._finish(admission, None, span, raised=True)
            raise
        return self._finish(admission, result, span)

    def _start(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Admission:
        call_id = None
        if self._call_id is not None:
            try:
                call_id = self._call_id(*args, **kwargs)
            except Exception as error:  # noqa: BLE001 - the call is judged all the same
                self._fault(error, "The call_id of a gate raised.")
        try:
            return self._attempt.start_call(self._tool, self._arguments(args, kwargs), call_id=call_id, own_turn=True)
        except Exception as error:  # noqa: BLE001 - a fault here must not keep the tool from running
            self._fault(error)
            return UNWATCHED

    def _fault(self, error: Exception, hint: str = "") -> None:
        self._attempt.supervisor.faults.count(Site.GATE, error, hint)

    def _arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
        """The call's arguments by parameter name, so that ``f("a")`` and ``f(path="a")`` are one call."""
        if not args:
            return kwargs
        if len(args) <= len(self._positional):
            named = dict(zip(self._positional, args, strict=False))
            if named.keys().isdisjoint(kwargs):
                named.update(kwargs)
                return named
        if self._signature is not None:
            try:
                bound = self._signature.bind(*args, **kwargs).arguments
            except TypeError:
                return {"args": list(args), **kwargs}
            extra = next((p.name for p in self._signature.parameters.values() if p.kind is p.VAR_KEYWORD), None)
            more = bound.pop(extra, {}) if extra else {}
            return {**bound, **more}
        return {"args": list(args), **kwargs}

    def _deny(self, admission: Admission) -> Any:
        attempt = self._attempt
        stop = attempt.machine.stop
        if attempt.on_stop == "raise" and stop is not None:
            raise AttemptStopped(stop.code, stop.message)
        denied = admission.denied
        return wording.denial(self._tool, denied.reason) if denied is not None else ""

    def _finish(self, admission: Admission, result: Any, span: Any, *, raised: bool = False) -> Any:
        """Report the result and shape what the model gets."""
        try:
            effect = self._attempt.finish_call(admission, result, ok=not raised and self._succeeded(result))
            if effect is None:
                return result
            if span is not INVALID_SPAN:
                write_verdict(span, effect)
            if effect.first_turn is None or effect.verdict is Verdict.DELIVER or not self._attempt.enforced:
                return result
            notice = wording.notice(effect.tool, effect.subject, effect.first_turn)
            if effect.verdict is Verdict.NOTICE_ONLY:
                return render.notice_only(result, notice)
            return render.with_notice(result, notice)
        except Exception as error:  # noqa: BLE001 - a fault here must not cost the host its result
            self._fault(error)
            return result

    def _succeeded(self, result: Any) -> bool:
        """What the host's ``ok`` says; when it raises, the call is taken for failed, which changes no count."""
        if self._ok is None:
            return True
        try:
            return bool(self._ok(result))
        except Exception as error:  # noqa: BLE001 - the call must end all the same, or its turn would never
            self._fault(error, "The ok of a gate raised.")
            return False
