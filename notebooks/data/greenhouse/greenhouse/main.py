"""The loop: read every sensor once a minute, keep the reading, sound the alarm."""

import sys
import time
import tomllib
from pathlib import Path

from greenhouse.alarm import Alarm
from greenhouse.sensors import readings
from greenhouse.store import Store

PAUSE = 60


def run() -> None:
    """Entry point of the command `greenhouse`."""
    settings = tomllib.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    store = Store(Path("readings.sqlite"))
    alarm = Alarm(**settings["alarm"])
    while True:
        for reading in readings(**settings["sensors"]):
            alarm.look_at(reading)
            store.keep(reading)
        time.sleep(PAUSE)
