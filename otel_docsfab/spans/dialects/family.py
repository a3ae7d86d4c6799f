"""What all dialects share: a family says which keys hold what, in which order, and how to open its envelopes."""

from __future__ import annotations

from typing import Protocol

from otel_docsfab.core import Unjudged
from otel_docsfab.spans.attributes import ARGUMENTS_DIGEST, RESULT_DIGEST
from otel_docsfab.spans.dialects.failure import failed
from otel_docsfab.spans.dialects.kinds import role_by_attributes, tool_role
from otel_docsfab.spans.dialects.messages import read_response
from otel_docsfab.spans.dialects.sources import Source, first_text, read_digest, read_first
from otel_docsfab.spans.dialects.values import ARGUMENTS, RESULT, Content
from otel_docsfab.spans.observation import Observation, Role
from otel_docsfab.spans.view import SpanView


class Dialect(Protocol):
    """Reads the spans of one family of runtimes. Stateless; asked from any thread.

    Attributes:
        name: Name, unique in the registry.
        scopes: Instrumentation scopes whose spans are its own; other spans are offered to ``matches``.
    """

    name: str
    scopes: frozenset[str]

    def matches(self, view: SpanView) -> bool:
        """Whether a span of a scope that nobody claims is its own."""
        ...

    def role_at_start(self, view: SpanView) -> Role | None:
        """What the span stands for, as far as its start tells."""
        ...

    def start_tool(self, view: SpanView) -> tuple[str | None, str | None]:
        """Tool name and call id, as far as the start of a tool span tells."""
        ...

    def observe(self, view: SpanView) -> Observation | None:
        """Read an ended span; None when it stands for nothing."""
        ...


class Family:
    """A dialect as data; subclasses say what is different."""

    name: str = ""
    scopes: frozenset[str] = frozenset()
    marking_keys: frozenset[str] = frozenset()
    """Attributes that make a span of a scope that nobody claims the family's own."""
    marking_names: frozenset[str] = frozenset()
    """Span names that do."""
    span_names: tuple[tuple[str, Role], ...] = ()
    """Prefixes of span names that this runtime is known to use reliably."""
    tool_keys: tuple[str, ...] = ("gen_ai.tool.name", "tool.name", "traceloop.entity.name")
    call_id_keys: tuple[str, ...] = ("gen_ai.tool.call.id", "tool.id")
    agent_keys: tuple[str, ...] = ("gen_ai.agent.name", "agent.name", "agent_name")
    model_keys: tuple[str, ...] = (
        "gen_ai.request.model",
        "gen_ai.response.model",
        "llm.model_name",
        "model_name",
    )
    conversation_keys: tuple[str, ...] = (
        "gen_ai.conversation.id",
        "session.id",
        "langsmith.metadata.thread_id",
        "traceloop.association.properties.thread_id",
        "group_id",
    )
    arguments: tuple[Source, ...] = ()
    results: tuple[Source, ...] = ()
    name_affixes: tuple[str, ...] = ("execute_tool ", "invoke_agent ", ".run", ".tool", ".__call__")
    silence_is_failure: bool = False
    """Whether a call whose arguments are there and whose result is not was cancelled."""

    def matches(self, view: SpanView) -> bool:
        """By the marks of the family."""
        return view.name in self.marking_names or not self.marking_keys.isdisjoint(view.attributes)

    def role(self, view: SpanView) -> Role | None:
        """What the span stands for, before pseudo tools are told apart."""
        role = role_by_attributes(view.attributes)
        return role if role is not None else self.role_by_name(view.name)

    def role_by_name(self, name: str) -> Role | None:
        """What spans of this name stand for in this runtime."""
        for prefix, role in self.span_names:
            if name.startswith(prefix):
                return role
        return None

    def role_at_start(self, view: SpanView) -> Role | None:
        """The same from what is there at the start: attributes, else the name."""
        role = self.role(view)
        return tool_role(self.tool_name(view)) if role is Role.TOOL else role

    def start_tool(self, view: SpanView) -> tuple[str | None, str | None]:
        """Tool name and call id, as far as they are there."""
        return self.tool_name(view) or None, first_text(view.attributes, self.call_id_keys)

    def observe(self, view: SpanView) -> Observation | None:
        """Read an ended span."""
        role = self.role(view)
        if role is None:
            return None
        if role is Role.TOOL:
            return self.read_tool(view)
        if role is Role.AGENT:
            return self.read_agent(view)
        if role is Role.MODEL:
            return self.read_model(view)
        return Observation(role, self.name)

    def tool_name(self, view: SpanView) -> str:
        """The tool's name: the first key that has one, else the span's name without what runtimes add (rule 2)."""
        return first_text(view.attributes, self.tool_keys) or self.bare_name(view.name)

    def bare_name(self, name: str) -> str:
        """A span name without prefixes and suffixes."""
        for affix in self.name_affixes:
            name = name.removesuffix(affix) if affix.startswith(".") else name.removeprefix(affix)
        return name

    def read_tool(self, view: SpanView) -> Observation:
        """Read a tool call."""
        tool = self.tool_name(view)
        role = tool_role(tool)
        if role is Role.IGNORED:
            return Observation(role, self.name)
        arguments_digest = read_digest(view.attributes.get(ARGUMENTS_DIGEST))
        result_digest = read_digest(view.attributes.get(RESULT_DIGEST))
        arguments, result = self.read_content(view)
        return Observation(
            role,
            self.name,
            tool=tool,
            call_id=first_text(view.attributes, self.call_id_keys) or result.call_id,
            arguments=arguments.value,
            arguments_reason=None if arguments_digest is not None else arguments.reason,
            arguments_digest=arguments_digest,
            result=result.value,
            result_reason=None if result_digest is not None else result.reason,
            result_digest=result_digest,
            ok=not (result.failed or failed(view) or self.was_cancelled(view, arguments, result)),
        )

    def read_content(self, view: SpanView) -> tuple[Content, Content]:
        """Arguments and result."""
        return read_first(view, self.arguments, ARGUMENTS), read_first(view, self.results, RESULT)

    def was_cancelled(self, view: SpanView, arguments: Content, result: Content) -> bool:
        """Whether a result that is not there means that the call never returned (mapping rule 6)."""
        return (
            self.silence_is_failure
            and not view.explicit_ok
            and arguments.reason is None
            and result.reason in (Unjudged.RESULT_NOT_CAPTURED, Unjudged.RESULT_PLACEHOLDER)
        )

    def read_agent(self, view: SpanView) -> Observation:
        """Read an agent span."""
        attributes = view.attributes
        return Observation(
            Role.AGENT,
            self.name,
            ok=not (view.error or attributes.get("error.type") is not None),
            agent_name=self.agent_name(view),
            model=first_text(attributes, self.model_keys),
            conversation=self.conversation(view),
        )

    def conversation(self, view: SpanView) -> str | None:
        """Identity across runs; never an MCP session, which differs per call (mapping rule 9)."""
        return first_text(view.attributes, self.conversation_keys)

    def agent_name(self, view: SpanView) -> str | None:
        """Name of the agent, from the attributes, else from the span's name when that was built of it."""
        name = first_text(view.attributes, self.agent_keys)
        if name is None:
            bare = self.bare_name(view.name)
            name = bare if bare != view.name else None
        return name or None

    def read_model(self, view: SpanView) -> Observation:
        """Read a model request."""
        response = read_response(view)
        return Observation(
            Role.MODEL,
            self.name,
            ok=not (view.error or view.attributes.get("error.type") is not None),
            model=first_text(view.attributes, self.model_keys),
            called_tools=response.called_tools,
            output_limited=response.output_limited,
        )
