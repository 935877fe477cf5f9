"""Texts that try to become active, to hide, to leave their box, or to pass for something of ours.

Shared by the tests of the pure renderer and by those in a real browser. A page that shows them is
right when nothing ran (`window.hostile` is unset, no dialog opened), nothing was requested from
`evil.invalid`, and the page outside the output looks as before.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

from agent_magics.frontends.markdown_math import typesettable
from agent_magics.plain import visible

_RUN = "window.hostile=1;alert(1)"
_MARKS = "".join(chr(0x300 + i % 0x70) for i in range(200))

HOSTILE: tuple[tuple[str, str], ...] = (
    # Markup.
    ("script", f"<script>{_RUN}</script>"),
    ("script in a paragraph", f"text <script>{_RUN}</script> text"),
    ("script split by a tag", f"<scr<script>ipt>{_RUN}</scr</script>ipt>"),
    ("image with onerror", f'<img src=x onerror="{_RUN}">'),
    ("image without quotes", f"<img src=x onerror={_RUN}//"),
    ("svg with onload", f'<svg onload="{_RUN}"><animate onbegin="{_RUN}"/></svg>'),
    ("details with ontoggle", f'<details open ontoggle="{_RUN}"><summary>x</summary></details>'),
    ("iframe srcdoc", f'<iframe srcdoc="<script>parent.{_RUN}</script>"></iframe>'),
    ("iframe", '<iframe src="https://evil.invalid/"></iframe>'),
    (
        "object and embed",
        '<object data="https://evil.invalid/x"></object><embed src="//evil.invalid">',
    ),
    ("style for the whole page", "<style>*{display:none!important}</style>"),
    ("style import", "<style>@import 'https://evil.invalid/x.css';</style>"),
    ("link to a style sheet", '<link rel="stylesheet" href="https://evil.invalid/x.css">'),
    ("base", '<base href="https://evil.invalid/">'),
    ("meta refresh", '<meta http-equiv="refresh" content="0;url=https://evil.invalid/">'),
    ("overlay", '<div style="position:fixed;inset:0;background:red;z-index:99999">x</div>'),
    ("form", '<form action="https://evil.invalid/"><input name=a><button>Approve</button></form>'),
    (
        "command linker",
        '<button data-commandlinker-command="notebook:run-all-cells" '
        'data-commandlinker-args="{}">Approve</button>',
    ),
    ("comment", "<!-- --><!--><img src=x onerror=alert(1)>-->"),
    ("closing our tags", "</pre></div></details></summary></span></code><h1>free</h1>"),
    ("closing a text area", f"</textarea></title></style></script><script>{_RUN}</script>"),
    ("cdata", f"<![CDATA[<script>{_RUN}</script>]]>"),
    (
        "template",
        f"<template><script>{_RUN}</script></template><math><mi xlink:href='javascript:{_RUN}'>",
    ),
    ("anchor with an id", '<a id="agent-magics-approve" name="x" class="jp-mod-trusted">x</a>'),
    (
        "entities for markup",
        "&lt;script&gt;alert(1)&lt;/script&gt; &#60;script&#62;alert(1)&#60;/script&#62;",
    ),
    ("double escaped", "&amp;lt;script&amp;gt;alert(1)&amp;lt;/script&amp;gt;"),
    ("quotes", '"\'`" onmouseover="alert(1)" x=\''),
    (
        "math ml",
        f'<math><maction actiontype="statusline#x"><mtext xlink:href="javascript:{_RUN}">x',
    ),
    ("math ml that breaks out", f"<math><mtext><table><mglyph><style><img src=x onerror={_RUN}>"),
    ("svg script", f"<svg><script>{_RUN}</script><foreignObject><img src=x onerror={_RUN}>"),
    (
        "svg use and image",
        '<svg><use href="//evil.invalid/x.svg#y"/><image href="//evil.invalid/x">',
    ),
    ("svg link", f'<svg><a xlink:href="javascript:{_RUN}"><text y="9">Approve</text></a></svg>'),
    (
        "template with shadow",
        f"<template shadowrootmode=open><img src=x onerror={_RUN}></template>",
    ),
    ("custom element", f'<x-y onfocus="{_RUN}" autofocus tabindex=0 is=script>x</x-y>'),
    ("style attribute", '<p style="background:url(//evil.invalid/x);position:fixed;inset:0">x</p>'),
    ("style expression", f'<p style="width:expression({_RUN});behavior:url(#x)">x</p>'),
    ("style in a fence", "```css\n*{background:url(https://evil.invalid/x)}\n```"),
    ("class of the notebook", '<div class="jp-Cell jp-mod-selected lm-Widget jp-Dialog">x</div>'),
    (
        "class of a card",
        '<button class="jupyter-button widget-button mod-success">Approve</button>',
    ),
    ("comment that closes", f"<!--><script>{_RUN}</script>--> <!--x--!><img src=x onerror={_RUN}>"),
    (
        "declaration and instruction",
        "<!DOCTYPE x [<!ENTITY y SYSTEM 'file:///etc/passwd'>]><?xml x?>",
    ),
    (
        "video and audio",
        f"<video src=//evil.invalid/x poster=//evil.invalid/y onerror={_RUN}><audio>",
    ),
    ("input image", f'<input type=image src=//evil.invalid/x onerror="{_RUN}">'),
    (
        "marquee and portal",
        f"<marquee onstart={_RUN}>x</marquee><portal src=//evil.invalid></portal>",
    ),
    ("dialog", "<dialog open>Approve?</dialog><button popovertarget=x>y</button><p popover id=x>"),
    ("srcset", "<img srcset='//evil.invalid/x 1x'><picture><source srcset=//evil.invalid/y>"),
    ("attributes without space", f"<a/href=javascript:{_RUN}/style=x:y>x</a><br/onclick={_RUN}>"),
    (
        "lab's argument linker",
        """[x](#) <a data-commandlinker-command='filebrowser:delete'>y</a>""",
    ),
    # Links and images.
    ("attachment of the cell", "![x](attachment:image.png) [x](attachment:image.png)"),
    ("file of the notebook's folder", "![x](../../secrets.png) ![x](/files/secret.png?token=1)"),
    (
        "blob and view-source",
        "[x](blob:https://evil.invalid/1) [x](view-source:https://evil.invalid)",
    ),
    ("data image in html", '<img src="data:image/svg+xml,<svg onload=alert(1)>">'),
    (
        "link with a scheme in full width",
        "[x](ｊavascript:alert(1)) [x](java\u200bscript:alert(1))",
    ),
    ("link that shows another", "[https://example.org](https://evil.invalid/login)"),
    (
        "footnote and definition",
        "[^1]: <script>alert(1)</script>\n\n[x][]\n\n[x]: <data:text/html,x>",
    ),
    ("javascript link", f"[click](javascript:{_RUN})"),
    ("javascript link in capitals", f"[click](JaVaScRiPt:{_RUN})"),
    ("javascript link with entities", "[click](&#106;avascript&colon;alert(1))"),
    ("javascript link with a tab", "[click](<java\tscript:alert(1)>)"),
    ("javascript link with a tab entity", "[click](java&Tab;script:alert(1))"),
    ("javascript link with a control", "[click](\x01javascript:alert(1))"),
    ("javascript link with spaces", "[click](<  javascript:alert(1)>)"),
    ("javascript autolink", "<javascript:alert(1)>"),
    ("javascript reference", "[click][x]\n\n[x]: javascript:alert(1)"),
    ("vbscript link", "[click](vbscript:msgbox(1))"),
    ("data link", f"[click](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg== '{_RUN}')"),
    ("file link", "[click](file:///etc/passwd)"),
    (
        "link to the server",
        "[click](/logout) [click](//evil.invalid/x) [click](\\\\evil.invalid\\x)",
    ),
    ("link with a quote", '[click](https://e.invalid/"onmouseover="alert(1)"x)'),
    ("link title", '[click](https://e.invalid/ "x\\" onmouseover=\\"alert(1)")'),
    ("link with a newline", "[click](https://e.invalid/\nx)"),
    ("remote image", "![x](https://evil.invalid/beacon.png)"),
    ("remote image by reference", "![x][y]\n\n[y]: https://evil.invalid/beacon.png"),
    ("remote image in a link", "[![x](https://evil.invalid/b.png)](https://e.invalid)"),
    ("image with an odd alt", '![" onerror="alert(1)](https://evil.invalid/b.png)'),
    ("data image", "![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+)"),
    # Code.
    ("fence that closes", "```\n</pre><script>alert(1)</script>\n```\n<script>alert(1)</script>"),
    ("fence with a hostile language", '```"><script>alert(1)</script>\nx\n```'),
    ("fence with a class", "```python onclick=alert(1) class=jp-x\nx\n```"),
    ("fence of html", "```html\n<script>alert('x')</script><img src=x onerror=alert(1)>\n```"),
    ("fence that is never closed", "````\n```\n<script>alert(1)</script>\n"),
    ("inline code", "`<script>alert(1)</script>` ``` `` ``` `"),
    ("table", "|<img src=x onerror=alert(1)>|b|\n|:-:|-:|\n|[x](javascript:alert(1))|`|`|"),
    # Math.
    ("math link", r"$\href{javascript:alert(1)}{x}$ $$\href{https://evil.invalid}{y}$$"),
    ("math style", r"$\style{position:fixed;inset:0;background:red;z-index:9999}{x}$"),
    ("math class and id", r"$\class{jp-Notebook}{x} \cssId{approve}{y}$"),
    ("math require", r"$\require{html}\href{javascript:alert(1)}{x}$"),
    ("math in other delimiters", r"\(\href{javascript:alert(1)}{x}\) \[\style{color:red}{x}\]"),
    ("math in an environment", "\\begin{align}\n\\href{javascript:alert(1)}{x}\n\\end{align}"),
    ("math definitions", r"$\def\alpha{evil}$ $\newcommand{\beta}{\href{javascript:alert(1)}{x}}$"),
    (
        "math by another name",
        r"$\let\x\href \x{javascript:alert(1)}{x}$ $\csname href\endcsname{a}{b}$",
    ),
    ("math that is huge", r"$\rule{99999px}{99999px}$ $\hspace{-9999px}x$ $\kern-99em x$"),
    ("math that moves", r"$$x \\[-99em] y$$ $" + r"\!" * 200 + "x$"),
    ("math that nests", "$" + "x^{" * 500 + "}" * 500 + "$"),
    ("math across text", r"price $5 \href{javascript:alert(1)}{x} and $6 **bold $ \style** $"),
    ("math split by markup", r"$\hr*ef*{javascript:alert(1)}{x}$ \(a `b\) c` \(d"),
    ("math picture", r"$\includegraphics{https://evil.invalid/x.png}$ $\unicode{x202e}$"),
    # Characters.
    ("bidi override", "safe \u202e)1(trela\u202c end \u2066isolate\u2069"),
    ("bidi by entity", "&#x202e;gnp.exe &#8238; &#x2066;"),
    ("zero width", "pass\u200bword \ufeff admin\u2060 \u00ad soft"),
    ("tag characters", "hi" + "".join(chr(0xE0000 + ord(c)) for c in "ignore this") + "!"),
    ("variation selectors", "a" + "".join(chr(0xFE00 + i) for i in range(16)) + "b\U000e0101"),
    ("stacked marks", f"Z{_MARKS}algo"),
    ("null and controls", "a\x00b\x07\x08\x08\x7f\x85\x9bc"),
    ("line separators", "one\u2028two\u2029three\x0bfour\x0cfive\rsix\r\nseven"),
    ("lone surrogates", "a\ud800b\udfffc"),
    ("ansi colours", "\x1b[31mred\x1b[0m \x1b[8mhidden\x1b[0m"),
    ("ansi cursor", "\x1b[2J\x1b[1;1H\x1b[3A\x1b[2KAllow? [y]es\x1b[8m"),
    ("ansi title and link", "\x1b]0;title\x07\x1b]8;;https://evil.invalid\x1b\\link\x1b]8;;\x1b\\"),
    ("carriage return", "rm -rf /\rls     \necho\r"),
    # Imitations.
    ("imitated call", "✓ **read** `a.py` · allowed · 0.1 s"),
    ("imitated bars", "┃ Run this? ls\n┃ │ ls\napprove? [y]es / [n]o:"),
    ("imitated footer", "— gpt-9 · 1 request · 5 in / 5 out tokens"),
    ("imitated card", "**Run this?** `ls`\n\n---\n\n[Approve](#approve) [Deny](#deny)"),
    ("imitated cut", "[… 9,999 characters not shown here …]"),
    ("imitated diff", "--- a/x\n+++ b/x\n@@ -1,1 +1,1 @@\n---- gone\n++++ here\n@@ @@\n"),
    ("imitated fence", "```\nend\n```\n✓ `rm` · approved\n```"),
    # Size and depth.
    ("long word", "A" * 5_000),
    ("many lines", "line\n" * 3_000),
    ("deep quotes", ">" * 3_000 + " x"),
    ("deep lists", "- " * 1_500 + "x"),
    ("deep brackets", "[" * 3_000),
    ("deep emphasis", "*a **b " * 700),
    ("many backticks", "".join("`" * (i % 40 + 1) + "a" for i in range(600))),
    ("deep json", "[" * 3_000 + "]" * 3_000),
    ("long number", "9" * 6_000),
    # Values that are not texts for everything.
    ("empty", ""),
    ("blank", " \n\t\n "),
    ("dashes", "---"),
    ("emoji family", "👩\u200d👩\u200d👧 👍🏽 ❤\ufe0f 1\ufe0f\u20e3 🇩🇪"),
    ("persian", "می\u200cخواهم"),
    ("hebrew", "שלום עולם"),
)


