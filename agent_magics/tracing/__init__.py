"""Turns as OpenTelemetry spans, by the `gen_ai.*` conventions, fed by events alone.

Where the spans go is the person's business: they configure a tracer provider, and without one
nothing is made and nothing is sent.
"""
