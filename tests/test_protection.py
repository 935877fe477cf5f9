"""Which names are protected, in every spelling, for every tool."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_magics.tools.protection import hidden_name, protected, secret_places
from agent_magics.tools.workspace import Workspace
from tests.test_tools_kit import Kit

SECRETS = [
    *(".env", ".env.local", "prod.env", "config/.env.production", ".envrc", ".ENV"),
    *(
        ".ssh/id_ed25519",
        ".ssh/known_hosts",
        "id_rsa",
        "id_ecdsa_sk",
        "server.pem",
        "a.p12",
        "x.p8",
    ),
    *(".aws/credentials", ".azure/x", ".kube/config", ".gnupg/x", ".password-store/a.gpg"),
    *(".netrc", "_netrc", ".pypirc", ".npmrc", ".pgpass", ".git-credentials", ".my.cnf", ".boto"),
    *(
        ".docker/config.json",
        ".config/gcloud/credentials.db",
        ".config/gh/hosts.yml",
        "gh/hosts.yml",
    ),
    *(".config/git/credentials", ".config/op/x", ".config/google-chrome/Default/Cookies"),
    *(".jupyter/jupyter_server_config.json", ".ipython/profile_default/startup/00.py"),
    *(".ipython/profile_default/history.sqlite", ".local/share/jupyter/runtime/kernel-1.json"),
    *(".bashrc", ".zshrc", ".profile", ".bash_history", ".python_history", ".psql_history"),
    *(".config/agent_magics/config.yaml", ".local/share/agent_magics/sessions/1.jsonl"),
    *(".cargo/credentials.toml", ".m2/settings.xml", ".terraform.d/credentials.tfrc.json"),
    *("terraform.tfstate", "prod.tfvars", "secrets.toml", ".streamlit/secrets.toml", "secret.yaml"),
    *("client_secret_1.json", "service-account.json", ".vault-token", ".databrickscfg"),
    *(
        "proc/1/environ",
        "proc/self/environ",
        "proc/self/fd/3",
        "proc/77/root/etc/shadow",
        "dev/fd/3",
    ),
    *("etc/shadow", ".huggingface/token", ".cache/huggingface/token", ".kaggle/kaggle.json"),
]
RUN = [
    *(".git/hooks/pre-commit", ".git/config", ".hg/hgrc", ".gitmodules", ".gitattributes"),
    *(".gitconfig", ".vscode/tasks.json", ".vscode/settings.json", ".idea/workspace.xml"),
    *(".agent_magics/config.yaml", ".pre-commit-config.yaml", ".husky/pre-commit"),
    *("sitecustomize.py", "usercustomize.py", "lib/x.pth", "ipython_config.py"),
    *("jupyter_server_config.py", ".devcontainer/devcontainer.json", ".mcp.json", ".inputrc"),
    *(".claude/settings.json", ".cursor/mcp.json", ".cargo/config.toml", ".vimrc"),
]
HARMLESS = [
    *(".env.example", ".env.sample", "example.env", "src/env.py", "environment.yml", "keys.py"),
    *("id_rsa.pub", "id_map.csv", "monkey.py", "secrets.py", "secret_santa.md", "tokens.json"),
    *("process/1/x", "docs/proc.md", "dev/notes", "config.json", "settings.py", "conftest.py"),
    *(".github/workflows/ci.yml", ".gitignore", "pyproject.toml", ".claude/skills/a/SKILL.md"),
    *(".agents/skills/a/SKILL.md", "path.txt", "data.pthx", "share/notes", "gh/readme.md"),
]


@pytest.mark.parametrize("path", SECRETS)
def test_what_may_hold_a_secret_needs_a_word_to_be_read_and_written(path):
    assert protected(path.split("/"), write=False)
    assert protected(path.split("/"), write=True)
    assert protected(("home", "bob", *path.split("/")), write=False)


@pytest.mark.parametrize("path", RUN)
def test_what_runs_programs_by_itself_may_be_read_but_not_written(path):
    assert not protected(path.split("/"), write=False)
    assert protected(path.split("/"), write=True)


@pytest.mark.parametrize("path", HARMLESS)
def test_ordinary_names_are_free(path):
    assert not protected(path.split("/"), write=True)


@pytest.mark.parametrize(
    "spell",
    [
        str.upper,
        str.title,
        lambda name: name + ".",
        lambda name: name + " ",
        lambda name: name + "::$DATA",
        lambda name: name[:2] + "\u200b" + name[2:],
        lambda name: "".join(chr(ord(c) + 0xFEE0) if c.isalpha() else c for c in name),
    ],
)
@pytest.mark.parametrize("name", [".env", ".netrc", ".ssh", ".bashrc", "sitecustomize.py"])
def test_a_name_is_known_as_file_systems_know_it(spell, name):
    assert protected((spell(name),), write=True)


def test_links_to_what_is_protected_are_followed_by_every_tool(tmp_path):
    kit = Kit(tmp_path)
    kit.file(".env", "A=1")
    (tmp_path / "plain.txt").symlink_to(".env")
    (tmp_path / "folder").symlink_to(tmp_path / ".ssh")
    for name, arguments in (
        ("read", {"path": "plain.txt"}),
        ("grep", {"pattern": "x", "path": "plain.txt"}),
        ("write", {"path": "plain.txt", "content": "x"}),
        ("edit", {"path": "folder/../plain.txt", "old": "a", "new": "b"}),
        ("ls", {"path": "folder"}),
        ("read", {"path": "folder/id_rsa"}),
        ("glob", {"pattern": "folder/*"}),
    ):
        assert kit.outside(name, **arguments), (name, arguments)


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no /proc here")
@pytest.mark.parametrize("path", ["/proc/self/environ", "/proc/self/cwd/../x", "/dev/fd/0"])
def test_files_of_processes_need_a_word_even_where_everything_is_the_workspace(path):
    assert Workspace(lambda: Path("/")).outside(path, write=False) or not os.path.realpath(
        path
    ).startswith(("/proc", "/dev/fd"))
    assert Workspace(lambda: Path("/")).outside("/proc/self/environ", write=False)


def test_grep_leaves_out_what_the_folder_above_its_start_protects(tmp_path):
    kit = Kit(tmp_path)
    kit.file("dot/.config/gh/x.yml", "needle")
    kit.file("dot/.config/other.yml", "needle")
    kit.file(".docker/config.json", "needle")
    text = kit.text("grep", pattern="needle", path="dot/.config")
    assert "other.yml" in text
    assert "x.yml" not in text
    assert "needle" not in kit.text("grep", pattern="needle", path=".docker")


def test_the_places_of_a_home_folder_are_those_that_its_names_protect():
    home = Path("/home/bob")
    places = secret_places(home)
    assert home / ".ssh" in places
    assert home / ".local" / "share" / "agent_magics" in places
    for place in places:
        assert protected(place.relative_to(home).parts, write=False), place
    assert home / ".config" / "git" not in places, "git needs its settings"


@pytest.mark.parametrize(
    ("name", "hidden"),
    [(".env", True), (".netrc", True), ("ca.pem", False), ("a.py", False), (".git", False)],
)
def test_a_sandbox_hides_secrets_of_the_workspace_but_not_its_test_certificates(name, hidden):
    assert hidden_name(name) is hidden
