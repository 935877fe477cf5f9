"""Spans of turns, read back from the SDK's exporter in memory."""

from __future__ import annotations

import asyncio
import itertools
import json
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from agent_magics.errors import ModelError
from agent_magics.events import Retrying, TurnStarted
from agent_magics.messages import Assistant, Usage
from agent_magics.policy import Answer, Policy, Rule
from agent_magics.tools.delegating import Delegation, delegate_tool
from agent_magics.tracing.setting import Tracing, Where, where_of
from agent_magics.tracing.spans import TurnTrace, opened
from agent_magics.tracing.writing import Told
from tests.environments import SOURCES
from tests.turns import Scene, Spy, call, calls

DONE = Assistant("Done.", usage=Usage(100, 10, 40, 3, 1))
LOOK = calls(call("look", n=1))


class Memory:
    """A tracer provider whose spans can be read, and the turns it watches."""

    def __init__(self, *, content=False, where=None):
        self.exporter = InMemorySpanExporter()
        provider = TracerProvider()
        provider.add_span_processor(SimpleSpanProcessor(self.exporter))
        names = ("SpanKind", "Status", "StatusCode", "set_span_in_context")
        api = SimpleNamespace(
            get_tracer=provider.get_tracer, **{name: getattr(trace, name) for name in names}
        )
        ticks = itertools.count(1_000_000_000, 1_000_000_000)

        def redact(text):
            return text.replace("S3CRET", "[redacted]")

        where = where or Where("openai", "host", 443)
        self.told = Told(api, where, "s1", content, redact, lambda: next(ticks))

    def ask(self, scene: Scene, **changes):
        watch = TurnTrace(self.told)
        turn = replace(scene.turn(), **changes)
        try:
            return asyncio.run(
                scene.session.ask("Look S3CRET.", turn, scene.log, observers=[watch.observe])
            )
        finally:
            watch.close()

    def spans(self):
        return sorted(self.exporter.get_finished_spans(), key=lambda span: span.start_time)


def parent_of(span, spans):
    return next(
        (s.name for s in spans if span.parent and s.context.span_id == span.parent.span_id), ""
    )


def test_a_turn_is_an_agent_span_with_its_requests_and_calls_below():
    memory = Memory()
    memory.ask(Scene([LOOK, DONE], [Spy().tool]))
    spans = memory.spans()
    assert [(s.name, s.kind.name, parent_of(s, spans)) for s in spans] == [
        ("invoke_agent agent_magics", "INTERNAL", ""),
        ("chat scripted", "CLIENT", "invoke_agent agent_magics"),
        ("execute_tool look", "INTERNAL", "invoke_agent agent_magics"),
        ("chat scripted", "CLIENT", "invoke_agent agent_magics"),
    ]
    agent, first, tool, second = spans
    assert dict(agent.attributes) == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "agent_magics",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "scripted",
        "gen_ai.conversation.id": "s1",
        "server.address": "host",
        "server.port": 443,
        "agent_magics.ended": "answered",
        "agent_magics.requests": 2,
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 10,
        "gen_ai.usage.cache_read.input_tokens": 40,
        "gen_ai.usage.reasoning.output_tokens": 3,
    }
    assert first.attributes["gen_ai.response.finish_reasons"] == ("tool_call",)
    assert first.attributes["gen_ai.response.time_to_first_chunk"] > 0
    assert dict(tool.attributes) == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.provider.name": "openai",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.call.id": "c1",
        "gen_ai.tool.type": "function",
        "agent_magics.decision": "allow",
        "agent_magics.decided_by": "policy",
        "agent_magics.outcome": "done",
    }
    assert second.attributes["gen_ai.usage.input_tokens"] == 100
    assert second.attributes["gen_ai.response.finish_reasons"] == ("stop",)
    # One after the other, and all within the turn.
    assert first.end_time <= tool.start_time < tool.end_time <= second.start_time
    assert second.end_time <= agent.end_time


def test_texts_stand_in_spans_only_where_they_are_wanted_and_without_secrets():
    for content in (False, True):
        memory = Memory(content=content)
        memory.ask(Scene([LOOK, DONE], [Spy(answer=lambda _: "S3CRET").tool]))
        every = json.dumps([dict(span.attributes) for span in memory.spans()], default=str)
        assert "S3CRET" not in every
        assert ("Look [redacted]." in every) is content
        assert ("Done." in every) is content
    agent, _, tool, chat = memory.spans()
    assert json.loads(agent.attributes["gen_ai.input.messages"]) == [
        {"role": "user", "parts": [{"type": "text", "content": "Look [redacted]."}]}
    ]
    assert json.loads(chat.attributes["gen_ai.output.messages"]) == [
        {
            "role": "assistant",
            "parts": [{"type": "text", "content": "Done."}],
            "finish_reason": "stop",
        }
    ]
    assert tool.attributes["gen_ai.tool.call.arguments"] == '{"n": 1}'
    assert tool.attributes["gen_ai.tool.call.result"] == "[redacted]"


