"""The tool `python`: code in the user's own kernel.

Owns the check before anyone is asked and the text that the model reads. How code gets into the
kernel, and what it may do there, is the kernel's side of the port.
"""

from __future__ import annotations

import ast
import warnings

from agent_magics.errors import ToolError
from agent_magics.messages import Display
from agent_magics.namespace.changes import display_of
from agent_magics.policy import Rule, Scope
from agent_magics.ports import CodeOutput, Kernel
from agent_magics.tool import Arguments, Report, Tool, ToolOutput
from agent_magics.tools.figures import told_of
from agent_magics.tools.plain import cut, terminal_text
from agent_magics.tools.schemas import number, record, string
from agent_magics.tools.workspace import Workspace

BUDGET = 30_000
"""Characters of the result that the model reads, as of a shell command's."""
MAX_LINE = 200
"""Characters of a faulty line that are shown."""
LONGEST = 86_400
"""Seconds that a time limit may have: a day."""
UNCONFINED = "runs in your live kernel, not in a sandbox: it can do all that you can"


def python_tool(workspace: Workspace, kernel: Kernel) -> Tool:
    """`python`: code in the user's namespace."""

    async def run(arguments: Arguments, report: Report) -> ToolOutput:
        seconds = float(arguments.get("timeout", 0))
        output = await kernel.run_code(_checked(arguments["code"]), seconds)
        notes, images = told_of(output.displays, output.value)
        text = _shortened(_told(output, notes, seconds), workspace)
        if not output.changes:
            # What stands in place of the text must hold the text.
            shown = (Display("text", text), *output.displays) if output.displays else ()
            return ToolOutput(text, shown, images, ok=output.ok)
        names = display_of(output.changes)
        shown = (Display("text", text), names, *output.displays)
        return ToolOutput(f"{text}\n[names {names.text}]", shown, images, ok=output.ok)

    def preview(arguments: Arguments) -> tuple[Display, ...]:
        code = Display("code", _checked(arguments["code"]), "python")
        return (Display("text", UNCONFINED), code)

    return Tool(
        "python",
        "Run Python in the user's live notebook kernel, with their variables.\n"
        "Variables, imports and changes last, and the user sees them. It is not sandboxed. "
        "IPython syntax works; the value of the last expression is given back, figures come as "
        "images, and the result ends with the names that are new, changed or deleted.",
        record(
            ("code",),
            code=string("The code of one cell."),
            timeout=number(
                "Seconds after which the code is interrupted (KeyboardInterrupt); unless given, "
                "it may take as long as it needs.",
                LONGEST,
            ),
        ),
        "run",
        run,
        operand=lambda arguments: str(arguments["code"]),
        preview=preview,
        always=lambda _arguments: (
            Scope("python, this cell", Rule("python", "allow", source="cell")),
            Scope("python, this session", Rule("python", "allow")),
        ),
    )


def _checked(code: str) -> str:
    """Refuse code that cannot run at all."""
    if not code.strip():
        raise ToolError("The code is empty.")
    try:
        with warnings.catch_warnings():
            # A warning belongs to the run, where the user sees it.
            warnings.simplefilter("ignore")
            source = _transformed(code)
            compile(source, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
    except SyntaxError as error:
        where = f" in line {error.lineno}" if error.lineno else ""
        line = f"\n    {error.text.rstrip()[:MAX_LINE]}" if error.text else ""
        raise ToolError(f"{type(error).__name__}{where}: {error.msg}{line}") from error
    except (ValueError, RecursionError, MemoryError) as error:
        reason = str(error) or "it is nested too deeply"
        raise ToolError(f"Python cannot take this code: {reason}.") from error
    return code


def _transformed(code: str) -> str:
    """Plain Python for a cell: magics and shell escapes become calls, as IPython does it."""
    try:
        ast.parse(code)
    except SyntaxError:
        from IPython.core.inputtransformer2 import TransformerManager

        # IPython is not annotated.
        return str(TransformerManager().transform_cell(code))  # type: ignore[no-untyped-call]
    return code


def _told(output: CodeOutput, notes: tuple[str, ...], seconds: float) -> str:
    parts = [
        terminal_text(output.stdout).rstrip("\n"),
        output.value.rstrip("\n"),
        terminal_text(output.error).rstrip("\n"),
        *notes,
    ]
    if output.out_of_time:
        # First, since this line stands for the whole.
        end = "It stopped there" if not output.ok else "It went on to its end all the same"
        parts.insert(0, f"Interrupted at the time limit of {seconds:g} s. {end}.")
    return "\n".join(part for part in parts if part.strip()) or "(no output)"


def _shortened(text: str, workspace: Workspace) -> str:
    # First, since a cut could leave half of a secret.
    text = workspace.redact(text)
    parts = cut(text, BUDGET)
    if parts is None:
        return text
    path = workspace.new_output("python")
    path.write_text(text, encoding="utf-8", errors="replace")
    return f"{parts}\n[the whole output: read {path}]"
