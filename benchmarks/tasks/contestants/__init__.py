"""One run of one contestant in a process of its own; each file is a program.

A job comes as JSON on standard input, the result goes as the last line of standard output.
"""
