"""A model that a plug-in brings, held to the contract of `ports.Model`.

Whatever it raises is a `ModelError`, so that a conversation stays usable; what it yields is checked
as far as the loop relies on it.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass

from agent_magics.errors import ModelError
from agent_magics.messages import Assistant
from agent_magics.plain import visible
from agent_magics.ports import Model, Request, Streamed


@dataclass(frozen=True, slots=True)
class PluggedModel:
    """Fulfils `ports.Model` with a stranger's model.

    Args:
        name: As it is asked for.
        model: The plug-in's.
        redact: Takes secrets out of its errors.
    """

    name: str
    model: Model
    redact: Callable[[str], str]

    async def stream(self, request: Request) -> AsyncIterator[Streamed]:
        """Ask it once.

        Raises:
            ModelError: Whatever went wrong in it.
        """
        answered = False
        try:
            stream = self.model.stream(request)
            async with aclosing(stream) as items:  # type: ignore[type-var]  # generators close
                async for item in items:
                    if answered:
                        raise ModelError(f"{self.name} said more after its answer.")
                    answered = isinstance(item, Assistant)
                    yield item
        except ModelError:
            raise
        except Exception as error:
            raise ModelError(self._failed(error)) from error
        if not answered:
            raise ModelError(f"{self.name} ended without an answer.")

    async def aclose(self) -> None:
        """Close it, if it can be closed."""
        close = getattr(self.model, "aclose", None)
        if close is None:
            return
        try:
            closing = close()
            if inspect.isawaitable(closing):
                await closing
        except Exception as error:
            raise ModelError(self._failed(error)) from error

    def _failed(self, error: Exception) -> str:
        text = " ".join(visible(str(error)).split())[:500]
        return self.redact(f"{self.name} failed: {type(error).__name__}: {text}")


def plugged(
    name: str, factory: object, asked: str, package: str, redact: Callable[[str], str]
) -> PluggedModel:
    """The model that a plug-in's factory makes.

    Args:
        name: As it is asked for.
        factory: Called with the model's name.
        asked: That name.
        package: Who brings it.
        redact: Takes secrets out of errors.

    Raises:
        ModelError: It makes none.
    """
    try:
        model = factory(asked)  # type: ignore[operator]  # what cannot be called raises TypeError
    except ModelError:
        raise
    except Exception as error:
        text = " ".join(visible(str(error)).split())[:500]
        raise ModelError(
            redact(
                f"The plug-in {package} makes no model {asked!r}: {type(error).__name__}: {text}"
            )
        ) from error
    if not callable(getattr(model, "stream", None)):
        raise ModelError(f"The plug-in {package} made something that is no model for {asked!r}.")
    return PluggedModel(name, model, redact)
