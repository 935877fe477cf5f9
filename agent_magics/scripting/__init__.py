"""The agent for programs: one prompt, or one prompt over many inputs, with nobody there to ask.

Stands beside the magics on the same services and the same turn; knows neither the environment nor
where configuration lies.
"""
