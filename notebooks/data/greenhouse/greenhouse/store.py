"""Readings in one SQLite file."""

import sqlite3
from pathlib import Path

from greenhouse.sensors import Reading


class Store:
    """Keeps readings; the time of a reading is the time it was kept."""

    def __init__(self, path: Path) -> None:
        self._db = sqlite3.connect(path)
        self._db.execute(
            "CREATE TABLE IF NOT EXISTS reading"
            " (at TEXT DEFAULT CURRENT_TIMESTAMP, place TEXT, degrees REAL)"
        )

    def keep(self, reading: Reading) -> None:
        """Add one reading; silent sensors leave no row."""
        if reading.degrees is None:
            return
        with self._db:
            self._db.execute(
                "INSERT INTO reading (place, degrees) VALUES (?, ?)",
                (reading.place, reading.degrees),
            )
