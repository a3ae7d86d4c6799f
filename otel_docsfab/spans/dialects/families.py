"""The dialects that come with the package, in the order in which they are asked."""

from __future__ import annotations

from typing import Final

from otel_docsfab.spans.dialects.adk import Adk
from otel_docsfab.spans.dialects.agent_framework import AgentFramework
from otel_docsfab.spans.dialects.agno import Agno
from otel_docsfab.spans.dialects.autogen import AutoGen
from otel_docsfab.spans.dialects.claude import ClaudeAgentSdk, ClaudeCode
from otel_docsfab.spans.dialects.crewai import CrewAi, CrewAiTraceloop
from otel_docsfab.spans.dialects.dspy import DsPy
from otel_docsfab.spans.dialects.family import Dialect
from otel_docsfab.spans.dialects.genai import GenAi
from otel_docsfab.spans.dialects.haystack import Haystack
from otel_docsfab.spans.dialects.langchain import LangChain, LangChainTraceloop
from otel_docsfab.spans.dialects.langsmith import LangSmith
from otel_docsfab.spans.dialects.llamaindex import LlamaIndex, LlamaIndexTraceloop
from otel_docsfab.spans.dialects.logfire import Logfire
from otel_docsfab.spans.dialects.mcp import Mcp
from otel_docsfab.spans.dialects.openai_agents import OpenAiAgents
from otel_docsfab.spans.dialects.openinference import OpenInference
from otel_docsfab.spans.dialects.semantic_kernel import SemanticKernel
from otel_docsfab.spans.dialects.smolagents import Smolagents
from otel_docsfab.spans.dialects.strands import Strands
from otel_docsfab.spans.dialects.traceloop import Traceloop

FAMILIES: Final[tuple[Dialect, ...]] = (
    Adk(),
    AgentFramework(),
    Agno(),
    AutoGen(),
    ClaudeAgentSdk(),
    ClaudeCode(),
    CrewAi(),
    CrewAiTraceloop(),
    DsPy(),
    LangChain(),
    LangChainTraceloop(),
    LlamaIndex(),
    LlamaIndexTraceloop(),
    Logfire(),
    OpenAiAgents(),
    SemanticKernel(),
    Smolagents(),
    Strands(),
    # the rest is also asked about scopes that nobody claims: conventions, in the order of the mapping rules
    LangSmith(),
    GenAi(),
    OpenInference(),
    Traceloop(),
    Mcp(),
    Haystack(),
)

FOREIGN_SCOPES: Final = frozenset(
    f"opentelemetry.instrumentation.{library}"
    for library in (
        *("aiohttp_client", "aiohttp_server", "asgi", "asyncio", "asyncpg", "boto3sqs", "botocore", "celery", "dbapi"),
        *("django", "elasticsearch", "falcon", "fastapi", "flask", "grpc", "httpx", "jinja2", "kafka", "mysql", "pika"),
        *("psycopg", "psycopg2", "pymongo", "pymysql", "redis", "requests", "sqlalchemy", "sqlite3", "starlette"),
        *("system_metrics", "threading", "tornado", "urllib", "urllib3", "wsgi"),
    )
)
"""Scopes of web, queue and database instrumentations: never an agent's, so nobody is asked about them."""
