"""What tests do with a real IPython shell in this process: run magics, write skills."""

from __future__ import annotations

from pathlib import Path

from agent_magics.extension.assembly import bundled_skills

SHIPPED = tuple(sorted(file.parent.name for file in bundled_skills().glob("*/SKILL.md")))
"""The names of the skills that come with the package."""


def magic(shell, name, line="", cell=None):
    if cell is None:
        return shell.run_line_magic(name, line)
    return shell.run_cell_magic(name, line, cell)


def skill(folder: Path, name: str, body: str = "Do it.", tools: str = "", code: str = "") -> Path:
    root = folder / name
    root.mkdir(parents=True)
    header = f"name: {name}\ndescription: For tests.\n{tools}"
    (root / "SKILL.md").write_text(f"---\n{header}\n---\n{body}\n", encoding="utf-8")
    if code:
        (root / "tools.py").write_text(code, encoding="utf-8")
    return root
