"""Pages as they are found on the web, written for the tests: one of each common kind."""

# ruff: noqa: E501  # pages have long lines

from __future__ import annotations

ARTICLE = """\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<title>Rivers are warming &mdash; The Daily Example</title>
<meta name="author" content="Ada Writer">
<meta property="article:published_time" content="2026-10-02T08:00:00Z">
<script type="application/ld+json">{"@type": "NewsArticle"}</script>
<style>.lead { font-weight: bold }</style></head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header><div class="logo"><a href="/"><img src="/logo.svg" alt="The Daily Example"></a></div>
<nav><ul><li><a href="/world">World</a></li><li><a href="/science">Science</a></li></ul></nav></header>
<div class="cookie-banner" role="dialog" aria-hidden="true">We value your privacy <button>Accept</button></div>
<main id="content"><article>
<header><h1>Rivers are warming</h1><p>By Ada Writer, <time datetime="2026-10-02">2 October 2026</time></p></header>
<p class="lead">The mean temperature of 42 rivers rose by 1.3&nbsp;&deg;C since 1990, a
<a href="../data/rivers.html?x=1&amp;y=2">study</a> says.</p>
<figure><img src="r.jpg" alt="A river at dawn"><figcaption>The Example river.</figcaption></figure>
<p>"We did not expect this," said&#8203; Bo Reader.<br>The data are open.</p>
<aside class="note"><p>The study covers <em>42</em> of 300 rivers.</p></aside>
<blockquote><p>Half of them are <strong>regulated</strong>.</p></blockquote>
</article>
<section><h2>Related</h2><ul><li><a href="/a">Lakes</a></li><li><a href="/b">Snow</a></li></ul></section>
</main>
<footer><p>&copy; 2026 The Daily Example</p></footer>
<script>track("x < y")</script></body></html>
"""
ARTICLE_TEXT = """\
# Rivers are warming

By Ada Writer, 2 October 2026

The mean temperature of 42 rivers rose by 1.3 °C since 1990, a \
[study](https://news.example.org/data/rivers.html?x=1&y=2) says.

[image: A river at dawn]

The Example river.

"We did not expect this," said Bo Reader.
The data are open.

The study covers 42 of 300 rivers.

> Half of them are regulated.

## Related

- [Lakes](https://news.example.org/a)
- [Snow](https://news.example.org/b)"""

REFERENCE = """\
<html><head><title>json — Example 1.0</title></head><body>
<div role="navigation"><a href="index.html">index</a></div>
<div class="body" role="main">
<section id="json"><h1>json<a class="headerlink" href="#json" title="Link">¶</a></h1>
<p>Use <code class="docutils"><span class="pre">dumps()</span></code> to write. See also
<a class="reference internal" href="pickle.html#x"><code>pickle</code></a>.</p>
<div class="highlight-python3"><div class="highlight"><pre><span></span><span class="gp">&gt;&gt;&gt; </span><span class="kn">import</span> json
<span class="gp">&gt;&gt;&gt; </span>json.dumps([1, <span class="s">&quot;a&quot;</span>])
&#39;[1, &quot;a&quot;]&#39;
</pre></div></div>
<dl class="py function"><dt><code>json.dumps(obj, *, indent=None)</code></dt>
<dd><p>Write <em>obj</em> as text.</p><ol start="3"><li>third</li><li value="4">fourth<ul><li>below</li></ul></li></ol></dd></dl>
<table><thead><tr><th>Python</th><th>JSON</th></tr></thead>
<tbody><tr><td>dict</td><td>object</td></tr><tr><td>a | b</td><td><p>one</p><p>two</p></td></tr></tbody></table>
</section></div></body></html>
"""
REFERENCE_TEXT = """\
# json

Use `dumps()` to write. See also [`pickle`](https://docs.example.org/3/pickle.html#x).

```
>>> import json
>>> json.dumps([1, "a"])
'[1, "a"]'
```

`json.dumps(obj, *, indent=None)`

: Write obj as text.

3. third
4. fourth
  - below

| Python | JSON |
| --- | --- |
| dict | object |
| a \\| b | one two |"""

FORUM = """\
<!doctype html><title>How to read a CSV? - Q&amp;A</title>
<div id=question><h1>How to read a CSV?</h1><div class=votes>12</div>
<p>I tried <code>open()</code> but<pre class="lang-py s-code-block"><code>for line in open("a.csv"):
    print(line.split(","))
</code></pre>
<p>fails for quoted commas.
<div class=answer><p>Use <code>csv</code>:<pre><code class="language-python">import csv
</code></pre><p>It is in the <a href="https://docs.example.org/csv">standard library</a>.</div>
<form action=/login><input name=user><select><option>a<option>b</select><button>Log in</button></form>
"""
FORUM_TEXT = """\
# How to read a CSV?

12

I tried `open()` but

```py
for line in open("a.csv"):
    print(line.split(","))
```

fails for quoted commas.

Use `csv`:

```python
import csv
```

It is in the [standard library](https://docs.example.org/csv)."""

