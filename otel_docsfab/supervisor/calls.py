"""From a runtime's call to the machine's words: class, identity, subject."""

from __future__ import annotations

from typing import NamedTuple

from otel_docsfab.core import DeliverResult, DenyCall, ToolClass, Toolset, Unjudged
from otel_docsfab.core.identity import NotJson, arguments_digest, parse_arguments, subject_of

_NEUTRAL = ToolClass.NEUTRAL
_NOT_CAPTURED = Unjudged.ARGUMENTS_NOT_CAPTURED
_NOT_JSON = Unjudged.ARGUMENTS_NOT_JSON


class Described(NamedTuple):
    """A call in the machine's words.

    Attributes:
        tool_class: Read, progress or neutral.
        digest: Of the canonical arguments that belong to the identity; None when unknown or not needed.
        subject: Path-like argument, for messages.
        reason: Why the digest is unknown.
    """

    tool_class: ToolClass
    digest: bytes | None
    subject: str
    reason: Unjudged


class Admission(NamedTuple):
    """What became of a call that wanted to run.

    Attributes:
        key: Key of the call in the machine; None when nobody watches it.
        tool: Tool name.
        subject: Path-like argument.
        denied: The denial; the tool must then not run and no result is reported.
    """

    key: int | None
    tool: str
    subject: str = ""
    denied: DenyCall | None = None


UNWATCHED = Admission(None, "")
"""Admission of a call that nobody judges: it runs and its result is delivered as it is."""


def describe(
    toolset: Toolset,
    tool: str,
    arguments: object,
    *,
    digest: bytes | None = None,
    reason: Unjudged | None = None,
) -> Described:
    """Class a call and take its arguments' digest.

    Args:
        toolset: Classes the call.
        tool: Tool name.
        arguments: JSON-like value or argument text; None when unknown.
        digest: The arguments' digest when telemetry carries it instead of the arguments.
        reason: Why the arguments are unknown, when the driver knows.

    Returns:
        The call in the machine's words. Neutral calls get no digest: they are judged by their status alone (R29).
    """
    value = arguments
    if isinstance(arguments, (str, bytes)):
        try:
            text = arguments if isinstance(arguments, str) else arguments.decode()
            value = parse_arguments(text)
        except (NotJson, UnicodeDecodeError):
            value = arguments
    classified = toolset.classify(tool, value)
    tool_class = classified.tool_class
    unknown = reason or _NOT_CAPTURED
    if tool_class is _NEUTRAL:
        return Described(_NEUTRAL, None, "", unknown)
    subject = subject_of(value)
    if digest is None and arguments is not None and reason is None:
        digest = arguments_digest(arguments if classified.arguments is value else classified.arguments)
        unknown = _NOT_JSON
    return Described(tool_class, digest, subject, unknown)


Judged = DeliverResult | DenyCall
