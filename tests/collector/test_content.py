"""Nothing that a tool was given or gave back, or that a model was told or said, leaves the agent."""

import itertools
import json
import re

import pytest
import requests
from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.exporter.otlp.proto.grpc._log_exporter import OTLPLogExporter
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Status, StatusCode

from tests.collector.sending import CAPTURES, CONTENT_KEYS, SDK_CAPTURES, digest, families, ids, made, recorded, send
from tests.services.collector import attributes
from tests.services.loopback import wait_until

pytestmark = pytest.mark.service

# What the scenario of every capture read, wrote and said; agent and tool names are no content.
SCENARIO = re.compile(
    r"alpha|beta|read things|\ba\.txt|missing\.txt|out\.txt|No such file|wrote 7|NOTICE|boom a|You are an agent"
)


def is_tool(attributes):
    return attributes.get("gen_ai.operation.name") == "execute_tool" or "TOOL" in str(
        attributes.get("openinference.span.kind")
    )


@pytest.mark.parametrize("capture", SDK_CAPTURES, ids=lambda path: path.stem)
def test_recorded_spans_arrive_whole_in_number_without_content_and_with_their_digests(chain, capture):
    numbers = itertools.count()
    digests = {}

    def plant(recorded):
        planted = {key: f"SECRET-{next(numbers)}" if families(key) else value for key, value in recorded.items()}
        if is_tool(recorded):
            number = str(next(numbers))
            digests[digest(number)] = digest(f"{number}00")
            planted |= {"docsfab.arguments.digest": digest(number), "docsfab.result.digest": digests[digest(number)]}
        return planted

    spans = recorded(capture, plant, lambda _: f"SECRET-{next(numbers)}")
    send(chain.agent.grpc, spans)
    arrived = chain.arrived(ids(spans))

    assert len(arrived) == len(spans)
    written = json.dumps(arrived)
    assert not re.findall(r".{60}SECRET.{20}", written)
    assert not SCENARIO.search(written)
    kept = [attributes(span) for span in arrived]
    assert digests == {
        found["docsfab.arguments.digest"]: found["docsfab.result.digest"]
        for found in kept
        if "docsfab.result.digest" in found
    }


def test_the_captures_hold_every_family_of_content_keys():
    assert len(SDK_CAPTURES) >= 30
    keys = set()
    for capture in SDK_CAPTURES:
        for line in capture.read_text().splitlines():
            span = json.loads(line)
            keys |= set(span["attributes"] or {}).union(*(event.get("attributes") or {} for event in span["events"]))
    assert set().union(*map(families, keys)) == set(CONTENT_KEYS)


def test_what_replay_needs_to_judge_is_still_there(chain):
    spans = recorded(CAPTURES / "pydantic_ai.jsonl", dict)
    send(chain.agent.grpc, spans)
    sent = {f"{span.context.span_id:016x}": span for span in spans}
    for span in chain.arrived(ids(spans)):
        before, after = sent[span["spanId"]].attributes, attributes(span)
        for key in (
            "gen_ai.operation.name",
            "gen_ai.tool.name",
            "gen_ai.tool.call.id",
            "gen_ai.conversation.id",
            "error.type",
        ):
            assert after.get(key) == before.get(key)
        assert span["status"].get("code", 0) == sent[span["spanId"]].status.status_code.value
        assert len(span.get("events", [])) == len(sent[span["spanId"]].events)


def test_a_key_nobody_thought_of_is_removed_wherever_it_stands(chain):
    trace = 0x5EC1
    secret = {
        "vendor.future.payload": "SECRET",
        "name": "SECRET",
        "kind": "SECRET",
        "gen_ai.tool.call.arguments": {"path": "SECRET"},
    }
    span = made(
        {**secret, "docsfab.turn": 3, "error.type": "SECRET in a sentence", "gen_ai.tool.name": "read"},
        trace=trace,
        resource=Resource(
            {
                "service.name": "host",
                "process.command_args": ["agent", "-p", "SECRET"],
                "process.command_line": "SECRET",
            }
        ),
        scope=InstrumentationScope("scope", attributes={"vendor.prompt": "SECRET"}),
        status=Status(StatusCode.ERROR, "SECRET"),
        events=[
            Event(
                "exception",
                {"exception.type": "OSError", "exception.message": "SECRET", "exception.stacktrace": "SECRET"},
            ),
            Event("exception", {"exception.type": "SECRET in a sentence", "error.type": "SECRET: text"}),
            Event("docsfab.output_started", {"kind": "answer"}),
            Event("reading the SECRET file", secret),
        ],
    )
    send(chain.agent.grpc, [span])
    (arrived,) = chain.arrived(ids([span]))

    assert "SECRET" not in json.dumps(arrived)
    assert attributes(arrived) == {"docsfab.turn": "3", "error.type": "_OTHER", "gen_ai.tool.name": "read"}
    assert attributes(arrived["_resource"]) == {"service.name": "host"}
    assert arrived["status"] == {"code": 2}
    assert [(event["name"], attributes(event)) for event in arrived["events"]] == [
        ("exception", {"exception.type": "OSError"}),
        ("exception", {"exception.type": "_OTHER", "error.type": "_OTHER"}),
        ("docsfab.output_started", {"kind": "answer"}),
        ("redacted", {}),
    ]


