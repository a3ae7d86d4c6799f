"""The toolsets that come along, one module a runtime: names from its own sources, as data."""

from __future__ import annotations

from typing import Final

from otel_docsfab.config.names import did_you_mean
from otel_docsfab.config.toolsets.profiles.base import Profile
from otel_docsfab.config.toolsets.profiles.claude_code import CLAUDE_CODE
from otel_docsfab.config.toolsets.profiles.cline import CLINE, ROO
from otel_docsfab.config.toolsets.profiles.codex import CODEX
from otel_docsfab.config.toolsets.profiles.gemini_cli import GEMINI_CLI
from otel_docsfab.config.toolsets.profiles.generic import GENERIC
from otel_docsfab.config.toolsets.profiles.opencode import OPENCODE
from otel_docsfab.config.toolsets.profiles.openhands import OPENHANDS
from otel_docsfab.config.toolsets.profiles.swe_agent import SWE_AGENT
from otel_docsfab.config.toolsets.rules import progress, read
from otel_docsfab.core.tools import PROGRESS_TOOLS, READ_TOOLS
from otel_docsfab.errors import ConfigError

DOCSFAB: Final = Profile(
    "docsfab",
    "DocsFab's own tools (the default)",
    (progress(*sorted(PROGRESS_TOOLS)), read(*sorted(READ_TOOLS))),
)
PROFILES: Final[dict[str, Profile]] = {
    profile.name: profile
    for profile in (DOCSFAB, GENERIC, CLAUDE_CODE, GEMINI_CLI, CODEX, OPENCODE, OPENHANDS, SWE_AGENT, CLINE, ROO)
}


def find_profile(name: str, where: str = "toolset profile") -> Profile:
    """A profile by its name.

    Args:
        name: Such as ``claude-code``.
        where: What the error calls the setting.

    Raises:
        ConfigError: There is none of this name.
    """
    found = PROFILES.get(name)
    if found is None:
        raise ConfigError(
            f"{where} = {name[:80]!r} is unknown{did_you_mean(name, PROFILES)} (there are {', '.join(PROFILES)})"
        )
    return found
