"""Notebook files as programs write them, and a live notebook that a test fills."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from agent_magics.notebook import Place, Ran

PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJ"
    "RU5ErkJggg=="
)


def code(source: str, ident: str = "", outputs: Sequence[Any] = (), count: Any = None) -> dict:
    cell = {
        "cell_type": "code",
        "execution_count": count,
        "metadata": {},
        "outputs": list(outputs),
        "source": source.splitlines(keepends=True),
    }
    return dict(sorted((cell | ({"id": ident} if ident else {})).items()))


def markdown(source: str, ident: str = "") -> dict:
    cell = {
        "cell_type": "markdown",
        "metadata": {},
        "source": source.splitlines(keepends=True),
    }
    return dict(sorted((cell | ({"id": ident} if ident else {})).items()))


def stream(text: str) -> dict:
    return {"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)}


def failure(name: str, words: str, trace: str = "trace") -> dict:
    return {"output_type": "error", "ename": name, "evalue": words, "traceback": [trace]}


def picture(data: str = PIXEL) -> dict:
    bundle = {"image/png": data, "text/plain": ["<Figure>"]}
    return {"output_type": "display_data", "data": bundle, "metadata": {}}


def notebook(cells: Sequence[dict], minor: int = 5, **style: Any) -> str:
    value = {"cells": list(cells), "metadata": {}, "nbformat": 4, "nbformat_minor": minor}
    options = {"indent": 1, "ensure_ascii": False} | style
    return json.dumps(value, **options) + "\n"


@dataclass
class Live:
    """A live notebook as a test says it is."""

    where: Place = field(default_factory=Place)
    cells: tuple[Ran, ...] = ()
    listens: bool = True
    proposed: list[str] = field(default_factory=list)

    def place(self) -> Place:
        return self.where

    def ran(self) -> tuple[Ran, ...]:
        return self.cells

    def propose(self, source: str) -> bool:
        self.proposed.append(source)
        return self.listens
