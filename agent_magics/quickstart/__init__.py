"""The quickstart: a sample repository to try things on, and the notebook run from end to end."""

from __future__ import annotations

from agent_magics.quickstart.sample import sample_repository

__all__ = ["sample_repository"]
