"""Function tools of the OpenAI Agents SDK: copies whose calls are judged, and the items they give."""

# The framework is not there when this package is type-checked.
# mypy: disable-error-code="import-not-found,import-untyped,misc,no-any-return"

from __future__ import annotations

import copy
import functools
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

from agents import ToolOutputFileContent, ToolOutputImage, ToolOutputText

from otel_docsfab.errors import AttemptStopped
from otel_docsfab.gate.hooks._run import Run

_STRUCTURED: Final = (ToolOutputText, ToolOutputImage, ToolOutputFileContent)


def judged(tool: Any, run: Run) -> Any:
    """A copy of a tool whose calls are judged.

    The SDK turns what a tool raises into a text around the tool's own function; the hook stands inside of that, so
    that it sees failures as such.
    """
    copied = copy.copy(tool)
    invoker = copied.on_invoke_tool
    inner = getattr(invoker, "_invoke_tool_impl", None)
    if inner is None:
        copied.on_invoke_tool = _invoking(tool, invoker, run)
    else:
        invoker = copy.copy(invoker)
        invoker._invoke_tool_impl = _invoking(tool, inner, run)  # noqa: SLF001 - no other way to see a failure
        invoker._function_tool = copied  # noqa: SLF001 - it would look up the original's policy
        copied.on_invoke_tool = invoker
    return copied


def _invoking(tool: Any, function: Callable[[Any, str], Awaitable[Any]], run: Run) -> Callable[[Any, str], Any]:
    @functools.wraps(function)
    async def invoke(context: Any, arguments: str) -> Any:
        call = run.start(tool.name, arguments or "{}", getattr(context, "tool_call_id", None))
        with call.running():
            if call.denial is not None:
                return call.denial
            try:
                result = await function(context, arguments)
            except AttemptStopped as stop:
                return call.stopped_inside(stop)
            except BaseException:
                call.failed()
                raise
            return call.deliver(result, judged=functools.partial(_content, result), shape=_Shape)

    return invoke


def _structured(value: Any) -> bool:
    return isinstance(value, _STRUCTURED) or (
        isinstance(value, dict) and value.get("type") in ("text", "image", "file")
    )


def _content(result: Any) -> Any:
    """What the model gets of a result."""
    items = result if isinstance(result, (list, tuple)) else [result]
    return result if items and all(_structured(item) for item in items) else str(result)


class _Shape:
    """The notice is an output item of its own."""

    @staticmethod
    def with_notice(result: Any, notice: str) -> Any:
        content = _content(result)
        items = [ToolOutputText(text=content)] if isinstance(content, str) else content
        return [*(items if isinstance(items, (list, tuple)) else [items]), ToolOutputText(text=notice)]

    @staticmethod
    def notice_only(result: Any, notice: str) -> Any:  # noqa: ARG004 - a shape's signature
        return notice


def results(items: Any) -> Mapping[str, object]:
    """The tool results of a request, by call id."""
    if not isinstance(items, list):
        return {}
    return {
        item["call_id"]: repr(item.get("output"))
        for item in items
        if isinstance(item, Mapping) and item.get("type") == "function_call_output"
    }
