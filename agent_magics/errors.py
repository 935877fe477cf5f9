"""The errors of this package, split by who must act. Knows nothing else of the package.

AgentMagicsError            shown to the person as one or two lines, never a traceback
├── UsageProblem            the person: a command's words or a setting are off
├── SkillError              the person: a skill cannot be loaded
├── ConfigError             the person: a configuration file is off
├── ToolError               the model: a call failed; the text goes back as the call's result
└── ModelError              the provider: no usable answer came
    ├── ReplayDiffers       the person: a strict replay goes otherwise than it was recorded
    └── ContextOverflow     the provider: the request is larger than the model's context
"""

from __future__ import annotations


class AgentMagicsError(Exception):
    """Anything that a person should read without a traceback."""

    def _render_traceback_(self) -> list[str]:
        """IPython calls this in place of its own traceback."""
        return [f"{type(self).__name__}: {self}"]


class UsageProblem(AgentMagicsError):
    """The words of a command, or the value of a setting, cannot be taken."""


class SkillError(AgentMagicsError):
    """A skill cannot be found or loaded; the message says what to change."""


class ConfigError(AgentMagicsError):
    """A configuration file cannot be taken; nothing of it is in force."""


class ToolError(AgentMagicsError):
    """A tool call failed in a way that the model can read and act on."""


class ModelError(AgentMagicsError):
    """The provider gave no usable answer.

    Args:
        message: What happened, in words a person can act on. Never holds a key.
        status: The HTTP status, where there was one.
        retry_after: Seconds that the server asked to wait, where it did.
    """

    def __init__(
        self, message: str, *, status: int | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after


class ReplayDiffers(ModelError):
    """A strict replay goes otherwise than it was recorded."""


class ContextOverflow(ModelError):
    """The request is larger than the model's context window."""
