"""Semantic Kernel: the GenAI conventions from three scopes; tools are named ``plugin-function``."""

from __future__ import annotations

from otel_docsfab.spans.dialects.family import Family
from otel_docsfab.spans.dialects.genai import ARGUMENTS_KEY, RESULT_KEY
from otel_docsfab.spans.dialects.sources import Source


class SemanticKernel(Family):
    """Native spans of Semantic Kernel."""

    name = "semantic_kernel"
    scopes = frozenset(
        {
            "semantic_kernel.functions.kernel_function",
            "semantic_kernel.utils.telemetry.agent_diagnostics.decorators",
            "semantic_kernel.utils.telemetry.model_diagnostics.decorators",
            "semantic_kernel.connectors.ai.chat_completion_client_base",
        }
    )
    arguments = (Source(ARGUMENTS_KEY),)
    results = (Source(RESULT_KEY),)
