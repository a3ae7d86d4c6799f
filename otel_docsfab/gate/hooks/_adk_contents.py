"""Requests and function responses of Google ADK."""

# The framework is not there when this package is type-checked.
# mypy: disable-error-code="import-not-found,import-untyped,misc,no-any-return"

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from google.genai import types

from otel_docsfab.gate.hooks._run import Run

ANSWERS: Final = frozenset({"set_model_response"})
"""Tools that hand in an answer: never judged, never withdrawn."""


def succeeded(tool: Any, result: Any) -> bool:
    detect = getattr(tool, "_detect_error_in_response", None)
    try:
        return detect is None or detect(result) is None
    except Exception:  # noqa: BLE001 - the tool's own test; what it fails on is no known failure
        return True


class Shape:
    """The notice is a member of the function response."""

    @staticmethod
    def with_notice(result: Any, notice: str) -> Any:
        return {**(result if isinstance(result, dict) else {"result": result}), "notice": notice}

    @staticmethod
    def notice_only(result: Any, notice: str) -> Any:  # noqa: ARG004 - a shape's signature
        return {"notice": notice}


def withdraw(request: Any, run: Run) -> None:
    """Leave no tool in the request but those that stay."""
    kept = []
    for tool in request.config.tools or []:
        declared = [
            one
            for one in getattr(tool, "function_declarations", None) or []
            if run.keeps(one.name) or one.name in ANSWERS
        ]
        if declared:
            kept.append(types.Tool(function_declarations=declared))
    request.config.tools = kept
    request.config.tool_config = None


def results(context: Any, contents: Any) -> Mapping[str, object]:
    """The tool results of a request, by call id.

    The request has lost the ids, the session has them: each result of the session is looked for in the request, the
    newest first.
    """
    here: Counter[tuple[str, str]] = Counter()
    for content in contents:
        for part in content.parts or []:
            if part.function_response is not None:
                here[_form(part.function_response)] += 1
    found: dict[str, object] = {}
    for event in reversed(context._invocation_context.session.events):  # noqa: SLF001 - the only way to them
        for response in reversed(event.get_function_responses()):
            form = _form(response)
            if here[form]:
                here[form] -= 1
                found[response.id] = form
    return found


def _form(response: Any) -> tuple[str, str]:
    return response.name or "", repr(response.response)
