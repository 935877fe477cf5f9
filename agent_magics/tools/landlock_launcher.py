"""A program that gives up rights for good and then becomes another one.

    python -I -S landlock_launcher.py '{"write": […], "hidden": […], "network": false}' PROGRAM …

Owns the calls of the kernel, through ctypes: Landlock for files, TCP, signals and abstract
sockets; a seccomp filter that opens no socket, when there is to be no network. Imports nothing of
this package. Whatever fails ends it: the other program never runs with more than was asked for.
"""

from __future__ import annotations

import ctypes
import json
import os
import platform
import struct
import sys
from collections.abc import Iterable, Iterator

OLDEST = 3
"""The version of Landlock's interface (Linux 6.2) from which on files cannot be cut either."""
FAILED = 125
"""The exit status when it cannot be done, as of env, nice and docker."""

# linux/landlock.h; the numbers of the calls are the same on all machines of Linux.
_CREATE, _ADD, _RESTRICT = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL = 1 << 14, 1 << 15
_BY_VERSION = {1: (1 << 13) - 1, 2: 1 << 13, 3: _TRUNCATE, 5: _IOCTL}
"""The rights over files that each version brought."""
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL
_TCP = 0b11
_SCOPES = 0b11
_PATH_RULE = 1
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts", "shm")
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
_MACHINES = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198), "riscv64": (0xC00000F3, 198)}
"""The audit number of a machine, and its number of the call `socket`."""
_IO_URING_SETUP = 425
_ALLOW, _DENY = 0x7FFF0000, 0x0005000D  # SECCOMP_RET_ERRNO with EACCES


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("files", ctypes.c_uint64),
        ("network", ctypes.c_uint64),
        ("scoped", ctypes.c_uint64),
    )


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("program", ctypes.c_char_p))


def abi() -> int:
    """The version of Landlock's interface; 0 or less: there is none."""
    return int(_libc().syscall(_CREATE, None, ctypes.c_size_t(0), 1))


def filters_sockets() -> bool:
    """Whether the socket filter is known for this machine."""
    return platform.machine() in _MACHINES and sys.maxsize > 2**32


def main(arguments: list[str]) -> None:
    """Confine this process, then become the program."""
    try:
        wanted, program = json.loads(arguments[0]), arguments[1:]
        _confine(wanted["write"], wanted["hidden"], network=wanted["network"])
        os.execvp(program[0], program)  # noqa: S606  # that is what it is for
    except (OSError, ValueError, KeyError, IndexError) as error:
        os.write(2, f"The sandbox could not be set up, nothing was run: {error}\n".encode())
        os._exit(FAILED)


def _confine(writable: Iterable[str], hidden: Iterable[str], *, network: bool) -> None:
    libc = _libc()
    version = abi()
    if version < OLDEST:
        raise OSError(f"Landlock is missing or too old (version {version})")
    handled = sum(rights for number, rights in _BY_VERSION.items() if number <= version)
    ruleset = _Ruleset(
        handled,
        _TCP if version >= 4 and not network else 0,
        _SCOPES if version >= 6 else 0,
    )
    size = 24 if version >= 6 else 16 if version >= 4 else 8
    rules = _checked(libc.syscall(_CREATE, ctypes.byref(ruleset), ctypes.c_size_t(size), 0))
    looking = _EXECUTE | _READ_FILE | _READ_DIR
    # Names can be seen everywhere; contents only where nothing hidden lies.
    _allow(libc, rules, "/", _READ_DIR)
    for path in readable("/", {os.path.realpath(path) for path in hidden}):
        _allow(libc, rules, path, looking & handled)
    for path in writable:
        _allow(libc, rules, path, handled)
    for name in _DEVICES:
        _allow(libc, rules, f"/dev/{name}", handled)
    _checked(libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _checked(libc.syscall(_RESTRICT, rules, 0))
    os.close(rules)
    if not network and filters_sockets():
        _without_sockets(libc)


def readable(folder: str, hidden: set[str]) -> Iterator[str]:
    """The fewest paths that together are everything below a folder but what is hidden.

    Args:
        folder: A real path.
        hidden: Real paths.
    """
    prefix = folder.rstrip("/") + "/"
    if folder in hidden:
        return
    if not any(path.startswith(prefix) for path in hidden):
        yield folder
        return
    try:
        names = os.listdir(folder)  # noqa: PTH208  # paths are texts here
    except OSError:
        return
    for name in names:
        path = prefix + name
        # A link's target has a path of its own, and is judged by that.
        if not os.path.islink(path):  # noqa: PTH114  # as above
            yield from readable(path, hidden)


def _allow(libc: ctypes.CDLL, rules: int, path: str, rights: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # What is not there, or cannot be reached, needs no rule.
    try:
        folder = os.path.isdir(path)  # noqa: PTH112  # as above
        rule = _PathRule(rights if folder else rights & _OF_FILES, parent)
        _checked(libc.syscall(_ADD, rules, _PATH_RULE, ctypes.byref(rule), 0))
    finally:
        os.close(parent)


def _without_sockets(libc: ctypes.CDLL) -> None:
    """No call of `socket`, and none that makes one by another way, from now on."""
    audit, socket = _MACHINES[platform.machine()]

    def step(code: int, jump: int, other: int, value: int) -> bytes:
        return struct.pack("=HBBI", code, jump, other, value)

    load, equal, atleast, give = 0x20, 0x15, 0x35, 0x06
    program = b"".join(
        (
            step(load, 0, 0, 4),
            step(equal, 0, 5, audit),  # calls of another machine's numbering
            step(load, 0, 0, 0),
            step(atleast, 3, 0, 0x40000000),  # x32's numbering
            step(equal, 2, 0, socket),
            step(equal, 1, 0, _IO_URING_SETUP),
            step(give, 0, 0, _ALLOW),
            step(give, 0, 0, _DENY),
        )
    )
    filters = _Filter(len(program) // 8, program)
    _checked(libc.prctl(_SECCOMP, _FILTER, ctypes.byref(filters), 0, 0))


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


if __name__ == "__main__":
    main(sys.argv[1:])
