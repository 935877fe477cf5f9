"""Which programs can be made to run other ones, and by which of their options. Pure tables.

Owns what a `*` in a rule must not stand for. Sources: the manual pages of GNU coreutils, findutils,
diffutils, sed, tar, git and bash; https://gtfobins.github.io for programs that start others.
A program that is in no table is taken for what it is: who allows it allows all that it can do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from agent_magics.tools.commands.git import git_limit
from agent_magics.tools.commands.naming import names

_RUNS_OTHERS = names(
    """
    env xargs sudo doas su timeout nice nohup setsid stdbuf time watch parallel command builtin
    exec eval source . trap coproc script ionice chrt taskset chroot unshare nsenter busybox
    toybox strace ltrace perf gdb valgrind flock entr at batch crontab systemd-run runuser
    pkexec sg newgrp setarch linux32 linux64 prlimit fakeroot proot firejail bwrap
    dbus-run-session xvfb-run unbuffer expect tmux screen start-stop-daemon daemonize caffeinate
    rlwrap catchsegv setpriv capsh cgexec numactl hyperfine alias run-parts chpst softlimit
    setuidgid faketime eatmydata torsocks proxychains proxychains4 cpulimit rr logsave ld.so
    ld-linux ld-linux-x86-64.so xterm xdg-open open osascript launchctl systemctl service
    ansible ansible-playbook vagrant jobs fc bind complete compgen compopt hash enable mapfile
    readarray watchexec inotifywait nodemon foreman overmind direnv mise asdf sshpass autossh
    pssh pdsh clush socat ssh mosh rsh rexec nc ncat netcat telnet ftp sftp lftp scp rsync
    ssh-agent ssh-add ssh-keygen gpg gpg2 openssl tar bsdtar zip unzip 7z 7za cpio ar sudoedit
    visudo su-exec gosu tini dumb-init s6-setuidgid ltrace bpftrace stap doppler op aws-vault
    sops chamber dotenv fzf ldd logrotate nmap aria2c yt-dlp py-spy pyenv rbenv nodenv nvm volta
    fnm mail mailx mutt sendmail exim hg bzr cvs fossil jj darcs pandoc
    """
)
_SHELLS = names("sh bash dash zsh ksh mksh ash fish csh tcsh rbash yash pwsh")
_RUNS_CODE = _SHELLS | names(
    """
    nu elvish xonsh powershell cmd py python python-dbg pythonw pypy ipython jupyter bpython
    perl ruby irb node nodejs deno bun bunx tsx ts-node php lua luajit tclsh wish rscript r
    julia ghci runghc runhaskell scala groovy java javac jshell kotlin kotlinc swift go awk gawk
    mawk nawk original-awk ed ex vi vim nvim view rvim gvim vimdiff rview emacs emacsclient nano
    pico joe micro hx less more most man info pager dc m4 gnuplot octave matlab sage sqlite psql
    mysql mariadb mongo mongosh redis-cli tex latex pdftex pdflatex xelatex lualatex latexmk gs
    ghostscript ffmpeg convert magick dotnet csi ocaml racket guile sbcl clisp erl elixir iex
    mix crystal nim zig gcc cc g++ c++ clang ld as dd ranger mc nnn lf gimp inkscape blender
    qemu wine papermill streamlit uvicorn gunicorn flask django-admin celery airflow pdb
    coverage crash tshark tcpdump
    """
)
_READS_ALL = names("rg ripgrep ag ack ugrep sift rgrep")
_BUILDS = names(
    """
    make gmake bmake nmake cmake ctest ninja meson bazel bazelisk buck buck2 scons waf tup just
    task rake cargo rustc rustup mvn mvnw gradle gradlew ant sbt lein bundle bundler gem pod npm
    npx yarn pnpm pnpx corepack lerna nx turbo pip pipx uv uvx poetry pdm hatch rye conda mamba
    micromamba pixi tox nox invoke fab doit easy_install twine flit composer brew port apt
    apt-get aptitude dpkg yum dnf rpm zypper pacman apk snap flatpak nix nix-shell nix-build
    guix stack cabal opam rebar3 docker-compose docker podman buildah nerdctl kubectl helm
    terraform pulumi packer gh glab hub pre-commit sphinx-build mkdocs jekyll hugo husky act
    earthly dagger skaffold tilt autoreconf autoconf automake libtool configure setup.py
    manage.py webpack vite gulp grunt storybook cypress playwright
    """
)
_SHELLS_OWN = names(
    """
    cd pushd popd dirs alias unalias export declare typeset local readonly unset set shopt hash
    enable builtin command eval exec source . trap let read readarray mapfile getopts wait
    ulimit umask bind complete compgen compopt fc history jobs bg fg disown suspend kill exit
    return break continue shift logout caller times
    """
)
"""What the shell does itself, so that it can change what later words mean."""
_LOOKS = names(
    """
    ls cat head tail wc stat file du df grep egrep fgrep diff cmp comm cut tr nl sha256sum
    sha1sum md5sum tree realpath basename dirname readlink find test jq od hexdump
    """
)
"""They only read, so what is merely protected against writing (`.git`) may be named."""


@dataclass(frozen=True, slots=True)
class Options:
    """Options with which a harmless program does more.

    Args:
        does: What it does then.
        short: Letters of one-dash options.
        long: Names of two-dash options; any beginning of them counts, as programs take those.
        words: Whole words.
        bare: Letters in words without a dash, for programs that take options so.
    """

    does: str
    short: str = ""
    long: tuple[str, ...] = ()
    words: frozenset[str] = frozenset()
    bare: str = ""

    def given(self, words: Sequence[str]) -> str:
        """The first of these options among the words, or the empty text."""
        for word in words:
            bare = word[:1] != "-" and any(letter in self.bare for letter in word)
            if bare or word in self.words or self._short(word) or self._long(word):
                return word
        return ""

    def _short(self, word: str) -> bool:
        letters = word.partition("=")[0]
        return word[:1] == "-" != word[1:2] and any(letter in self.short for letter in letters[1:])

    def _long(self, word: str) -> bool:
        name = word[2:].partition("=")[0]
        return word[:2] == "--" and bool(name) and any(o.startswith(name) for o in self.long)


_RECURSIVE = Options(
    "reads every file of a folder, protected ones too",
    "rRd",
    ("recursive", "dereference-recursive", "directories"),
)
_OPTIONS: dict[str, Options] = {
    "find": Options(
        "runs programs or changes files",
        words=names("-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls"),
    ),
    "fd": Options("runs programs", "xX", ("exec", "exec-batch")),
    "fdfind": Options("runs programs", "xX", ("exec", "exec-batch")),
    "sort": Options("runs programs or writes files", "oT", ("output", "compress-program")),
    "shuf": Options("writes files", "o", ("output",)),
    "split": Options("runs programs", "", ("filter",)),
    "csplit": Options("writes files", "f", ("prefix",)),
    "tree": Options("writes files", "oR", ("output",)),
    "file": Options("writes files or runs programs", "CzZ", ("compile", "uncompress")),
    "diff": Options("runs programs or reads whole folders", "lr", ("paginate", "recursive")),
    "grep": _RECURSIVE,
    "egrep": _RECURSIVE,
    "fgrep": _RECURSIVE,
    "zgrep": _RECURSIVE,
    "bat": Options("runs programs", "", ("pager",)),
    "svn": Options("runs programs", "", ("diff-cmd", "diff3-cmd", "editor-cmd", "config-option")),
    "install": Options("runs programs", "s", ("strip-program",)),
    "ps": Options("shows the environment of processes", "oO", ("format",), bare="eoO"),
    "printf": Options("evaluates its words", "v"),
    "test": Options("evaluates its words", "vR"),
    "base64": Options("writes files", "o", ("output",)),
    "xxd": Options("writes files", "r", ("revert",)),
    "date": Options("changes the machine", "s", ("set",)),
    "wget": Options("runs programs", "e", ("execute", "use-askpass", "config")),
    "curl": Options("reads its options from a file", "K", ("config",)),
    "yq": Options("changes files", "i", ("inplace",)),
}
_READ_COMMANDS = names("at batch crontab ssh rsh mosh su parallel busybox")
_JOINS = names("eval ssh rsh mosh watch parallel su runuser sg script flock entr trap batch at")
_GNU = names(
    """
    gtimeout gxargs gfind gsed gsort gsplit gnice gnohup genv gstdbuf gchroot gtest ggrep gegrep
    gfgrep gdate gshuf gcsplit gprintf gtar gtime ginstall gdd gbase64 gcp gmv grm
    """
)
"""Names of GNU's programs where the system has its own: `gfind` is find."""
_VERSION = re.compile(r"-?[0-9]+(?:\.[0-9]+)*$")
_PLAIN_SED = re.compile(r"(?:[0-9]+|\$)(?:,(?:[0-9]+|\$))?p(?:;(?:[0-9]+|\$)(?:,(?:[0-9]+|\$))?p)*")


