"""`%agent mcp`: the MCP servers of this kernel, their tools, prompts, resources and logs.

Owns the words of the command. What runs, and who is trusted, `tools.mcp` and the composition root
know; a server's own texts are shown as texts.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from agent_magics.errors import UsageProblem
from agent_magics.magics.background import in_background
from agent_magics.magics.mcp_declaring import (
    declared_server,
    origin_of,
    remove,
    take,
    trust,
)
from agent_magics.magics.mcp_words import prompt_words
from agent_magics.magics.views import View, table_view
from agent_magics.plain import stripped, visible
from agent_magics.policy import CallFacts
from agent_magics.tools.mcp.specs import ServerSpec

if TYPE_CHECKING:
    from agent_magics.magics.services import Controls
    from agent_magics.tools.mcp.values import Reply

Said: TypeAlias = "View | str"
SUMMARY = 90
"""Characters of a description in a table."""


def mcp(magics: Controls, words: str) -> Said:
    """Show the servers, or do what the words say."""
    name, _, rest = words.partition(" ")
    if not name:
        return servers_view(magics)
    command = COMMANDS.get(name)
    if command is None:
        near = difflib.get_close_matches(name, COMMANDS, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise UsageProblem(f"%agent mcp has no {name!r}.{hint} There are: {', '.join(COMMANDS)}.")
    return command(magics, rest.strip())


def servers_view(magics: Controls) -> View:
    """All servers, and what is off about them."""
    servers = magics.services.mcp
    declared = servers.sources.declared()
    rows = []
    for spec in declared.specs:
        state = servers.state(spec.name)
        word = "disabled" if spec.name in declared.disabled else state.word
        said = f"{word}: {state.detail}" if state.detail and word != "disabled" else word
        if word == "running":
            said = f"running ({state.about})"
        rows.append((spec.name, said, _policies(magics, spec), spec.where, origin_of(spec)))
    notes = list(declared.problems)
    if declared.untrusted is not None:
        names = ", ".join(spec.name for spec in declared.untrusted.specs)
        notes.append(f"Not trusted: {names}, of this project. %agent mcp trust shows them.")
    if not rows:
        notes.append(
            "No MCP server is declared. Put them under mcp_servers in "
            f"{magics.services.config_file}, or: %agent mcp import FILE"
        )
    elif not any(servers.state(spec.name).word == "running" for spec in declared.specs):
        notes.append("Servers start with the first %%agent cell, or now: %agent mcp start")
    return table_view("MCP servers", ("server", "state", "tools", "where", "from"), rows, notes)


def mcp_summary(magics: Controls) -> str:
    """The servers in short, for the panel; empty where none is declared."""
    servers = magics.services.mcp
    declared = servers.sources.declared()
    lines = []
    for spec in declared.enabled:
        state = servers.state(spec.name)
        tools = f", tools: {_policies(magics, spec)}" if state.tools else ""
        lines.append(f"{visible(spec.name)}: {state.word}{tools}")
    return "\n".join(lines)


def _policies(magics: Controls, spec: ServerSpec) -> str:
    """How many of a server's tools are allowed, asked about and denied."""
    policy = magics.policy()
    names = magics.services.mcp.names_of(spec.name).values()
    count = Counter(policy.judge(CallFacts(name, "mcp")).decision for name in names)
    return ", ".join(f"{count[word]} {word}" for word in ("allow", "ask", "deny") if count[word])


def start(magics: Controls, words: str) -> Said:
    """Start what is enabled."""
    if words:
        return restart(magics, words)
    lines: list[str] = []
    in_background(lambda: magics.services.mcp.ready(lambda line, wrong: lines.append(line)))
    view = servers_view(magics)
    return view if not lines else View("\n".join((*lines, view.text)), view.html)


def enable(magics: Controls, words: str) -> str:
    """Switch a server on."""
    spec = declared_server(magics, words)
    if spec.disabled:
        raise UsageProblem(f"{visible(spec.name)} is switched off where it is declared.")
    magics.services.mcp.sources.switch(spec.name, on=True)
    return f"{visible(spec.name)} is enabled: it starts with the next %%agent cell."


def disable(magics: Controls, words: str) -> str:
    """Switch a server off, and end it."""
    spec = declared_server(magics, words)
    magics.services.mcp.sources.switch(spec.name, on=False)
    in_background(lambda: magics.services.mcp.stop(spec.name))
    return f"{visible(spec.name)} is disabled, here and in later kernels."


