"""The magics: read the line, call the session, print one line. State lives on the instance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any, cast

from IPython.core.display_functions import display
from IPython.core.error import UsageError
from IPython.core.magic import cell_magic, line_magic, magics_class, no_var_expand

from agent_magics.catalogue import catalogue
from agent_magics.errors import SkillError, UsageProblem
from agent_magics.findings import Findings
from agent_magics.frontends.shown_run import run_shown
from agent_magics.hooks.registry import HookRegistry
from agent_magics.magics import commands
from agent_magics.magics.activation import (
    Active,
    activated,
    current,
    loaded_line,
    no_second_skill,
    refreshed,
    skill_state,
    swap,
    visible_tools,
    without,
)
from agent_magics.magics.arguments import (
    CellOptions,
    HelpWanted,
    cell_options,
    cell_parser,
    parsed,
    rest_of,
    skills_parser,
    unuse_parser,
    use_parser,
    with_help,
)
from agent_magics.magics.auditing import Audit
from agent_magics.magics.cell import preview_cell, put_question, run_cell
from agent_magics.magics.mentions import attachments
from agent_magics.magics.panel import panel_view
from agent_magics.magics.preparing import Cell
from agent_magics.magics.quick_actions import chosen, joined, offers, taken
from agent_magics.magics.recording import stored_namesake
from agent_magics.magics.selection import selectable
from agent_magics.magics.services import ModelChoice, ModelSettings, Services
from agent_magics.magics.settings import AgentSettings
from agent_magics.magics.skills_commands import run_skills_command
from agent_magics.magics.skills_view import SkillsView, details_view, skill_row
from agent_magics.magics.small import small_here
from agent_magics.magics.trusting import Gatekeeper
from agent_magics.magics.views import View
from agent_magics.policy import Mode, Policy
from agent_magics.result import TurnResult
from agent_magics.session import Session
from agent_magics.skill import Skill
from agent_magics.tool import Tool
from agent_magics.tools.cells.surroundings import surroundings
from agent_magics.tracing.setting import Mode as TracingMode
from agent_magics.tracing.setting import Tracing


@magics_class
class AgentMagics(AgentSettings):
    """An agent in the notebook: `%skills`, `%use`, `%unuse`, `%agent`, `%%agent`."""

    def __init__(self, shell: Any, services: Callable[[AgentMagics], Services]) -> None:
        super().__init__(shell)
        self._shell = shell
        self.services = services(self)
        self.sessions: dict[str, Session] = {"default": Session()}
        self.session = self.sessions["default"]
        self.hooks = HookRegistry()
        self._model_from = ""
        self.loaded: object = None
        """What the extension put in place beside the magics, for its own unloading."""

    # ---- the magics

    @cell_magic("agent")  # type: ignore[arg-type]  # typed as taking Never
    @no_var_expand
    @with_help(cell_parser)
    def agent_cell(self, line: str, cell: str) -> View | None:
        """Ask the agent; the cell's body is the prompt."""
        try:
            options = cell_options(line)
        except HelpWanted as wanted:
            print(wanted)
            return None
        if not cell.strip() and options.action is None:
            raise UsageError("%%agent: the cell's body is the prompt, and it is empty")
        session = self._session(options)
        if options.new:
            self.forget(session)
        active, prompt = self._with_action(self._active(session, options), options, cell)
        # Of what the person wrote; the prompt of a quick action is its skill's.
        mentions = attachments(cell, self.namespace(), self.services.workspace.redact)
        if not (options.quiet or self.quiet):
            for told in mentions.lines:
                print(told)
        # Asked once: it may have to ask a server for its models.
        choose = cache(lambda: self.choice(options.model))
        asked = Cell(
            prompt=prompt,
            session=session,
            active=active,
            policy=self.policy(session, options.mode),
            limits=self.limits(options.max_turns, options.budget),
            placement=self.skill_placement,
            selection=self.skill_selection,
            window=self.context_window,
            quiet=options.quiet or self.quiet,
            save=self.save_sessions,
            threshold=self.tool_threshold,
            active_displays=self.skill_displays == "active",
            attachments=(
                *surroundings(self.context, self.services.workspace, self.services.notebook),
                *mentions.attached,
            ),
            hooks=self.hooks.all(),
            tracing=Tracing(cast("TracingMode", self.tracing), self.trace_content),
            small=small_here(self.small, choose),
        )
        if options.preview:
            return preview_cell(asked, self.services)
        try:
            judge = self.choice(self.judge) if self.judge else None
            run_cell(asked, self.services, choose(), self.stage_settings(), judge)
        finally:
            if options.out and session.last is not None:
                self._shell.user_ns[options.out] = session.last
        return None

    @line_magic("agent")  # type: ignore[arg-type]  # typed as taking Never
    @no_var_expand
    def agent_line(self, line: str) -> View | TurnResult | Findings | Audit | None:
        """Show what is in force, or run a command; `%agent help` lists them.

        To ask the agent something, start a cell with `%%agent`.
        """
        if not line.strip():
            return panel_view(self)
        words = "help" if line.strip() in ("-h", "--help") else line
        result = commands.run_command(self, words)
        return _shown(result) if isinstance(result, str) else result

    @line_magic("skills")  # type: ignore[arg-type]  # typed as taking Never
    @no_var_expand
    @with_help(skills_parser)
    def skills_line(self, line: str) -> SkillsView | View | None:
        """List the skills on disk, read afresh."""
        try:
            words = parsed(skills_parser(), line)
        except HelpWanted as wanted:
            print(wanted)
            return None
        done = run_skills_command(words, self.services)
        if done is not None:
            return _shown(done)
        entries = self.services.library.entries()
        if words.name:
            skill = self._known(words.name)
            entry = next(e for e in entries if e.skill.root == skill.root)
            return details_view(entry, skill_state(entry, self.session, self.services))
        rows = tuple(
            skill_row(entry, skill_state(entry, self.session, self.services)) for entry in entries
        )
        notes = [*self.services.configuration().problems]
        if self.skill_selection != "user":
            offered = selectable(self.services, current(self.session))
            notes.extend(note for note in catalogue(offered)[1:] if note)
        return SkillsView(rows, tuple(notes))

    @line_magic("use")  # type: ignore[arg-type]  # typed as taking Never
    @no_var_expand
    @with_help(use_parser)
    def use_line(self, line: str) -> None:
        """Load a skill; the one before is taken out unless `--add` is given."""
        try:
            words = parsed(use_parser(), line)
        except HelpWanted as wanted:
            print(wanted)
            return
        if self.skill_selection == "model":
            raise UsageProblem(
                "The model chooses the skills (skill_selection = 'model'); to choose yourself as "
                "well: %config AgentMagics.skill_selection = 'both'"
            )
        if not words.name:
            raise UsageError("%use needs a skill's name; %skills lists them")
        arguments = rest_of(line, words.name)
        no_second_skill(words.name, arguments, self.services.library)
        state = self._activated(words.name, arguments, words.add, current(self.session))
        visible = self._visible(state, self.policy())
        if not visible:
            raise SkillError(f"Skill {words.name} would leave no tool at all; nothing was changed.")
        swap(self.session, state)
        print(loaded_line(state.skills[-1].skill, visible))
        if len(state.skills) > 1:
            names = ", ".join(item.skill.name for item in state.skills)
            print(f"Active: {names}; tools: {', '.join(tool.name for tool in visible)}")

    @line_magic("unuse")  # type: ignore[arg-type]  # typed as taking Never
    @no_var_expand
    @with_help(unuse_parser)
    def unuse_line(self, line: str) -> None:
        """Take the active skill out, or all of them."""
        try:
            words = parsed(unuse_parser(), line)
        except HelpWanted as wanted:
            print(wanted)
            return
        before = current(self.session)
        if not before.skills:
            print("No skill is active; the default tools are in force.")
            return
        after = without(words.name, before) if words.name else Active()
        gone = [a.skill.name for a in before.skills if a not in after.skills]
        swap(self.session, after)
        rest = ", ".join(a.skill.name for a in after.skills)
        restored = f"Still active: {rest}." if rest else "The default tools are restored."
        print(f"Unloaded skill {', '.join(gone)}. {restored}")

    # ---- what the commands and the panel read

    def choice(self, model: str | None = None) -> ModelChoice:
        """The model that would answer now."""
        if model:
            name, source = model, "this cell's --model"
        else:
            name, source = self.model, self._model_from
        profile = tuple(sorted(self.profile.items()))
        settings = ModelSettings(
            name,
            self.base_url,
            source,
            self.idle_timeout,
            profile,
            self.replay_tools,
            self.replay_strict,
        )
        return self.services.choose(settings)

    def use_model(self, name: str) -> None:
        """Ask this model from now on."""
        self.model, self._model_from = name, "%agent model"

    def run_here(self, code: str) -> bool:
        """Run code as a cell of the person's; whether it ran to its end."""
        return run_shown(self._shell, code)

    def show(self, view: object) -> None:
        """Show a value now, before the command ends."""
        display(view)

    def next_cell(self, text: str) -> None:
        """Put a text where the person writes next, if the front end can."""
        self._shell.set_next_input(text)

    def namespace(self) -> Mapping[str, object]:
        """The person's variables."""
        return self.services.stage.names()

    def forget(self, session: Session) -> None:
        """Forget a conversation, and what was read in it: the next model has read nothing."""
        self.services.records.release(session)
        session.reset()
        self.services.workspace.forget()

    def use_mode(self, mode: Mode) -> None:
        """Treat calls that no rule speaks about in this way from now on."""
        self.mode = mode

    def policy(self, session: Session | None = None, mode: Mode | None = None) -> Policy:
        """The rules in force, this session's and those of the configuration files, and the mode."""
        config = self.services.configuration()
        rules = (session or self.session).policy
        for source in ("user", "project"):
            rules = rules.replacing(source, [r for r in config.rules if r.source == source])
        chosen: Mode = mode or (cast("Mode", self.mode) if self.mode else config.mode)
        return replace(rules, mode=chosen)

    @property
    def saves(self) -> bool:
        """Whether conversations are saved."""
        return bool(self.save_sessions)

    def all_tools(self) -> tuple[Tool, ...]:
        """Every tool a rule can be about now: built-in, of MCP servers and active skills."""
        return (*self.services.builtins(), *self._foreign(), *self.session.bundled)

    def visible(self) -> tuple[Tool, ...]:
        """The tools that the next `%%agent` cell would have."""
        return self._visible(current(self.session), self.policy())

    # ---- parts of the magics

    def _session(self, options: CellOptions) -> Session:
        if options.session is None:
            return self.session
        name = options.session
        if name not in self.sessions and (known := stored_namesake(self.services, name)):
            print(known)
        return self.sessions.setdefault(name, Session(name, self.session.policy))

    def _active(self, session: Session, options: CellOptions) -> Active:
        """The skills of this cell, as they are on the disk now; what changed is said."""
        if options.skill:
            return self._activated(options.skill, "", False, Active())
        active, news = refreshed(current(session), self.services, self._gate())
        for line in news:
            print(line)
        swap(session, active)
        return active

    def _with_action(self, active: Active, options: CellOptions, cell: str) -> tuple[Active, str]:
        """The skills and the prompt of a cell; a quick action's skill comes with it."""
        if options.action is None:
            return active, cell
        within = active.skills[-1].skill.name if options.skill else ""
        offer = chosen(options.action, offers(self.services, active), within)
        if not offer.active:
            active = self._activated(offer.skill.name, "", False, Active())
        action = taken(offer, active)
        if not (options.quiet or self.quiet or options.preview):
            print(f"{offer.name}: {action.prompt}")  # the cell's own text does not say it
        return active, joined(action.prompt, cell)

    def _activated(self, name: str, arguments: str, add: bool, before: Active) -> Active:
        return activated(
            name,
            services=self.services,
            before=before,
            gate=self._gate(),
            arguments=arguments,
            add=add,
        )

    def _gate(self) -> Gatekeeper:
        settings = self.stage_settings()
        return Gatekeeper(
            self.services.trust,
            self.skill_code,
            lambda question: put_question(question, self.services, settings),
        )

    def _visible(self, active: Active, policy: Policy) -> tuple[Tool, ...]:
        config = self.services.configuration()
        redactor = self.services.workspace.redactor
        tools = (*self.services.builtins(), *self._foreign())
        return visible_tools(tools, active, config, policy, redactor)

    def _foreign(self) -> tuple[Tool, ...]:
        """The tools of the MCP servers that run."""
        return self.services.mcp.tools(lambda: None)

    def _known(self, name: str) -> Skill:
        """The skill of this name, a broken one included, since `%skills NAME` explains it."""
        for entry in self.services.library.entries():
            if entry.skill.name == name and entry.shadowed_by is None:
                return entry.skill
        return self.services.library.find(name)


def _shown(result: View | str) -> View | None:
    if isinstance(result, str):
        print(result)
        return None
    return result
