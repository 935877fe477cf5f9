"""Hooks: a person's own checks before and after calls, and at the beginning and end of turns.

A hook is a Python function of the person's, or a command that their configuration names. Each is
told what happens as a value (`told`) and says a word (`said`); what a word may do, the core decides
(`agent_magics.tightening`). Knows no front end and no configuration file.
"""