OLD = """\
<HTML><HEAD><TITLE>Bob's page</TITLE></HEAD><BODY BGCOLOR=#FFFFFF>
<CENTER><FONT SIZE=+3>Welcome!</FONT></CENTER><HR>
<TABLE BORDER=0><TR><TD WIDTH=100><A HREF=a.html>One</A><BR><A HREF=b.html>Two</A></TD>
<TD><P>First paragraph of the old page.<P>Second paragraph, <B>bold<I>both</B>italic</I>.
<TABLE BORDER=1><TR><TH>Year<TH>Sales<TR><TD>1998<TD>10<TR><TD COLSPAN=2>none later</TABLE>
<UL><LI>apples<LI>pears</UL></TD></TR></TABLE></BODY></HTML>
"""
OLD_TEXT = """\
Welcome!

---

[One](http://old.example.org/~bob/a.html)
[Two](http://old.example.org/~bob/b.html)

First paragraph of the old page.

Second paragraph, boldbothitalic.

| Year | Sales |
| --- | --- |
| 1998 | 10 |
| none later |  |

- apples
- pears"""

WIKI = """\
<!DOCTYPE html><html><head><title>Water - Wiki</title><base href="https://wiki.example.org/wiki/"></head>
<body><div id="mw-navigation"><nav>Main page</nav></div><main>
<h1>Water</h1><p><b>Water</b> is H<sub>2</sub>O; about 1.386&times;10<sup>9</sup> km<sup>3</sup> exist.<sup
id="cite_ref-1"><a href="#cite_note-1">[1]</a></sup> It boils at <math alttext="100^\\circ"><mi>100</mi></math>
<span style="display:none">({{coord}})</span> <a href="Steam">steam</a>. It was <del>dry</del> wet, <q>very</q>.</p>
<table class="infobox"><caption>Facts</caption><tr><th>Formula</th><td>H<sub>2</sub>O</td></tr>
<tr><th>Boils</th><td>100&nbsp;°C</td></tr></table>
<h2>See also</h2><details><summary>More</summary><p>Ice melts at 0 °C, which everybody knows by heart.</p></details>
<ol class="references"><li id="cite_note-1">Author (2020).</li></ol></main></body></html>
"""
WIKI_TEXT = """\
# Water

Water is H_2O; about 1.386×10^9 km^3 exist.[1] It boils at 100 \
[steam](https://wiki.example.org/wiki/Steam). It was ~~dry~~ wet, “very”.

Facts

| Formula | H_2O |
| --- | --- |
| Boils | 100 °C |

## See also

More

Ice melts at 0 °C, which everybody knows by heart.

1. Author (2020)."""

INDEX = """\
<!doctype html><html><head><title>Index</title></head><body>
<nav><ul><li><a href="1.html">Chapter 1, in which we meet the people of the story</a>
<li><a href="2.html">Chapter 2, in which they leave the house and get lost</a>
<li><a href="3.html">Chapter 3, in which they are found, and all ends well</a></ul></nav>
<footer>made by hand</footer></body></html>
"""
INDEX_TEXT = """\
- [Chapter 1, in which we meet the people of the story](https://book.example.org/1.html)
- [Chapter 2, in which they leave the house and get lost](https://book.example.org/2.html)
- [Chapter 3, in which they are found, and all ends well](https://book.example.org/3.html)

made by hand"""

APP = """\
<!doctype html><html><head><title>App</title><script src="/main.js"></script></head>
<body><div id="root"></div><noscript>Enable JavaScript.</noscript></body></html>
"""

CARDS = """\
<!doctype html><title>Blog</title><body>
<a href="/p/1"><h2>First post</h2><p>About one.</p></a>
<a href="/p/2"><h2>Second post</h2><p>About two.</p></a>
<a href="javascript:void(0)">Menu</a> <a href="mailto:a@b.org">Mail</a> <a href="#top">Top</a>
<a href="data:text/html,x">Data</a> <a href="https://x.org/%s">Long</a>
""" % ("y" * 900)
CARDS_TEXT = """\
## [First post](https://blog.example.org/p/1)

[About one.](https://blog.example.org/p/1)

## [Second post](https://blog.example.org/p/2)

[About two.](https://blog.example.org/p/2)

Menu Mail Top Data Long"""

PAGES = {
    "article": (ARTICLE, "https://news.example.org/2026/rivers", ARTICLE_TEXT),
    "reference": (REFERENCE, "https://docs.example.org/3/json.html", REFERENCE_TEXT),
    "forum": (FORUM, "https://qa.example.org/q/1", FORUM_TEXT),
    "old": (OLD, "http://old.example.org/~bob/", OLD_TEXT),
    "wiki": (WIKI, "https://wiki.example.org/w/Water", WIKI_TEXT),
    "index": (INDEX, "https://book.example.org/", INDEX_TEXT),
    "app": (APP, "https://app.example.org/", ""),
    "cards": (CARDS, "https://blog.example.org/", CARDS_TEXT),
}
"""A page's source, its address, and the text that a reader should get."""
