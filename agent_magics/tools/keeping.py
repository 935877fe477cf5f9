"""What every tool that changes files does about undo: warn before, keep a copy, or say why not.

Owns the rule for a copy that cannot be kept: a person who was shown the change must have been
told. Knows no store; see `backup` for the seam.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agent_magics.errors import ToolError
from agent_magics.messages import Display
from agent_magics.tools.backup import Coming
from agent_magics.tools.workspace import Workspace


def warning_of(workspace: Workspace, paths: Sequence[Path], more: str = "") -> tuple[Display, ...]:
    """What a person must see first when a change cannot be undone; empty when it can.

    Args:
        workspace: Whose copies are kept.
        paths: What would change.
        more: A reason of the tool's own.
    """
    reason = more or workspace.backup.obstacle(paths)
    return (Display("text", f"This cannot be undone: {reason}."),) if reason else ()


def keep(
    workspace: Workspace, call: str, coming: Sequence[Coming], *, required: bool, more: str = ""
) -> str:
    """Keep what is there before it changes.

    Args:
        workspace: Whose copies are kept.
        call: Names the call with its arguments, as for its preview.
        coming: What is about to change, at least one path.
        required: Whether nothing may happen without a copy that no person was asked about.
        more: Why none is kept, a reason of the tool's own.

    Returns:
        A note for the model about a change that cannot be undone; empty when it can.

    Raises:
        ToolError: Nothing was kept, and the change must not happen.
    """
    warned = workspace.warned(call)
    reason = more or workspace.backup.keep(coming)
    if not reason:
        return ""
    if warned is False:
        raise ToolError(
            f"No copy for undo can be kept ({reason}), and the person was not told; nothing was "
            "changed. Repeat the call, so that they are asked again."
        )
    if warned is None and required:
        raise ToolError(
            f"No copy for undo can be kept ({reason}); nothing was changed. Ask the person."
        )
    workspace.backup.missed(coming[-1].path, reason)
    return f"\n[this cannot be undone: {reason}]"
