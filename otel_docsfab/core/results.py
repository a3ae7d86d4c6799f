"""The text form under which results compare: what the model gets, before any notice.

==========================  ==================================================
result                      text form
==========================  ==================================================
``str``, ``bytes``          as it is
JSON-like values            compact JSON, keys in their order (None is ``null``)
pydantic models             compact JSON of ``model_dump(mode="json")``
dataclasses                 compact JSON of their fields
anything else               none: the read is unjudged, never unchanged (R29)
==========================  ==================================================

Generators, streams and open files are never consumed.
"""

from __future__ import annotations

import dataclasses
import json

from otel_docsfab.core.identity import NotJson, canonical_json


def result_form(value: object) -> str | bytes | None:
    """The text form of a result, or None when it has none.

    Args:
        value: What the tool returned.

    Returns:
        Text or bytes to take the digest of.

    Source: SPEC section 1 (result identity), R29.
    """
    if isinstance(value, (str, bytes)):
        return value
    if isinstance(value, (bytearray, memoryview)):
        return bytes(value)
    try:
        plain = _plain(value)
        canonical_json(plain)  # refuses what JSON lacks; its own text would hide another order of keys
        return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
    except Exception:  # noqa: BLE001 - a foreign object's own methods may raise anything; then it is unknown
        return None


def _plain(value: object) -> object:
    if isinstance(value, (dict, list, tuple, int, float)) or value is None:
        return _plain_items(value)
    dump = getattr(type(value), "model_dump", None)
    if dump is not None:
        return dump(value, mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    raise NotJson(f"a {type(value).__name__}")


def _plain_items(value: object) -> object:
    """Models and dataclasses may stand in a list, as content parts do."""
    if isinstance(value, (list, tuple)):
        return [item if isinstance(item, str) else _plain(item) for item in value]
    return value
