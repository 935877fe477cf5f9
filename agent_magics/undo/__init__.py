"""Taking back what the file tools did: copies before the first change, kept on the disk per turn.

`journal` is the format, `store` the folder, `recorder` what the tools tell, `planning` what an
undo would do, `restoring` how it is done. No module here knows a tool, a model or a front end.
"""