def program_names(word: str) -> tuple[str, ...]:
    """The names that a program's first word may mean in the tables.

    `/usr/bin/Python3.12` is python for them, `vim.basic` vim and `gsed` sed: paths, versions,
    endings and case are no disguise.
    """
    name = re.split(r"[/\\]", word)[-1].lower()
    stem = name.partition(".")[0] or name
    bare = _VERSION.sub("", stem) or stem
    if bare in _GNU:
        bare = bare[1:]
    return tuple(dict.fromkeys((name, stem, bare)))


def limit(words: Sequence[str]) -> str:
    """Why no pattern with a `*` may allow this command, or the empty text.

    Args:
        words: The program and its words, all known.
    """
    called = program_names(words[0])
    name = called[-1]
    if any(n in _RUNS_OTHERS or n.startswith("git-") for n in called):
        return f"{name} can run other commands"
    if any(n in _RUNS_CODE for n in called):
        return f"{name} runs code that it is given"
    if any(n in _READS_ALL for n in called):
        return f"{name} {_RECURSIVE.does}"
    if any(n in _BUILDS for n in called):
        return f"{name} runs what a project or a package says"
    if called[0] in _SHELLS_OWN and called[0] != "cd":
        return f"{name} changes the shell itself"
    if name == "git":
        return git_limit(words)
    if name == "sed":
        return _sed_limit(words)
    for known in called:
        if known in _OPTIONS and (option := _OPTIONS[known].given(words[1:])):
            return f"{name} {option} {_OPTIONS[known].does}"
    return ""


