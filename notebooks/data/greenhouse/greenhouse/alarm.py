"""When to sound the alarm, and how."""

import logging
import smtplib
import time
from email.message import EmailMessage

from greenhouse.sensors import Reading

log = logging.getLogger("greenhouse")


class Alarm:
    """Tells when a place is too cold or too hot."""

    def __init__(
        self, lowest: float, highest: float, channel: str, address: str, quiet_minutes: int
    ) -> None:
        self.lowest, self.highest = lowest, highest
        self.send = {"mail": self._mail, "log": log.warning}[channel]
        self.address = address
        self.quiet = quiet_minutes * 60
        self._last = 0.0

    def look_at(self, reading: Reading) -> None:
        """Sound the alarm if this reading is out of bounds and it was quiet long enough."""
        if reading.degrees is None or self.lowest <= reading.degrees <= self.highest:
            return
        now = time.monotonic()
        if now - self._last < self.quiet:
            return
        self._last = now
        self.send(f"{reading.place}: {reading.degrees:.1f} °C")

    def _mail(self, text: str) -> None:
        message = EmailMessage()
        message["To"], message["Subject"] = self.address, text
        with smtplib.SMTP("localhost") as server:
            server.send_message(message)
