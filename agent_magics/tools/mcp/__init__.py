"""Tools of MCP servers: which there are, what they are called, and what of their words is used.

The protocol is the official SDK's business, an extra that only `sdk` imports. Everything that a
server says is a stranger's text: names and schemas are made safe (`names`, `shapes`), results are
fenced (`results`). The servers live on a thread of their own (`background`) for the kernel's life.
"""
