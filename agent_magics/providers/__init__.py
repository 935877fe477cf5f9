"""Models behind endpoints: one module per kind, and one line where it is chosen.

Each module fulfils `ports.Model`; none knows the loop, a tool or a front end.
"""