def test_an_approval_is_two_moments_and_how_long_it_took():
    memory = Memory()
    scene = Scene([LOOK, DONE], [Spy(effect="run").tool], answers=[Answer(True, "typed")])
    memory.ask(scene)
    agent, _, tool, _ = memory.spans()
    assert [(e.name, dict(e.attributes)) for e in agent.events] == [
        ("agent_magics.approval_asked", {"tool": "look", "call": "c1"}),
        (
            "agent_magics.approval_given",
            {"call": "c1", "allowed": True, "by": "typed", "edited": False},
        ),
    ]
    assert tool.attributes["agent_magics.decision"] == "approved"
    assert tool.attributes["agent_magics.decided_by"] == "typed"
    assert tool.attributes["agent_magics.approval_seconds"] > 0


@pytest.mark.parametrize(
    ("spy", "policy", "outcome", "kind"),
    [
        (Spy(answer=lambda _: 1 / 0), Policy(), "failed", "tool_error"),
        (Spy(effect="run"), Policy(), "refused", "refused"),
        (Spy(), Policy((Rule("look", "deny", "1"),)), "denied", "denied"),
    ],
)
def test_a_call_that_failed_or_did_not_run_is_an_error(spy, policy, outcome, kind):
    memory = Memory()
    memory.ask(Scene([LOOK, DONE], [spy.tool], policy=policy))
    tool = memory.spans()[2]
    assert (tool.attributes["agent_magics.outcome"], tool.attributes["error.type"]) == (
        outcome,
        kind,
    )
    assert tool.status.status_code.name == "ERROR"


def test_a_call_of_a_tool_that_is_not_there_is_an_error_too():
    memory = Memory()
    memory.ask(Scene([calls(call("gone" * 100)), DONE]))
    tool = memory.spans()[2]
    assert tool.attributes["error.type"] == "invalid"
    assert tool.name == f"execute_tool {'gone' * 16}"


def test_a_turn_without_an_answer_is_an_error_of_turn_and_request():
    memory = Memory()
    with pytest.raises(ModelError):
        memory.ask(Scene([ModelError("down")]))
    agent, chat = memory.spans()
    assert (agent.attributes["error.type"], chat.attributes["error.type"]) == (
        "model_error",
        "model_error",
    )
    assert agent.attributes["agent_magics.ended"] == "failed"


def test_retries_are_moments_of_their_request():
    class Flaky:
        name = "flaky"

        async def stream(self, _request):
            yield Retrying("busy", 2.0, 2, 5)
            yield DONE

    memory = Memory()
    memory.ask(Scene([]), model=Flaky())
    _, chat = memory.spans()
    (retry,) = chat.events
    assert (retry.name, dict(retry.attributes)) == (
        "agent_magics.retry",
        {"attempt": 2, "seconds": 2.0},
    )


def test_an_interrupted_turn_leaves_no_span_open():
    async def scenario(memory):
        working = asyncio.Event()

        async def run(_arguments, _report):
            working.set()
            await asyncio.Event().wait()

        scene = Scene([LOOK, DONE], [replace(Spy().tool, run=run)])
        watch = TurnTrace(memory.told)
        task = asyncio.ensure_future(
            scene.session.ask("Go.", scene.turn(), scene.log, observers=[watch.observe])
        )
        await working.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        watch.close()

    memory = Memory()
    asyncio.run(scenario(memory))
    agent, _chat, tool = memory.spans()
    assert agent.attributes["error.type"] == tool.attributes["error.type"] == "interrupted"


