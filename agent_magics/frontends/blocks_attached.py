"""What went with a prompt, as one line that unfolds to the whole of it.

Owns how it is named and drawn. What a model was sent is never hidden wholly, so no setting leaves
this block out.
"""

from __future__ import annotations

from agent_magics.context import estimated_tokens, sent_text
from agent_magics.frontends import theme
from agent_magics.frontends.blocks_block import Block, fit, metadata
from agent_magics.frontends.blocks_payload import RECORD, brief, fenced
from agent_magics.frontends.summary import count, cut, safe_line
from agent_magics.messages import User
from agent_magics.plain import visible

TITLE = 120
"""Characters of an attachment's title that are shown."""


def attached_block(key: str, prompt: User) -> Block:
    """The attachments and pictures of a prompt that has some.

    Args:
        key: The block's place.
        prompt: As it was sent.
    """
    titles = [safe_line(item.title, TITLE) for item in prompt.attachments]
    if pictures := len(prompt.images):
        titles.append("1 picture" if pictures == 1 else f"{pictures} pictures")
    tokens = estimated_tokens(sent_text(prompt)) - estimated_tokens(prompt.text)
    size = f" (about {count(tokens)} tokens)" if prompt.attachments else ""
    words = f"Sent with the prompt: {'; '.join(titles)}{size}"
    texts = [cut(visible(item.text), RECORD) for item in prompt.attachments]
    named = list(zip(titles, texts, strict=False))
    body = "".join(theme.label(title) + theme.text_box(text, "attached") for title, text in named)
    head = f"{theme.mark('↑', 'sent', 'plain')} {theme.muted(words)}"
    html = theme.fold(head, body) if body else theme.line(head)
    # Titles first: a list of what was sent is read where nothing unfolds.
    plain = "\n\n".join([f"↑ {words}", *(fenced(brief(text)) for text in texts)])
    facts = metadata(
        "attached",
        attached=[
            {"title": fit(item.title, 200), "characters": len(item.text)}
            for item in prompt.attachments
        ],
        pictures=pictures or None,
    )
    return Block(key, html, plain, facts)
