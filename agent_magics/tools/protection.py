"""Which paths no tool touches without a person's word, wherever they lie. Pure.

Owns the lists: keys, passwords, shell profiles, version control's insides, our own settings.
Judges names only and deliberately knows no disk: whoever asks has followed the links.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

_SECRET_FOLDERS = frozenset(
    (
        *(".ssh", ".aws", ".azure", ".gnupg", ".kube", ".password-store", ".ipython", ".jupyter"),
        *(".oci", ".minikube", ".terraform.d", ".databricks", ".snowsql"),
        *(".kaggle", ".huggingface", ".mozilla", ".thunderbird", ".pki", ".heroku", ".fly"),
    )
)
_SECRET_FILES = frozenset(
    (
        *(".netrc", "_netrc", ".git-credentials", ".pgpass", ".pypirc", ".npmrc", ".my.cnf"),
        *(".mylogin.cnf", ".s3cfg", ".boto", ".databrickscfg", ".vault-token", ".htpasswd"),
        *(".dockercfg", ".terraformrc", "terraform.rc", ".renviron", ".pam_environment"),
        *(".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile"),
        *(".zshrc", ".zprofile", ".zshenv", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc"),
        *(".login", ".logout", ".bash_history", ".zsh_history", ".python_history", ".psql_history"),
        *(".mysql_history", ".sqlite_history", ".node_repl_history", ".viminfo", ".lesshst"),
    )
)
_SECRET_PAIRS = frozenset(
    (
        *((".config", "agent_magics"), ("share", "agent_magics"), ("state", "agent_magics")),
        *(("application support", "agent_magics"), ("local", "agent_magics")),
        *((".config", "fish"), (".config", "gcloud"), (".config", "gh"), (".config", "git")),
        *((".config", "autostart"), (".config", "systemd"), (".docker", "config.json")),
        *((".config", "hub"), (".config", "op"), (".config", "rclone"), (".config", "doctl")),
        *((".config", "google-chrome"), (".config", "chromium"), (".config", "microsoft-edge")),
        *((".config", "github-copilot"), (".config", "sops"), (".config", "argocd")),
        *((".config", "containers"), (".config", "pypoetry"), (".config", "glab-cli")),
        *(("share", "keyrings"), ("jupyter", "runtime"), ("library", "keychains")),
        *((".cargo", "credentials"), (".cargo", "credentials.toml"), (".gem", "credentials")),
        *((".m2", "settings.xml"), (".gradle", "gradle.properties"), (".dbt", "profiles.yml")),
        *(("huggingface", "token"), ("huggingface", "stored_tokens")),
        *((".streamlit", "secrets.toml"), (".claude", ".credentials.json")),
        *((".codex", "auth.json"), (".gemini", "oauth_creds.json")),
        *(("gh", "hosts.yml"), ("gcloud", "credentials.db")),
        # Where the workspace is the root of the disk.
        *(("dev", "fd"), ("dev", "mem"), ("dev", "kmem"), ("etc", "shadow"), ("etc", "gshadow")),
    )
)
_WRITE_FOLDERS = frozenset(
    (
        *(".git", ".hg", ".svn", ".agent_magics", ".vscode", ".idea", ".husky", ".githooks"),
        *(".devcontainer", ".direnv"),
    )
)
_WRITE_FILES = frozenset(
    (
        *(".gitmodules", ".gitattributes", ".gitconfig", ".hgrc", ".pre-commit-config.yaml"),
        *("sitecustomize.py", "usercustomize.py", "ipython_config.py", ".pdbrc", ".pythonrc"),
        *(".mcp.json", ".condarc", ".curlrc", ".wgetrc", ".ripgreprc", ".bazelrc", ".yarnrc"),
        *(".yarnrc.yml", ".pnpmfile.cjs", ".vimrc", ".exrc", ".nvimrc", ".inputrc", ".tmux.conf"),
        *(".screenrc", ".gdbinit", ".lldbinit", ".rprofile", ".xinitrc", ".xprofile", ".xsession"),
    )
)
_WRITE_PAIRS = frozenset(
    (
        *((".claude", "settings.json"), (".claude", "settings.local.json")),
        *((".cursor", "mcp.json"), (".jj", "repo")),
        *((".cargo", "config.toml"), (".cargo", "config")),
    )
)
_RUNS = re.compile(r".*\.pth|jupyter_\w{1,40}_config\.(py|json)")
"""Files that Python or Jupyter reads and runs by themselves."""
_SHARED_ENV = re.compile(r"\.env\.(example|sample|template|dist)|(example|sample|template)\.env")
_ENV = re.compile(r"\.env.*|.+\.env")
_SECRET_NAME = re.compile(
    r"(client_secret|service[-_]?account)[^/]*\.json|secrets?\.(toml|ya?ml|json)"
    r"|.*\.(tfstate|tfstate\.backup|tfvars)"
)
_PRIVATE_KEY = re.compile(
    r"id_(rsa|dsa|ecdsa|ed25519|ecdsa_sk|ed25519_sk)(?!.*\.pub$).*"
    r"|.*\.(pem|key|p8|p12|pfx|jks|keystore|ppk|kdbx|ovpn)"
)
_PROCESS = re.compile(r"self|thread-self|[0-9]+")


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
        if _ENV.fullmatch(name) and not _SHARED_ENV.fullmatch(name):
            return f"{name} may hold secrets"
        if _SECRET_NAME.fullmatch(name):
            return f"{name} may hold secrets"
        if before == "proc" and _PROCESS.fullmatch(name):
            return "a process's files hold its environment and memory"
        if _PRIVATE_KEY.fullmatch(name):
            return f"{name} may be a private key"
        if write and name in _WRITE_FOLDERS:
            return f"what is in {name} can run programs"
        if write and _can_run(before, name):
            return f"{name} can run programs"
    return ""


def secret_places(home: Path) -> tuple[Path, ...]:
    """Where secrets lie in a home folder, whether or not they exist: what a sandbox hides.

    Args:
        home: The user's home folder.
    """
    data = home / ".local"
    pairs = (
        (data if first in ("share", "state") else home) / first / second
        for first, second in _SECRET_PAIRS
        if first.startswith(".") or first in ("share", "state")
    )
    # Git needs its settings; what it remembers of passwords is another file.
    needed = {home / ".config" / "git"}
    return tuple(
        sorted(
            {
                *(home / name for name in (*_SECRET_FOLDERS, *_SECRET_FILES)),
                *(path for path in pairs if path not in needed),
                home / ".config" / "git" / "credentials",
                data / "share" / "jupyter" / "runtime",
                home / "Library" / "Keychains",
                home / "Library" / "Jupyter" / "runtime",
                home / ".cache" / "huggingface" / "token",
            }
        )
    )


def hidden_name(name: str) -> bool:
    """Whether a sandbox hides a file of this name in the workspace as well.

    Keys and certificates stay visible there: most are made for tests.
    """
    plain = _plain(name)
    return bool(protected((name,), write=False)) and _PRIVATE_KEY.fullmatch(plain) is None


def _can_run(before: str, name: str) -> bool:
    return (
        name in _WRITE_FILES or (before, name) in _WRITE_PAIRS or _RUNS.fullmatch(name) is not None
    )


def _plain(name: str) -> str:
    """The name as a file system that ignores case, width or invisible characters sees it."""
    if not name.isascii():
        shown = unicodedata.normalize("NFKC", name)
        name = "".join(c for c in shown if unicodedata.category(c) != "Cf")
    # On Windows, what follows a colon names a stream of the same file.
    return name.casefold().split(":")[0].rstrip(". ")