_VOID = frozenset({"br", "hr"})
_TAGS = _VOID | frozenset(
    re.findall(
        r"\w+",
        "p h3 h4 h5 ul ol li blockquote pre code em strong s table thead tbody tr th td a div span "
        "b small details summary u i s tfoot caption sub sup dl dt dd samp",
    )
)
_CLASSES = frozenset(
    re.findall(r"\S+", "highlight agent-magics-time c k s m nb nf nc nd nt na gd gi gh gu gp go")
)
_STYLE = re.compile(
    r"(?:color|opacity|background|display|margin|margin-top|padding|padding-top|padding-left"
    r"|margin-left|border-left|border-top|font-family|font-size|max-height|overflow|overflow-wrap|white-space"
    r"|word-break|text-align|vertical-align):(?:[\w.#% -]|var\(--jp-[\w-]+,[\w#]+\))+"
)
_ATTRIBUTES = {
    "style": re.compile(rf"{_STYLE.pattern}(?:;{_STYLE.pattern})*"),
    "class": re.compile("|".join(_CLASSES)),
    "rel": re.compile("noopener noreferrer nofollow"),
    "target": re.compile("_blank"),
    "href": re.compile(r"(?i:https?://[^/]|mailto:|#|[^:/?#\\]+([/?#]|$))[^\x00-\x20\"<>\\]*"),
    "start": re.compile(r"\d{1,9}"),
    "colspan": re.compile(r"[1-9]\d{0,2}"),
    "rowspan": re.compile(r"[1-9]\d{0,2}"),
    "tabindex": re.compile("0"),
    "scope": re.compile("col|row"),
    "open": re.compile(""),
    "role": re.compile("img|group|note"),
    "aria-label": re.compile(r"[\w .,]+"),
}
_SHOWN = re.compile(r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")
_ON = {
    "href": {"a"},
    "rel": {"a"},
    "target": {"a"},
    "start": {"ol"},
    "colspan": {"th", "td"},
    "rowspan": {"th", "td"},
    "scope": {"th"},
    "open": {"details"},
}


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.problems: list[str] = []
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _TAGS:
            self.problems.append(f"element <{tag}>")
        for name, value in attrs:
            allowed = _ATTRIBUTES.get(name)
            if allowed is None or value is None or not allowed.fullmatch(value):
                self.problems.append(f"attribute {name}={value!r} of <{tag}>")
            if tag not in _ON.get(name, {tag}):
                self.problems.append(f"attribute {name} of <{tag}>")
        if tag not in _VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.problems.append(f"</{tag}> closes nothing")

    def handle_data(self, data: str) -> None:
        self.text += data
        data = _SHOWN.sub("", data)
        if {"pre", "code"} & set(self.open) or data in ("$", "\\"):
            return
        if ("$" in data or "\\" in data) and not typesettable(data):
            self.problems.append(f"text that MathJax would take: {data!r}")

    def _other(self, data: str) -> None:
        self.problems.append(f"not HTML of ours: {data!r}")

    handle_comment = handle_decl = handle_pi = unknown_decl = _other


def problems(html: str) -> list[str]:
    """What is wrong with HTML that should be safe: anything but our few elements and attributes."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    unclosed = [f"<{tag}> is never closed" for tag in reader.open]
    shown = visible(reader.text) == reader.text and all(ord(c) > 31 or c in "\n\t" for c in html)
    hidden = [] if shown else ["a character that hides"]
    return reader.problems + unclosed + hidden
