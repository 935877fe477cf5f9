"""Which paths no tool touches without a person's word, wherever they lie. Pure.

Owns the lists: keys, passwords, shell profiles, version control's insides, our own settings.
Judges names only and deliberately knows no disk: whoever asks has followed the links.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_SECRET_FOLDERS = frozenset(
    (".ssh", ".aws", ".azure", ".gnupg", ".kube", ".password-store", ".ipython", ".jupyter")
)
_SECRET_FILES = frozenset(
    (
        *(".netrc", "_netrc", ".git-credentials", ".pgpass", ".pypirc", ".npmrc", ".my.cnf"),
        *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile"),
        *(".zshrc", ".zprofile", ".zshenv", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc"),
        *(".login", ".logout", ".bash_history", ".zsh_history", ".python_history"),
    )
)
_SECRET_PAIRS = frozenset(
    (
        *((".config", "agent_magics"), ("share", "agent_magics")),
        *(("application support", "agent_magics"), ("local", "agent_magics")),
        *((".config", "fish"), (".config", "gcloud"), (".config", "gh"), (".config", "git")),
        *((".config", "autostart"), (".config", "systemd"), (".docker", "config.json")),
    )
)
_WRITE_FOLDERS = frozenset((".git", ".hg", ".svn", ".agent_magics", ".vscode", ".idea"))
_SHARED_ENV = re.compile(r"\.env\.(example|sample|template|dist)")
_PRIVATE_KEY = re.compile(
    r"id_(rsa|dsa|ecdsa|ed25519)(?!.*\.pub$).*|.*\.(pem|key|p12|pfx|jks|keystore|ppk|kdbx)"
)


def protected(parts: Sequence[str], *, write: bool) -> str:
    """Why a path needs a person's word, or the empty text.

    Args:
        parts: The names of the path below a folder that is open to tools, without `..`.
        write: Whether it would be changed, rather than read.
    """
    names = [_plain(part) for part in parts]
    for before, name in zip(["", *names], names, strict=False):
        if name in _SECRET_FOLDERS or name in _SECRET_FILES or (before, name) in _SECRET_PAIRS:
            return f"{name} may hold secrets or settings that run programs"
        if name.startswith(".env") and not _SHARED_ENV.fullmatch(name):
            return f"{name} may hold secrets"
        if _PRIVATE_KEY.fullmatch(name):
            return f"{name} may be a private key"
        if write and name in _WRITE_FOLDERS:
            return f"what is in {name} can run programs"
    return ""


def _plain(name: str) -> str:
    """The name as a file system that ignores case, width or invisible characters sees it."""
    if not name.isascii():
        shown = unicodedata.normalize("NFKC", name)
        name = "".join(c for c in shown if unicodedata.category(c) != "Cf")
    return name.casefold().rstrip(". ")