def restart(magics: Controls, words: str) -> str:
    """End a server and start it again."""
    spec = declared_server(magics, words)
    state = in_background(lambda: magics.services.mcp.restart(spec.name))
    if state.word != "running":
        raise UsageProblem(
            f"{visible(spec.name)} is not there: {visible(state.detail or state.word)}. "
            f"%agent mcp log {visible(spec.name)} shows what it wrote."
        )
    return f"{visible(spec.name)} is running: {visible(state.about)}, {len(state.tools)} tools"


def log(magics: Controls, words: str) -> str:
    """The end of a server's log."""
    spec = declared_server(magics, words)
    file = magics.services.mcp.log(spec.name)
    # Its text is a stranger's, and may hold what the server was told.
    text = visible(magics.services.workspace.redact(file.tail())).rstrip()
    return f"{text or '(nothing was written)'}\n[{file.path}]"


def tools(magics: Controls, words: str) -> View:
    """The tools of a server, or of all that run."""
    servers = magics.services.mcp
    policy = magics.policy()
    chosen = [declared_server(magics, words)] if words else servers.sources.declared().specs
    rows = []
    for spec in chosen:
        names = servers.names_of(spec.name)
        for tool in servers.state(spec.name).tools:
            full = names.get(tool.name, tool.name)
            decision = policy.judge(CallFacts(full, "mcp")).decision
            said = _short(tool.description or tool.title)
            rows.append((full, decision, ", ".join(tool.hints), said))
    notes = ["What a server says of its own tools decides nothing; %agent allow TOOL does."]
    return table_view(
        "Tools of MCP servers",
        ("tool", "policy", "the server says", "description"),
        rows,
        notes if rows else ["No server runs that has tools. %agent mcp start"],
    )


def prompts(magics: Controls, words: str) -> View:
    """The prompts of a server, or of all that run."""
    rows = []
    for spec in _running(magics, words):
        for prompt in in_background(partial(magics.services.mcp.prompts, spec.name)):
            takes = " ".join(f"{n}=…" if needed else f"[{n}=…]" for n, needed in prompt.arguments)
            rows.append((spec.name, prompt.name, takes, _short(prompt.description)))
    return table_view(
        "Prompts of MCP servers",
        ("server", "prompt", "arguments", "description"),
        rows,
        ["%agent mcp prompt SERVER PROMPT [NAME=VALUE …] writes one into the next cell"],
    )


def prompt(magics: Controls, words: str) -> str:
    """Write a server's prompt into the next cell, where the person sees it before it is asked."""
    server, name, arguments = prompt_words(words)
    spec = declared_server(magics, server)
    if name not in [
        item.name for item in in_background(lambda: magics.services.mcp.prompts(spec.name))
    ]:
        raise UsageProblem(f"{visible(server)} has no prompt {name!r}; %agent mcp prompts")
    reply = in_background(lambda: magics.services.mcp.prompt(spec.name, name, arguments))
    text = _prompt_text(reply)
    if not text:
        raise UsageProblem(f"The prompt {name!r} of {visible(server)} holds no text.")
    magics.next_cell(f"%%agent\n{text}")
    return f"The prompt is in the next cell. It was written by {visible(server)}: read it first."


def _prompt_text(reply: Reply) -> str:
    """Only its texts; whatever hides in them is left out, since the cell must show all of it."""
    texts = [part.text for part in reply.parts if part.kind == "text"]
    return stripped("\n\n".join(texts)).strip()


def resources(magics: Controls, words: str) -> View:
    """The resources of a server, or of all that run."""
    rows = []
    for spec in _running(magics, words):
        for item in in_background(partial(magics.services.mcp.resources, spec.name)):
            kind = "template" if item.template else item.media_type
            rows.append((spec.name, item.uri, kind, _short(item.description or item.name)))
    return table_view(
        "Resources of MCP servers",
        ("server", "uri", "kind", "description"),
        rows,
        ["The agent reads them with mcp_read_resource."],
    )


def _running(magics: Controls, words: str) -> list[ServerSpec]:
    servers = magics.services.mcp
    chosen = [declared_server(magics, words)] if words else list(servers.sources.declared().specs)
    running = [spec for spec in chosen if servers.state(spec.name).word == "running"]
    if not running:
        raise UsageProblem("No such MCP server runs now: %agent mcp start")
    return running


def _short(text: str) -> str:
    line = " ".join(stripped(text).split())
    return line if len(line) <= SUMMARY else f"{line[: SUMMARY - 1]}…"


COMMANDS: dict[str, Callable[[Controls, str], Said]] = {
    "start": start,
    "restart": restart,
    "enable": enable,
    "disable": disable,
    "tools": tools,
    "log": log,
    "prompts": prompts,
    "prompt": prompt,
    "resources": resources,
    "trust": trust,
    "import": take,
    "remove": remove,
}
"""A new one is one function and one line here."""
