"""The names of a running program and what they stand for, looked at without running any of it.

`looking` says what an object is, `prints` tells whether it changed, `changes` compares two moments,
`keeping` can bring objects back. Nothing here imports a data library: one that the person uses is
found among the modules that are loaded already.
"""
