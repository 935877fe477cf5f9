"""All files of a skill's folder: what a stat says of them, and one hash over what they hold.

The stats tell cheaply whether anything changed; the hash is what a person trusts. Knows nothing of
what the files mean. No link is followed.
"""

from __future__ import annotations

import hashlib
import heapq
import os
from collections.abc import Iterable
from dataclasses import dataclass

SKIPPED = frozenset({"__pycache__", "node_modules", ".git", ".ipynb_checkpoints"})
"""Folders that hold nothing of a skill; the import of bundled tools does not look there either."""
MAX_FILES = 5_000
"""Files of one folder that are looked at; the largest of 20,702 public skills has 1,103."""
MAX_CONTENT = 64_000_000
"""Bytes of one folder that go into its hash; of what is beyond, only names and sizes do."""
MAX_DEPTH = 16

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True, order=True)
class Node:
    """One file, link or other thing in a tree.

    Args:
        name: Relative to the root, with `/`.
        kind: `file`, `link`, `other` (a device, a pipe), `closed` (an unreadable folder).
        size: In bytes.
        stamp: Modification and change time in nanoseconds, and the inode.
    """

    name: str
    kind: str
    size: int = 0
    stamp: tuple[int, int, int] = (0, 0, 0)


@dataclass(frozen=True, slots=True)
class Tree:
    """The files of one folder, sorted by name.

    Args:
        nodes: Without folders themselves.
        complete: Whether none was left out.
    """

    nodes: tuple[Node, ...]
    complete: bool = True

    def links(self) -> tuple[str, ...]:
        """The names of the links."""
        return tuple(node.name for node in self.nodes if node.kind == "link")


def node(name: str, kind: str, status: os.stat_result) -> Node:
    """A node from what a stat says."""
    stamp = (status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    return Node(name, kind, status.st_size, stamp)


def read_tree(root: str, listing: Iterable[os.DirEntry[str]]) -> Tree:
    """The files below a folder.

    Args:
        root: The folder.
        listing: What a scan of it has just given, so that it is not scanned twice.
    """
    nodes: list[Node] = []
    folders: list[tuple[str, str, int]] = []  # name, path, depth: a heap
    _take(listing, "", 1, nodes, folders)
    complete = True
    looked_at = 0
    while folders:
        # By name, so that a tree with too many files is cut at the same place everywhere.
        prefix, path, depth = heapq.heappop(folders)
        looked_at += 1
        if max(len(nodes), looked_at) > MAX_FILES:
            complete = False
            break
        if depth > MAX_DEPTH:
            complete = False
            continue
        try:
            with os.scandir(path) as entries:
                _take(entries, prefix, depth + 1, nodes, folders)
        except OSError:
            nodes.append(Node(prefix, "closed"))
    nodes.sort()
    if len(nodes) > MAX_FILES:
        complete = False
    return Tree(tuple(nodes[:MAX_FILES]), complete)


def scanned_tree(root: str) -> Tree:
    """The files below a folder, looked at now.

    Raises:
        OSError: The folder cannot be read.
    """
    with os.scandir(root) as entries:
        return read_tree(root, list(entries))


def _take(
    listing: Iterable[os.DirEntry[str]],
    prefix: str,
    depth: int,
    nodes: list[Node],
    folders: list[tuple[str, str, int]],
) -> None:
    for entry in listing:
        name = prefix + entry.name
        try:
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in SKIPPED:
                    heapq.heappush(folders, (f"{name}/", entry.path, depth))
                continue
            status = entry.stat(follow_symlinks=False)
        except OSError:
            nodes.append(Node(name, "closed"))
            continue
        if entry.is_symlink():
            kind = "link"
        else:
            kind = "file" if entry.is_file(follow_symlinks=False) else "other"
        nodes.append(node(name, kind, status))


def digest(root: str, tree: Tree, main: bytes) -> tuple[str, bool]:
    """SHA-256 over a folder's files, in hex, and whether it covers every byte of them.

    The same files give the same hash on every system and in every place.

    Args:
        root: The folder.
        tree: Its files.
        main: The content of SKILL.md, which may lie elsewhere behind a link.
    """
    total = hashlib.sha256(hashlib.sha256(main).digest())
    left = MAX_CONTENT
    whole = tree.complete
    for node in tree.nodes:
        name = node.name.encode("utf-8", "surrogateescape")
        total.update(b"%b\0%b\0" % (node.kind.encode(), name))
        if node.kind == "link":
            total.update(_target(os.path.join(root, node.name)))  # noqa: PTH118 - thousands of calls
        elif node.kind == "file":
            total.update(b"%d\0" % node.size)
            if node.size <= left:
                left -= node.size
                total.update(_content(os.path.join(root, node.name)))  # noqa: PTH118 - as above
            else:
                whole = False
    return total.hexdigest(), whole


def _target(path: str) -> bytes:
    try:
        return os.fsencode(os.readlink(path)) + b"\0"  # noqa: PTH115 - the text of the link itself
    except OSError:
        return b"unreadable\0"


def _content(path: str) -> bytes:
    """The hash of one file's content; of fixed length, so that files cannot run into each other."""
    found = hashlib.sha256()
    try:
        # A file can have become a pipe since it was listed; opening must not wait for a writer.
        handle = os.open(
            path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        )
        with os.fdopen(handle, "rb") as file:
            while chunk := file.read(_CHUNK):
                found.update(chunk)
    except OSError:
        found.update(b"unreadable")
    return found.digest()
