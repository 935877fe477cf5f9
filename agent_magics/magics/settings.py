"""The settings of a kernel as traits: `%config AgentMagics` shows them, a profile can set them."""

from __future__ import annotations

from typing import cast

from IPython.core.magic import Magics
from traitlets import Bool, Dict, Enum, Float, Int, List, Unicode

from agent_magics.calls import Limits
from agent_magics.frontends.stage import Approvals, StageSettings
from agent_magics.magics.small import SETTINGS as SMALL
from agent_magics.policy import MODES
from agent_magics.tools.cells.surroundings import CONTEXTS


class AgentSettings(Magics):
    """What a person can set; the magics inherit it, since that is how IPython finds settings."""

    model = Unicode("", help="The model to ask; empty: found by itself, see %agent.").tag(
        config=True
    )
    base_url = Unicode("", help="An OpenAI-compatible endpoint; empty: found by itself.").tag(
        config=True
    )
    approvals = Enum(
        ["auto", "widgets", "prompt", "deny"],
        "auto",
        help="How approvals are asked: buttons, a typed prompt, never; auto finds out.",
    ).tag(config=True)
    frontend = Unicode(
        "", help="The front end of an installed plug-in that shows and asks; empty: our own."
    ).tag(config=True)
    mode = Enum(
        ["", *MODES],
        "",
        help="What happens to calls that no rule speaks about: ask, accept-edits, plan, auto "
        "(see %agent mode); empty: as your configuration says, else ask.",
    ).tag(config=True)
    judge = Unicode(
        "",
        help="A model that reviews calls before you are asked about them, and may allow or refuse "
        "them; empty: none.",
    ).tag(config=True)
    approval_timeout = Float(
        None,
        allow_none=True,
        help="Seconds after which an unanswered approval is a no; None: never.",
    ).tag(config=True)
    max_turns = Int(50, min=1, help="Requests to the model in one cell.").tag(config=True)
    budget = Int(0, min=0, help="Tokens that one cell may use; 0: no bound.").tag(config=True)
    max_seconds = Float(0, min=0, help="Seconds that one cell may take; 0: no bound.").tag(
        config=True
    )
    max_cost = Float(0, min=0, help="What one cell may cost, by `prices`; 0: no bound.").tag(
        config=True
    )
    prices = Dict(
        per_key_traits={"input": Float(), "output": Float(), "cached": Float()},
        help="Prices of a million tokens: input, output, cached (input that was cached).",
    ).tag(config=True)
    idle_timeout = Float(
        90, min=1, help="Seconds of silence in an answer after which it is asked for again."
    ).tag(config=True)
    profile = Dict(
        help="What the endpoint takes, where that is not found out; see providers.profiles."
    ).tag(config=True)
    context_window = Int(
        0, min=0, help="The model's context in tokens; 0: not known, the server's word counts."
    ).tag(config=True)
    small = Enum(
        list(SMALL),
        "auto",
        help="The profile for small models (short instructions and tools, a map of the workspace, "
        "an answer after a repeated call): auto (by the model's size), on, off.",
    ).tag(config=True)
    tool_threshold = Int(
        40,
        min=0,
        help="Tools that one request describes; the others are found with find_tools. 0: all.",
    ).tag(config=True)
    memory = Bool(False, help="Let the agent keep notes for later work; you approve each one.").tag(
        config=True
    )
    quiet = Bool(False, help="Show the answer and the questions only.").tag(config=True)
    times = Bool(True, help="Say in notebooks how long things took; off for stored ones.").tag(
        config=True
    )
    skill_paths = List(Unicode(), help="Further folders with skills, first wins.").tag(config=True)
    skill_code = Enum(
        ["ask", "never", "allow"],
        "ask",
        help="Project skills you have not trusted: ask before their text or code is used; allow: "
        "use them without asking; never: their code is not imported, trusted or not.",
    ).tag(config=True)
    skill_displays = Enum(
        ["inert", "active"],
        "inert",
        help="What tools of skills show: inert (pictures, tables, text; no script, no style), or "
        "active: as they made it. Your own code shows what it likes.",
    ).tag(config=True)
    skill_selection = Enum(
        ["user", "model", "both"],
        "user",
        help="Who chooses skills: you with %use, the model from a catalogue, or both.",
    ).tag(config=True)
    skill_placement = Enum(
        ["system", "message"],
        "system",
        help="Where a skill's text stands: in the system prompt, or in a message before yours.",
    ).tag(config=True)
    context = Enum(
        list(CONTEXTS),
        "error",
        help="What of the notebook goes with a prompt: none; error (the cell that failed right "
        "before); above (the cells above, short outputs); outline. See it with --preview.",
    ).tag(config=True)
    notebook = Unicode(
        "", help="The notebook's file, where the front end does not tell; empty: found by itself."
    ).tag(config=True)
    sandbox = Enum(
        ["", "off", "auto", "required"],
        "",
        help="Where shell commands run: off, auto (in a sandbox where one works), required; "
        "empty: as your config.yaml says, else off.",
    ).tag(config=True)
    sandbox_network = Bool(
        None,
        allow_none=True,
        help="Whether commands in a sandbox may use the network; None: as your config.yaml says, "
        "else not.",
    ).tag(config=True)
    save_sessions = Bool(
        True, help="Save conversations in your data folder, so that a new kernel can resume them."
    ).tag(config=True)
    session_days = Int(
        90, min=0, help="Days without a turn after which a saved session is removed; 0: never."
    ).tag(config=True)
    replay_tools = Enum(
        ["run", "recorded"],
        "run",
        help="Tools of a replay (model replay:FILE): run, or answered as they were recorded.",
    ).tag(config=True)
    replay_strict = Bool(
        False, help="End the cell with an error where a replay goes otherwise than recorded."
    ).tag(config=True)
    workspace = Unicode(
        "", help="The folder the agent works in; empty: the kernel's working folder."
    ).tag(config=True)

    tracing = Enum(
        ["auto", "on", "off"],
        "auto",
        help="OpenTelemetry spans of your cells: auto (where your program has loaded it), on, off. "
        "They go where your tracer provider sends them, else nowhere.",
    ).tag(config=True)
    trace_content = Bool(
        False, help="Put prompts, answers, arguments and results into the spans, too."
    ).tag(config=True)

    undo_megabytes = Int(
        500, min=0, help="Room for copies of changed files, for %agent undo; 0: none are made."
    ).tag(config=True)

    def limits(self, max_turns: int | None, budget: int | None) -> Limits:
        """The bounds of one cell; what the cell itself says goes before the settings.

        Args:
            max_turns: Requests to the model.
            budget: Tokens.
        """
        price = {"input": 0.0, "output": 0.0, "cached": self.prices.get("input", 0.0)}
        price |= self.prices
        return Limits(
            requests=max_turns or self.max_turns,
            tokens=budget or self.budget,
            seconds=self.max_seconds,
            cost=self.max_cost,
            prices=(price["input"], price["output"], price["cached"]),
        )

    def stage_settings(self) -> StageSettings:
        """How approvals are asked."""
        approvals = cast("Approvals", self.approvals)
        return StageSettings(
            approvals, self.approval_timeout, times=self.times, frontend=self.frontend
        )