def _sed_limit(words: Sequence[str]) -> str:
    """Only `sed -n 1,5p FILE…`: its little language can write files and run commands."""
    plain = len(words) > 2 and words[1] == "-n" and _PLAIN_SED.fullmatch(words[2])
    if plain and not any(word.startswith("-") for word in words[3:]):
        return ""
    return "sed can run commands and write files"


def runs_others(words: Sequence[str]) -> bool:
    """Whether other commands may stand among the words, for what forbids them."""
    called = program_names(words[0])
    return any(n in _RUNS_OTHERS or n in _SHELLS or n in ("find", "fd", "fdfind") for n in called)


def joined_again(words: Sequence[str]) -> Sequence[str]:
    """The words that a program joins to one text and gives to a shell, with options before it."""
    for at, word in enumerate(words):
        if word in _JOINS:
            return words[at + 1 :]
    return ()


def runs_code(words: Sequence[str]) -> bool:
    """Whether a text among the words may be run as code."""
    called = program_names(words[0])
    return (
        any(n in _RUNS_CODE or n in _BUILDS for n in called)
        or called[-1] == "sed"
        or (called[-1] == "git" and bool(git_limit(words)))
    )


def runs_what_it_reads(words: Sequence[str], *, fed: bool) -> bool:
    """Whether commands come from a file or an input that nobody sees here.

    Args:
        words: The program and its words.
        fed: Whether something but the terminal is its input.
    """
    filling = any(word.startswith(("-I", "-i", "--replace")) for word in words)
    for start, word in enumerate(words if runs_others(words) else words[:1]):
        called = program_names(word)
        if any(name in _SHELLS or name in ("source", ".") for name in called):
            told = any(w[:1] == "-" != w[1:2] and "c" in w for w in words[start + 1 :])
            if fed or not told:
                return True
        if any(name in _READ_COMMANDS or (name == "xargs" and filling) for name in called) and fed:
            return True
    return False


def changes_shell(words: Sequence[str]) -> bool:
    """Whether later commands of the same line may mean something else behind it."""
    return words[0] in _SHELLS_OWN


def only_looks(words: Sequence[str]) -> bool:
    """Whether the program only reads the files that it names."""
    return words[0] in _LOOKS
