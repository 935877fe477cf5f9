"""Conversations on disk: what was said and done, one file for each, never in the project.

Owns the format of the files and their safety (append only, locked, private, half-written lines
mended). Knows no magic, no front end and no skill on disk: it gives back values.
"""
