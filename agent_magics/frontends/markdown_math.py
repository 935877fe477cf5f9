r"""TeX in an answer: which of it a page's MathJax may typeset.

Owns the recognition of `$…$`, `$$…$$`, `\(…\)`, `\[…\]` and `\begin{…}…\end{…}` in Markdown, and
the list of TeX commands that can only typeset. MathJax has others that link, style the page, load
extensions, define commands for other cells, or draw outside their line; math with a command that
is not on the list is shown as code.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING

from agent_magics.plain import visible

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_inline import StateInline

LIMIT, DEPTH = 5_000, 20
"""Characters, and nested braces, of one formula that is typeset."""

_COMMANDS = frozenset(
    re.findall(
        r"\S+",
        """
        alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa varkappa
        lambda mu nu xi omicron pi varpi rho varrho sigma varsigma tau upsilon phi varphi chi
        psi omega digamma Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega aleph beth
        gimel hbar hslash ell wp Re Im imath jmath partial nabla infty emptyset varnothing
        forall exists nexists neg lnot top bot angle triangle square diamond star bigstar prime
        backprime dagger ddagger S P degree copyright pm mp times div cdot ast circ bullet cap
        cup uplus sqcap sqcup vee wedge lor land setminus wr oplus ominus otimes oslash odot
        bigcirc amalg ltimes rtimes boxplus boxtimes boxdot leq le geq ge leqslant geqslant ll
        gg lll ggg neq ne equiv sim simeq approx cong doteq propto prec succ preceq succeq
        subset supset subseteq supseteq subsetneq supsetneq sqsubseteq sqsupseteq in ni notin
        not mid nmid parallel perp asymp bowtie models vdash dashv vDash Vdash lesssim gtrsim
        triangleq coloneqq eqqcolon leftarrow rightarrow to gets leftrightarrow Leftarrow
        Rightarrow Leftrightarrow longleftarrow longrightarrow longleftrightarrow Longleftarrow
        Longrightarrow Longleftrightarrow iff implies impliedby mapsto longmapsto hookleftarrow
        hookrightarrow uparrow downarrow updownarrow Uparrow Downarrow nearrow searrow swarrow
        nwarrow rightharpoonup leftharpoonup rightleftharpoons xrightarrow xleftarrow leadsto
        sum prod coprod int iint iiint oint bigcup bigcap bigvee bigwedge bigoplus bigotimes
        bigodot biguplus bigsqcup limits nolimits displaystyle textstyle scriptstyle frac dfrac
        tfrac cfrac binom dbinom tbinom sqrt overset underset stackrel substack over choose
        arccos arcsin arctan arg cos cosh cot coth csc deg det dim exp gcd hom inf ker lg lim
        liminf limsup ln log max min Pr sec sin sinh sup tan tanh operatorname bmod pmod mod
        argmax argmin hat widehat check tilde widetilde acute grave dot ddot dddot breve bar
        overline underline vec overrightarrow overleftarrow overbrace underbrace mathrm mathbf
        mathit mathsf mathtt mathbb mathcal mathfrak mathscr boldsymbol bm pmb text textrm
        textbf textit textsf texttt mbox rm bf it left right middle big Big bigg Bigg bigl bigr
        Bigl Bigr biggl biggr Biggl Biggr bigm Bigm langle rangle lfloor rfloor lceil rceil
        lvert rvert lVert rVert vert Vert lbrace rbrace lbrack rbrack backslash quad qquad ldots
        cdots vdots ddots dots dotsb dotsc colon boxed hline begin end nonumber notag
        """,
    )
)
_ENVIRONMENTS = frozenset(
    re.findall(
        r"\S+",
        """
        align align* aligned alignat gather gather* gathered equation equation* split multline
        multline* cases array matrix pmatrix bmatrix Bmatrix vmatrix Vmatrix smallmatrix
        """,
    )
)
_COMMAND = re.compile(r"\\(?:([A-Za-z]+)|(.)|$)", re.DOTALL)
_CHARACTERS = frozenset("\\ ,;:>|{}()[]$%&#_\n")
_ENVIRONMENT = re.compile(r"\\(?:begin|end)\s*(?:\{([A-Za-z]+\*?)\})?")
# A row or a script can be moved by a length in brackets; negative ones leave their line.
_MOVED = re.compile(r"\\\\\s*\*?\s*\[")
_INLINE = re.compile(
    r"(?s:\$\$(?!\$)(?:\\.|[^\\$])+?\$\$)"
    r"|\$(?![\s$])(?:\\.|[^\\$\n])*?(?:\\.|[^\\$\s])\$(?![\d$])"
    r"|(?s:\\\((?:\\[^()]|[^\\])+?\\\))"
    r"|(?s:\\\[(?:\\[^\[\]]|[^\\])+?\\\])"
    r"|(?s:\\begin\{([a-z]+\*?)\}.+?\\end\{\1\})"
)
_OPENERS = ("$$", "\\[", "\\begin{")


def typesettable(tex: str) -> bool:
    """Whether MathJax may have this formula: every command in it can do nothing but typeset.

    Args:
        tex: With or without its delimiters.
    """
    if len(tex) > LIMIT or visible(tex) != tex or tex.count("\\!") > 8 or _MOVED.search(tex):
        return False
    depths = accumulate({"{": 1, "}": -1}.get(char, 0) for char in tex)
    if max(depths, default=0) > DEPTH:
        return False
    if any(env not in _ENVIRONMENTS for env in _ENVIRONMENT.findall(tex)):
        return False
    return all(
        name in _COMMANDS if name else char in _CHARACTERS or char == "!"
        for name, char in _COMMAND.findall(tex)
    )


def install(md: MarkdownIt) -> None:
    """Teach a parser the tokens `math` (inline) and `math_block`; `content` holds the source."""
    md.inline.ruler.before("escape", "math", _inline)
    alternatives = ["paragraph", "reference", "blockquote", "list"]
    md.block.ruler.before("fence", "math_block", _block, {"alt": alternatives})


def _inline(state: StateInline, silent: bool) -> bool:
    if state.src[state.pos] not in "$\\":
        return False
    found = _INLINE.match(state.src, state.pos, min(state.posMax, state.pos + LIMIT))
    if found is None:
        return False
    if not silent:
        state.push("math", "", 0).content = found.group()
    state.pos = found.end()
    return True


def _block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    first = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    opener = next((o for o in _OPENERS if first.startswith(o)), "")
    if not opener or state.is_code_block(start):
        return False
    last, source = start, first
    while not (whole := _INLINE.fullmatch(source.rstrip())):
        last += 1
        if last >= end or state.isEmpty(last) or state.sCount[last] < state.blkIndent:
            return False
        source += "\n" + state.getLines(last, last + 1, state.blkIndent, False)
        if len(source) > LIMIT:
            return False
    if not silent:
        token = state.push("math_block", "", 0)
        token.content = whole.group()
        token.map = [start, last + 1]
        state.line = last + 1
    return True
