"""Toolsets by name, and from the tables of a settings file."""

from __future__ import annotations

from otel_docsfab.core import DOCSFAB_TOOLS, Toolset


def toolset_by_name(name: str, source: str = "code") -> Toolset:
    """The toolset of a profile's name; ``docsfab`` is the default one.

    Raises:
        ConfigError: There is no such profile, or its shell rules need a parser that is not installed.
    """
    return toolset_of(name, source)


def toolset_of(data: object, source: str) -> Toolset:
    """The toolset of a name or of a ``[toolset]`` table; profiles are imported when one is asked for.

    Args:
        data: A profile's name, or a table with a profile and rules before it.
        source: Who says so, for errors.

    Raises:
        ConfigError: Something in it is unknown; names it, its value and its source.
    """
    if data == "docsfab":
        return DOCSFAB_TOOLS
    from otel_docsfab.config.toolsets import from_data  # noqa: PLC0415 - the default needs none of it

    return from_data(data, source)
