"""The notebook of one shell: what ran in it, where its file is, and its next cell.

Owns what is kept of each cell that ran, by IPython's own events. It reads no file, and no value of
the person is drawn again: texts are those that IPython showed.
"""

from __future__ import annotations

import linecache
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_magics.frontends.kernel import short_traceback
from agent_magics.notebook import Place, Ran

KEPT = 1_000
"""Cells that are remembered; older ones are forgotten."""
SUFFIX = ".ipynb"
VSCODE = "__vsc_ipynb_file__"
"""Under this name VS Code puts the notebook's path among the person's names."""


class CellHistory:
    """What ran in one shell; fulfils `notebook.LiveNotebook`.

    Args:
        shell: IPython's shell.
        setting: The path that the person set; empty: none.
        session: The path by which the Jupyter server started the kernel; empty: none.
    """

    def __init__(self, shell: Any, setting: Callable[[], str], session: str = "") -> None:
        self._shell = shell
        self._setting = setting
        self._session = session
        self._ran: list[Ran] = []
        self._cell_id = ""
        self._number = 0

    def install(self) -> None:
        """Begin to take notes; what ran before is taken from IPython's history."""
        self._ran[:] = self._earlier()
        self._shell.events.register("pre_run_cell", self._begins)
        self._shell.events.register("post_run_cell", self._ended)

    def remove(self) -> None:
        """Stop taking notes."""
        for event, callback in (("pre_run_cell", self._begins), ("post_run_cell", self._ended)):
            if callback in self._shell.events.callbacks[event]:
                self._shell.events.unregister(event, callback)

    # -- what tools and prompts ask ---------------------------------------------------------

    def place(self) -> Place:
        """Where the running cell is."""
        path, known_by = self._path()
        return Place(path, known_by, self._cell_id, self._number)

    def ran(self) -> tuple[Ran, ...]:
        """The cells that ran before the running one."""
        return tuple(self._ran)

    def propose(self, source: str) -> bool:
        """Offer code as the next cell."""
        if not self._somebody_there():
            return False
        self._shell.set_next_input(source, replace=False)
        return True

    # -- parts ------------------------------------------------------------------------------

    def _path(self) -> tuple[Path | None, str]:
        if setting := self._setting().strip():
            return Path(setting).expanduser(), "the setting notebook"
        told = self._shell.user_ns.get(VSCODE)
        # Any code can put anything there; what is no notebook is not believed.
        if type(told) is str and told.endswith(SUFFIX):
            return Path(told), "what VS Code says"
        # A shell inside a kernel's process tree inherits the variable and is in no notebook.
        if self._kernel is not None and self._session.endswith(SUFFIX):
            return Path(self._session), "the server's session"
        return None, ""

    @property
    def _kernel(self) -> Any:
        return getattr(self._shell, "kernel", None)

    def _somebody_there(self) -> bool:
        if self._kernel is None:
            stdin = sys.stdin
            return stdin is not None and not stdin.closed and stdin.isatty()
        parent = self._kernel.get_parent() or {}
        return bool((parent.get("content") or {}).get("allow_stdin"))

    def _begins(self, info: Any) -> None:
        if info.store_history and not info.silent:
            self._cell_id = _text(getattr(info, "cell_id", ""))
            # Versions differ in when they count; the history has not got this cell yet in any.
            self._number = len(self._shell.history_manager.input_hist_raw)

    def _ended(self, result: Any) -> None:
        info = result.info
        if info is None or not info.store_history or info.silent or not _text(info.raw_cell):
            return
        error = result.error_before_exec or result.error_in_exec
        number = result.execution_count or 0
        self._take(
            Ran(
                number,
                _text(info.raw_cell),
                self._value(number),
                _short(error) if error is not None else "",
                _text(getattr(info, "cell_id", "")),
            )
        )

    def _take(self, item: Ran) -> None:
        kept = [old for old in self._ran if not item.cell_id or old.cell_id != item.cell_id]
        # The cell that loaded us stands in the history already.
        self._ran[:] = [old for old in kept if old.number != item.number or not old.number]
        self._ran.append(item)
        del self._ran[:-KEPT]

    def _value(self, number: int) -> str:
        return _text(self._shell.history_manager.output_hist_reprs.get(number, ""))

    def _earlier(self) -> list[Ran]:
        """What ran up to now, without ids; the last of the person's own cells with its error."""
        sources = enumerate(self._shell.history_manager.input_hist_raw)
        found = [Ran(n, _text(s), self._value(n)) for n, s in sources if n and _text(s)]
        error = getattr(sys, "last_value", None)
        last = next((n for n, item in reversed([*enumerate(found)]) if not item.only_steers), None)
        if last is None or not isinstance(error, BaseException):
            return found[-KEPT:]
        if _comes_from(error, found[last].source):
            found[last] = replace(found[last], error=_short(error))
        return found[-KEPT:]


def _comes_from(error: BaseException, source: str) -> bool:
    """Whether an error was raised by a cell with this source."""
    files = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        files.append(error.filename)
    return any("".join(linecache.getlines(file)).strip() == source.strip() for file in files)


def _short(error: BaseException) -> str:
    try:
        return short_traceback(error)
    except Exception:  # noqa: BLE001 - an exception of the person's may fail when it is drawn
        return f"{type(error).__name__}: (its text cannot be shown)"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