@pytest.mark.parametrize(
    ("scope", "name", "becomes"),
    [
        (
            "openinference.instrumentation.crewai._event_listener",
            "reader.Read SECRET. Then stop.execute",
            "reader.execute",
        ),
        ("opentelemetry.instrumentation.crewai.instrumentation", "Read SECRET.\nThen stop.task", "task"),
        ("opentelemetry.instrumentation.llamaindex", "FunctionTool.task", "FunctionTool.task"),
        ("any", "SECRET\nof two lines", "redacted"),
        ("any", "SECRET" * 30, "redacted"),
        ("any", "execute_tool read", "execute_tool read"),
    ],
)
def test_prompts_in_span_names_do_not_leave(chain, scope, name, becomes):
    span = made({"traceloop.entity.name": "reader"}, trace=0x9A3E, name=name, scope=InstrumentationScope(scope))
    send(chain.agent.grpc, [span])
    (arrived,) = chain.arrived(ids([span]))
    assert arrived["name"] == becomes


def test_log_records_keep_codes_and_lose_bodies(chain):
    provider = LoggerProvider(
        Resource({"service.name": "host", "process.command_line": "SECRET"}), shutdown_on_exit=False
    )
    provider.add_log_record_processor(
        SimpleLogRecordProcessor(OTLPLogExporter(endpoint=f"http://127.0.0.1:{chain.agent.grpc}", insecure=True))
    )
    provider.get_logger("scope").emit(
        LogRecord(
            event_name="docsfab.read_loop.stop",
            severity_number=SeverityNumber.WARN,
            body={"message": "SECRET", "parts": ["SECRET"]},
            attributes={
                "docsfab.stop.code": "planted-code",
                "prompt": "SECRET",
                "tool_input": "SECRET",
                "name": "SECRET",
            },
        )
    )
    provider.shutdown()

    wait_until(
        "the decision in the gateway's log",
        lambda: "docsfab.stop.code=planted-code" in chain.gateway.output.read_text(),
    )
    assert "SECRET" not in chain.gateway.output.read_text()


def test_a_command_line_agent_that_posts_json_is_stripped_as_well(chain):
    sent, names = set(), set()
    for line in (CAPTURES / "claude_code_cli_otlp.jsonl").read_text().splitlines():
        post = json.loads(line)
        path = post.pop("_path")
        for resource in post.get("resourceSpans", []):
            sent |= {(span["traceId"], span["spanId"]) for scope in resource["scopeSpans"] for span in scope["spans"]}
        for resource in post.get("resourceLogs", []):
            for scope in resource["scopeLogs"]:
                for log in scope["logRecords"]:
                    names |= {
                        entry["value"]["stringValue"] for entry in log["attributes"] if entry["key"] == "event.name"
                    }
        answer = requests.post(f"http://127.0.0.1:{chain.agent.http}{path}", json=post, timeout=30)
        assert answer.status_code == requests.codes.ok

    assert not SCENARIO.search(json.dumps(chain.arrived(sent)))
    assert names
    wait_until(
        "its log records in the gateway's log", lambda: all(name in chain.gateway.output.read_text() for name in names)
    )
    assert not SCENARIO.search(chain.gateway.output.read_text())


def test_a_batch_of_large_results_is_taken_before_it_is_stripped(chain):
    spans = [made({"gen_ai.tool.call.result": "SECRET" * 4000}, trace=0xB16) for _ in range(400)]
    send(chain.agent.grpc, spans, at_once=len(spans))
    assert "SECRET" not in json.dumps(chain.arrived(ids(spans)))


def test_ten_thousand_spans_of_a_real_provider_all_arrive_without_content(chain):

    provider = TracerProvider(shutdown_on_exit=False)
    exporter = OTLPSpanExporter(endpoint=f"http://127.0.0.1:{chain.agent.grpc}", insecure=True)
    provider.add_span_processor(BatchSpanProcessor(exporter, max_queue_size=20_000))
    tracer = provider.get_tracer("load")
    sent = {}
    for number in range(1000):
        with tracer.start_as_current_span(
            "invoke_agent reader", attributes={"gen_ai.operation.name": "invoke_agent"}
        ) as agent:
            sent[agent.context.span_id] = agent
            for _ in range(9):
                content = {"gen_ai.tool.call.arguments": "SECRET", "gen_ai.tool.call.result": "SECRET" * 50}
                ours = {"docsfab.result.digest": digest(str(number)), "docsfab.turn": number}
                with tracer.start_as_current_span("execute_tool read", attributes={**content, **ours}) as tool:
                    sent[tool.context.span_id] = tool
    provider.shutdown()

    arrived = chain.arrived(ids(sent.values()), patience_s=120)
    assert len(sent) == len(arrived) == 10_000
    assert "SECRET" not in json.dumps(arrived)
    kept = (attributes(span) for span in arrived)
    assert sum(found.get("docsfab.result.digest") == digest(found.get("docsfab.turn", "")) for found in kept) == 9_000