def test_a_sub_agents_turn_stands_below_the_call_that_delegated():
    memory = Memory()
    delegation = Delegation()
    delegate = delegate_tool(None, delegation)  # type: ignore[arg-type]
    replies = [calls(call("delegate", task="look")), LOOK, Assistant("Seen."), DONE]
    scene = Scene(replies, [Spy().tool, delegate])
    watch = TurnTrace(memory.told)
    delegation.turn, delegation.watch = scene.turn(), watch.inner
    asyncio.run(scene.session.ask("Go.", delegation.turn, scene.log, observers=[watch.observe]))
    spans = memory.spans()
    named = [(span.name.split()[0], parent_of(span, spans).split(" ")[0]) for span in spans]
    assert named == [
        ("invoke_agent", ""),
        ("chat", "invoke_agent"),
        ("execute_tool", "invoke_agent"),
        ("invoke_agent", "execute_tool"),
        ("chat", "invoke_agent"),
        ("execute_tool", "invoke_agent"),
        ("chat", "invoke_agent"),
        ("chat", "invoke_agent"),
    ]


def test_a_broken_exporter_costs_the_trace_and_not_the_turn():
    class Broken(SimpleSpanProcessor):
        def on_end(self, span):
            raise RuntimeError("full")

    memory = Memory()
    provider = TracerProvider()
    provider.add_span_processor(Broken(memory.exporter))
    memory.told.api.get_tracer = provider.get_tracer
    assert memory.ask(Scene([LOOK, DONE], [Spy().tool])).text == "Done."


def test_where_nobody_records_nothing_more_is_made():
    made = []

    class Nobody:
        def start_span(self, name, **_facts):
            made.append(name)
            return trace.INVALID_SPAN

    memory = Memory()
    memory.told.api.get_tracer = lambda _name: Nobody()
    memory.ask(Scene([LOOK, DONE], [Spy().tool]))
    assert made == ["invoke_agent agent_magics"]


@pytest.mark.parametrize(
    ("endpoint", "where"),
    [
        ("https://api.openai.com/v1", Where("openai", "api.openai.com", 443)),
        ("https://me.openai.azure.com/x", Where("azure.ai.openai", "me.openai.azure.com", 443)),
        ("https://api.anthropic.com", Where("anthropic", "api.anthropic.com", 443)),
        ("https://notanthropic.com", Where("openai", "notanthropic.com", 443)),
        ("http://localhost:11434/v1", Where("openai", "localhost", 11434)),
        ("a recording in the package", Where()),
        ("http://[", Where()),
        ("http://h:99999999", Where()),
    ],
)
def test_an_endpoint_says_who_answers(endpoint, where):
    assert where_of(endpoint) == where


def test_off_is_off():
    assert opened(Tracing("off"), Where(), "s", str, print) is None


CHILD = """
import sys
MISSING = {missing!r}
if MISSING:
    sys.modules["opentelemetry"] = None
else:
    from opentelemetry import trace
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor, ConsoleSpanExporter
    provider = TracerProvider()
    line = lambda span: f"{{span.name}}|{{span.parent is not None}}\\n"
    provider.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(formatter=line)))
    trace.set_tracer_provider(provider)
from IPython.core.interactiveshell import InteractiveShell
import agent_magics
shell = InteractiveShell()
agent_magics.load_ipython_extension(shell)
shell.run_line_magic("agent", "model demonstration")
if MISSING:
    shell.run_line_magic("config", "AgentMagics.tracing = 'on'")
    shell.run_cell_magic("agent", "--max-turns 1", "hello")
else:
    with trace.get_tracer("mine").start_as_current_span("my work"):
        shell.run_cell_magic("agent", "--max-turns 1", "hello")
print("opentelemetry" in sys.modules)
"""


def child(tmp_path, missing):
    words = [sys.executable, "-c", CHILD.format(missing=missing)]
    variables = {
        "HOME": str(tmp_path),
        "AGENT_MAGICS_DATA": str(tmp_path / "data"),
        "AGENT_MAGICS_CONFIG": str(tmp_path / "config.yaml"),
        "AGENT_MAGICS_LOCAL_SERVERS": "0",
        "PYTHONPATH": str(SOURCES),
        "PATH": "/usr/bin:/bin",
    }
    done = subprocess.run(
        words, capture_output=True, text=True, env=variables, cwd=tmp_path, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_persons_own_tracer_provider_gets_the_spans_below_their_own(tmp_path):
    said = child(tmp_path, missing=False)
    assert "invoke_agent agent_magics|True" in said
    assert "chat " in said
    assert "my work|False" in said


def test_tracing_that_is_on_without_the_package_says_how_to_get_it(tmp_path):
    said = " ".join(child(tmp_path, missing=True).replace("┃", "").split())
    assert "OpenTelemetry is not installed: %pip install agent_magics[tracing]" in said


def test_a_sub_agent_without_a_watcher_is_not_watched():
    delegation = Delegation()
    with delegation.watch() as observe:
        observe(TurnStarted("x", "m"))
