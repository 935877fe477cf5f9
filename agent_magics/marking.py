"""`@tool`: the mark that makes a function of a skill's `tools.py` a tool.

Only a note on the function, which stays what it is and can be called as before. Who reads the note,
and what a tool needs besides, is the library's business.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, overload

F = TypeVar("F", bound=Callable[..., Any])

_NOTE = "__agent_magics_tool__"


@dataclass(frozen=True, slots=True)
class Mark:
    """What `@tool` says of a function.

    Args:
        name: Of the tool; empty: the function's.
        description: For the model; empty: the docstring.
    """

    name: str = ""
    description: str = ""


@overload
def tool(function: F, /) -> F: ...
@overload
def tool(*, name: str = "", description: str = "") -> Callable[[F], F]: ...
def tool(function: F | None = None, /, *, name: str = "", description: str = "") -> Any:
    """Make a function of a `tools.py` a tool; as soon as one is marked, only marked ones are.

        @tool
        def count_rows(workspace: Path, file: str) -> str: ...

        @tool(name="rows", description="Count the rows of a CSV file.")
        async def count(workspace: Path, file: str) -> str: ...

    Args:
        function: With a type for each parameter, and a docstring unless there is a description.
        name: Of the tool: letters, digits and underscores, at most 64.
        description: For the model, in place of the docstring's text.

    Raises:
        TypeError: It is no function, or a name or description is no text.
    """
    if not all(isinstance(text, str) for text in (name, description)):
        raise TypeError("@tool(name=…, description=…) takes texts")

    def mark(marked: F) -> F:
        if isinstance(marked, type) or not callable(marked):
            raise TypeError("@tool goes above a function: @tool or @tool(name=…, description=…)")
        setattr(marked, _NOTE, Mark(name, description))
        return marked

    return mark if function is None else mark(function)


def mark_of(function: object) -> Mark | None:
    """What `@tool` said of a function; None: it did not."""
    try:
        found = getattr(function, _NOTE, None)
    except Exception:  # noqa: BLE001 - anything can lie in a module, and raise when it is asked
        return None
    return found if isinstance(found, Mark) else None
