"""Where arguments and results are, in order, and how they are read from there."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from otel_docsfab.spans.dialects.arguments import plain_arguments
from otel_docsfab.spans.dialects.values import ARGUMENTS, Content, Side, examine, parse_json, text_of
from otel_docsfab.spans.view import SpanView

JSON: Final = "application/json"


class Source(NamedTuple):
    """One place where arguments or a result may be.

    Attributes:
        key: Attribute key; of the event when there is one.
        unwrap: Opens the envelope; None for a value that is the content itself.
        mime: Attribute that must say JSON for the envelope to be opened; empty when it always is one.
        event: Span event to look in; empty for the span itself.
        plain: What is done to a value whose ``mime`` does not say JSON.
    """

    key: str
    unwrap: Callable[[Any], Content] | None = None
    mime: str = ""
    event: str = ""
    plain: Callable[[Any], Content] | None = None

    def find(self, view: SpanView) -> tuple[object, Mapping[str, Any]]:
        """The raw value and the attributes around it; the last event of that name wins, as a retry overwrites."""
        if not self.event:
            return view.attributes.get(self.key), view.attributes
        for event in reversed(view.events):
            if text_of(event.name) == self.event and event.attributes.get(self.key) is not None:
                return event.attributes.get(self.key), event.attributes
        return None, {}

    def open(self, value: object, around: Mapping[str, Any]) -> Content:
        """Take the value out of its envelope."""
        unwrap = self.unwrap
        if self.mime and text_of(around.get(self.mime)) != JSON:
            unwrap = self.plain
        return Content(value) if unwrap is None else unwrap(value)


def first_text(attributes: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    """The first of the keys that holds a text with something in it."""
    for key in keys:
        text = attributes.get(key)
        if text is not None and type(text) is not str:
            text = text_of(text)
        if text and text != "<not specified>":
            return text
    return None


def read_first(view: SpanView, sources: tuple[Source, ...], side: Side) -> Content:
    """The first place that holds whole content; else why the first one that holds anything does not."""
    limit = view.value_length_limit
    found: Content | None = None
    for source in sources:
        raw, around = source.find(view)
        if raw is None:
            continue
        content = examine(raw, side, limit)
        if around.get(f"{source.key}_truncated") is True:
            content = Content(None, side.cut)
        elif _is_masked(source.key, around):
            content = Content(None, side.redacted)
        if content.reason is None:
            content = source.open(content.value, around)
        if content.reason is None and side is ARGUMENTS and source.unwrap is None:
            content = plain_arguments(content.value)
        if content.reason is None:
            return content
        found = found or content
    return found or Content(None, side.not_captured)


def _is_masked(key: str, around: Mapping[str, Any]) -> bool:
    """Whether the collector's redaction processor says that it masked the value, or may have."""
    keys = text_of(around.get("redaction.masked.keys"))
    if keys is not None:
        return key in keys.split(",")
    return around.get("redaction.masked.count") is not None


def read_digest(value: object) -> bytes | None:
    """The digest of a ``docsfab.*.digest`` attribute.

    Returns:
        The 32 bytes of ``sha256:<hex>``; ``b"h"`` and the 32 bytes of ``hmac-sha256:<hex>``, so that keyed digests
        never equal plain ones; None for anything else.
    """
    text = None if value is None else text_of(value)
    if text is None:
        return None
    method, _, digest = text.partition(":")
    if method not in ("sha256", "hmac-sha256") or len(digest) != 64:  # noqa: PLR2004 - hex digits of SHA-256
        return None
    try:
        raw = bytes.fromhex(digest)
    except ValueError:
        return None
    if len(raw) != 32:  # noqa: PLR2004 - blanks are allowed in fromhex, not here
        return None
    return raw if method == "sha256" else b"h" + raw


def metadata_of(value: object) -> dict[str, Any]:
    """The object of a JSON metadata attribute; empty when there is none."""
    text = text_of(value)
    if text is None:
        return {}
    try:
        metadata = parse_json(text)
    except ValueError:
        return {}
    return metadata if isinstance(metadata, dict) else {}
