"""What is tried of each framework; the modules under ``agents`` import frameworks, so this is said here."""

from typing import NamedTuple

_CAPTURE = (("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "SPAN_ONLY"),)


class Variant(NamedTuple):
    """One instrumentation, or one mode of it.

    Attributes:
        framework: Name of the framework, and of the module under ``agents``.
        name: Name of the variant.
        environment: Variables that turn content on.
        has_model_spans: Whether model requests have spans; without, parallel calls that happen to run one after another
            are turns of their own.
    """

    framework: str
    name: str
    environment: tuple[tuple[str, str], ...] = ()
    has_model_spans: bool = True

    def __str__(self) -> str:
        """``framework/name``."""
        return f"{self.framework}/{self.name}"


VARIANTS = (
    Variant("pydantic_ai", "native"),
    Variant("openai_agents", "openinference"),
    Variant("openai_agents", "genai", _CAPTURE, has_model_spans=False),
    Variant("langgraph", "openinference"),
    Variant("langgraph", "genai", _CAPTURE, has_model_spans=False),
    Variant("google_adk", "native", _CAPTURE),
    Variant("strands", "events"),
    Variant("strands", "attributes", (("OTEL_SEMCONV_STABILITY_OPT_IN", "gen_ai_latest_experimental"),)),
    Variant("smolagents", "openinference"),
)
