"""What the loop needs of the outside world, as protocols; their contracts stand here.

Implementations live at the edges (`providers`, `frontends`) or beside the tests. Nothing here
is ever subclassed: an object with the right methods fits.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

from agent_magics.events import (
    AnswerRestarted,
    CallDelta,
    Event,
    Notice,
    Question,
    ReasoningDelta,
    Retrying,
    TextDelta,
)
from agent_magics.messages import JSON, Assistant, Conversation, Display, ToolCall, ToolResult
from agent_magics.namespace.changes import Changes
from agent_magics.policy import Answer, CallFacts, Verdict
from agent_magics.tool import Tool

T = TypeVar("T")

Purpose: TypeAlias = Literal["answer", "task", "summary", "review"]
"""The turn's answer, a sub-agent's, a shortened conversation, a judgement about a call."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a model.

    Args:
        system: The system prompt.
        conversation: Closed but for the last prompt or results.
        tools: What the model may call; sorted by name.
        tool_choice: `none` asks for an answer without calls.
        nudge: A line for this request only; it never enters the history.
        max_output: A limit on the answer in tokens; None: the server's own.
        options: Further settings of the provider (temperature …), by the wire's own names.
        purpose: What the answer is for; no server is told.
        words: Whether the tools are described in words, whatever the server could take.
    """

    system: str
    conversation: Conversation
    tools: tuple[Tool, ...] = ()
    tool_choice: Literal["auto", "none"] = "auto"
    nudge: str = ""
    max_output: int | None = None
    options: Mapping[str, JSON] = field(default_factory=dict)
    purpose: Purpose = "answer"
    words: bool = False


Streamed: TypeAlias = (
    TextDelta | ReasoningDelta | CallDelta | AnswerRestarted | Retrying | Notice | Assistant
)


class Model(Protocol):
    """A model behind some endpoint."""

    @property
    def name(self) -> str:
        """The model's name as it is asked for."""

    def stream(self, request: Request) -> AsyncIterator[Streamed]:
        """Ask once and stream the answer.

        Contract: yields exactly one `Assistant`, as the last item, with unique non-empty call
        ids within the message, known stop, and `arguments` that are the text of a JSON object
        (calls that cannot be read carry `problem`). Owns retries and reconnects, and says so with
        `Retrying` and `AnswerRestarted`. Raises only `ModelError` (and `CancelledError`).
        Cancelling it closes the connection at once.
        """


class Approver(Protocol):
    """Asks a person."""

    async def ask(self, question: Question) -> Answer:
        """The person's answer. Never raises but `CancelledError`; nobody there means refused."""


class Renderer(Protocol):
    """Shows what happens."""

    def show(self, event: Event) -> None:
        """Show one event. Never raises: a broken display must not break a turn."""


@dataclass(frozen=True, slots=True)
class CodeOutput:
    """What running code in the user's kernel brought.

    Args:
        ok: Whether it ran to its end.
        stdout: Printed text, stderr included, in order.
        value: The last value's text, empty if there was none.
        error: A short traceback, empty if there was none.
        displays: Figures, frames and the like, for the person.
        changes: What it did to the person's names.
        out_of_time: Whether it was stopped since its time was up.
    """

    ok: bool
    stdout: str = ""
    value: str = ""
    error: str = ""
    displays: tuple[Display, ...] = ()
    changes: Changes = ()
    out_of_time: bool = False


class Kernel(Protocol):
    """The user's live IPython."""

    async def run_code(self, code: str, seconds: float = 0) -> CodeOutput:
        """Run code in the user's namespace, on the main thread, through IPython.

        Args:
            code: A cell's worth.
            seconds: After which it is interrupted, as a person would do it; 0: never.
        """

    def names(self) -> Mapping[str, object]:
        """The user's variables, without IPython's own; to be called in a job of `on_main`."""

    async def on_main(self, job: Callable[[], T]) -> T:
        """Run a function on the main thread and give its result."""


@dataclass(frozen=True, slots=True)
class HookWord:
    """What one hook said.

    Args:
        hook: Who: `hook NAME`.
        decision: `ask` or `deny`, before a call; empty: it has no objection.
        reason: Why, for the person and the model.
        note: For the model.
        problem: How it failed, for the person; empty where it did not.
    """

    hook: str
    decision: Literal["", "ask", "deny"] = ""
    reason: str = ""
    note: str = ""
    problem: str = ""


class Hooks(Protocol):
    """The person's own checks around calls. Neither method raises but `CancelledError`."""

    async def before_call(
        self, call: ToolCall, facts: CallFacts, verdict: Verdict
    ) -> Sequence[HookWord]:
        """What the hooks say of a call that would run or be asked about; they cannot change it."""

    async def after_call(
        self, call: ToolCall, facts: CallFacts, result: ToolResult, seconds: float
    ) -> Sequence[HookWord]:
        """What they say of a call that ran."""


class Checker(Protocol):
    """Says what is wrong with arguments."""

    def __call__(self, schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
        """The problems in one text for the model, or the empty text."""


Clock: TypeAlias = Callable[[], float]
Sleep: TypeAlias = Callable[[float], Awaitable[None]]
