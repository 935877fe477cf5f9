"""Findings with controls to sort and filter them, in a notebook with a kernel behind it.

Owns the controls. They are plain widgets of the cell that asked for them; *Keep this view* puts the
static table in their place, as it is drawn elsewhere, and nothing live stays in the notebook. Runs
between cells, when the kernel itself brings the widgets' messages.
"""

from __future__ import annotations

from agent_magics.findings import SEVERITIES, Findings
from agent_magics.frontends import theme
from agent_magics.frontends.card import WIDGET_VIEW
from agent_magics.frontends.findings import findings_block, findings_html
from agent_magics.frontends.notebook import METADATA_KEY, Outputs, published
from agent_magics.frontends.publisher import Bundle

ORDERS = (
    ("by severity", ()),
    ("by file", ("file", "line")),
    ("by category", ("category", "severity", "file", "line")),
)


class FindingsBrowser:
    """Controls above a table.

    Args:
        findings: What there is to look through.
        outputs: The cell that shows them.
    """

    def __init__(self, findings: Findings, outputs: Outputs) -> None:
        import ipywidgets

        self._all, self._outputs = findings, outputs
        self._slot = ""
        counts = ((f"{name} ({findings.counts[name]})", (name,)) for name in SEVERITIES)
        every = (f"all ({len(findings)})", SEVERITIES)
        narrow = ipywidgets.Layout(width="auto")
        self.severity = ipywidgets.Dropdown(options=[every, *counts], layout=narrow)
        self.file = ipywidgets.Text(placeholder="file: shop or *.py", layout=narrow)
        self.contains = ipywidgets.Text(placeholder="text", layout=narrow)
        self.order = ipywidgets.Dropdown(options=ORDERS, layout=narrow)
        self.keep = ipywidgets.Button(description="Keep this view", layout=narrow)
        self.table = ipywidgets.HTML()
        # The look of tables in outputs, which widgets do not have by themselves.
        self.table.add_class("jp-RenderedHTMLCommon")
        choices = (self.severity, self.file, self.contains, self.order)
        row = ipywidgets.HBox([*choices, self.keep], layout=ipywidgets.Layout(flex_flow="row wrap"))
        self._box = ipywidgets.VBox([row, self.table])
        for choice in choices:
            choice.observe(lambda _change: self._draw(), "value")
        self.keep.on_click(lambda _button: self.close())
        self._draw()

    def show(self) -> None:
        """Put it into the cell; a front end without widgets shows the static table."""
        view = {"version_major": 2, "version_minor": 0, "model_id": self._box.model_id}
        bundle, metadata = self._static()
        self._slot = self._outputs.show({**bundle, WIDGET_VIEW: view}, metadata)

    def chosen(self) -> Findings:
        """What the controls leave, in their order."""
        file = self.file.value.strip()
        return self._all.filter(
            severity=self.severity.value,
            file=file if "*" in file or not file else f"*{file}*",
            contains=self.contains.value.strip(),
        ).sorted(*self.order.value)

    def close(self) -> None:
        """Leave what is chosen as a static table, and take the controls away."""
        self._outputs.replace(self._slot, *self._static())
        for widget in (*self._box.children[0].children, *self._box.children, self._box):
            for part in (widget, getattr(widget, "style", None), widget.layout):
                if part is not None:
                    part.close()

    def _draw(self) -> None:
        chosen = self.chosen()
        none = theme.line("None of the findings fits.")
        self.table.value = findings_html(chosen) if chosen or not self._all else none

    def _static(self) -> tuple[Bundle, Bundle]:
        block = findings_block("", self.chosen())
        return published(block), {METADATA_KEY: dict(block.metadata)}
