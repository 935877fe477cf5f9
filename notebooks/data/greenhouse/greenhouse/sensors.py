"""Readings from the sensors, in degrees Celsius whatever the hardware speaks."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from greenhouse.convert import to_celsius

BUS = Path("/sys/bus/w1/devices")


@dataclass(frozen=True)
class Reading:
    """One temperature at one place; `degrees` is None when the sensor was silent."""

    place: str
    degrees: float | None


def readings(unit: str, places: list[str]) -> Iterator[Reading]:
    """One reading of every place."""
    for place in places:
        raw = _raw(place)
        yield Reading(place, None if raw is None else to_celsius(raw, unit))


def _raw(place: str) -> float | None:
    try:
        return float((BUS / place / "temperature").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None
