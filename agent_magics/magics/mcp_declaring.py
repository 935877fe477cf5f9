"""`%agent mcp trust`, `import` and `remove`: which servers may be started at all.

Owns the question about a project's servers: everything that would run or be asked is on the card.
"""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import TYPE_CHECKING

from agent_magics.errors import UsageProblem
from agent_magics.events import Question
from agent_magics.magics.background import in_background
from agent_magics.magics.cell import put_question
from agent_magics.messages import Display, ToolCall
from agent_magics.plain import visible
from agent_magics.tools.mcp.declared import ProjectFile
from agent_magics.tools.mcp.specs import ServerSpec, shown

if TYPE_CHECKING:
    from agent_magics.magics.services import Controls

CALL = "trust_mcp"
"""The name under which the question stands in records."""


def trust(magics: Controls, words: str) -> str:
    """Show the servers of this project, and ask whether they may be started."""
    if words:
        raise UsageProblem("%agent mcp trust takes no words: it is about this project's file.")
    sources = magics.services.mcp.sources
    declared = sources.declared()
    file = declared.untrusted
    if file is None:
        why = "; ".join(declared.problems)
        raise UsageProblem(why or "There is no .mcp.json here that is not trusted yet.")
    answer = put_question(trust_question(file), magics.services, magics.stage_settings())
    if not answer.allowed:
        reason = f" ({visible(answer.reason)})" if answer.reason else ""
        return f"Not trusted{reason}; none of them is started."
    sources.trust(file)
    names = ", ".join(visible(spec.name) for spec in file.specs)
    return f"Trusted, exactly as it is now: {names}. They start with the next %%agent cell."


def trust_question(file: ProjectFile) -> Question:
    """The question, with everything that would be started or asked."""
    facts = {"file": str(file.path), "content": file.digest[:12]}
    preview = "\n\n".join(shown(spec) for spec in file.specs)
    return Question(
        ToolCall("trust", CALL, json.dumps(facts)),
        f"the MCP servers of {visible(file.path.name)}, exactly as it is now",
        (Display("text", f"{preview}\n\ncontent hash: {file.digest[:12]}"),),
        reason="they come with this project; starting them runs programs with your rights. The "
        "programs themselves are not part of the hash",
        origin="this project",
        outside=True,
        heading="Trust these?",
        editable=False,
    )


def take(magics: Controls, words: str) -> str:
    """Copy the servers of a JSON file into the person's own."""
    if not words:
        raise UsageProblem("%agent mcp import needs a JSON file with mcpServers.")
    path = Path(words.strip("\"'")).expanduser()
    specs = magics.services.mcp.sources.take(path)
    lines = [f"  {visible(spec.name)}: {spec.where}" for spec in specs]
    return "\n".join(
        ("Imported; they start with the next %%agent cell:", *lines)
        if lines
        else ("The file names no server.",)
    )


def remove(magics: Controls, words: str) -> str:
    """Take an imported server back."""
    spec = declared_server(magics, words)
    if not magics.services.mcp.sources.drop(spec.name):
        raise UsageProblem(
            f"{visible(spec.name)} was not imported; it is declared in: {origin_of(spec)}."
        )
    in_background(lambda: magics.services.mcp.stop(spec.name))
    return f"{visible(spec.name)} is removed."


def declared_server(magics: Controls, words: str) -> ServerSpec:
    """The server that is meant.

    Raises:
        UsageProblem: No server has this name.
    """
    specs = {spec.name: spec for spec in magics.services.mcp.sources.declared().specs}
    if words in specs:
        return specs[words]
    names = ", ".join(visible(name) for name in specs) or "none"
    if not words:
        raise UsageProblem(f"Which server? There are: {names}.")
    near = difflib.get_close_matches(words, specs, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise UsageProblem(f"There is no MCP server {words!r}.{hint} There are: {names}.")


def origin_of(spec: ServerSpec) -> str:
    """Who declares a server, for the person."""
    return {"user": "your configuration", "imported": "imported", "project": "this project"}[
        spec.origin
    ]
