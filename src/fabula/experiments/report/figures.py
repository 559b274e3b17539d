"""The drawings of a report, each as SVG and PNG: bars, curves, and cost against quality."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from fabula.experiments.report.colours import LIGHT, SERIES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 5.2
"""Inches; narrow, so that a phone shows the letters at nearly their size."""
LONGEST = 46
"""Characters of a name."""
MARKERS = "osD^vPX*"
BANDS = 4
"""Curves whose bands can still be told apart."""
STYLE: dict[Any, Any] = {
    "font.family": ["DejaVu Sans"],
    "font.size": 9.5,
    "text.parse_math": False,
    "text.color": LIGHT["ink"],
    "axes.labelcolor": LIGHT["quiet"],
    "axes.edgecolor": LIGHT["rule"],
    "axes.facecolor": "none",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "grid.color": LIGHT["rule"],
    "grid.linewidth": 0.7,
    "xtick.color": LIGHT["rule"],
    "ytick.color": LIGHT["rule"],
    "xtick.labelcolor": LIGHT["quiet"],
    "ytick.labelcolor": LIGHT["ink"],
    "figure.facecolor": LIGHT["paper"],
    "legend.frameon": False,
    "savefig.facecolor": LIGHT["paper"],
    "svg.fonttype": "none",
    "svg.hashsalt": "fabula",
}


@dataclass(frozen=True, slots=True)
class Mark:
    """A mean with its interval, `at` a place on the other axis; the baseline is drawn grey."""

    name: str
    mean: float
    low: float
    high: float
    at: float = 0.0
    is_base: bool = False


@dataclass(frozen=True, slots=True)
class Drawn:
    """One drawing in two forms."""

    svg: str
    png: bytes


def bars(marks: Sequence[Mark], axis: str) -> Drawn:
    """Draw one bar per system, from the top in the order given, with its interval."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        figure, axes = _figure(0.75 + 0.36 * len(marks))
        rows = list(range(len(marks)))
        colours = [LIGHT["base" if mark.is_base else "accent"] for mark in marks]
        axes.barh(rows, [mark.mean for mark in marks], height=0.58, color=colours)
        axes.errorbar(
            [mark.mean for mark in marks],
            rows,
            xerr=_spread(marks),
            fmt="none",
            ecolor=LIGHT["ink"],
            elinewidth=1.1,
            capsize=3,
        )
        axes.set_yticks(rows, ["\n".join(wrap(_short(mark.name), 24)) for mark in marks])
        axes.invert_yaxis()
        if not any(mark.high for mark in marks):
            axes.set_xlim(0, 1)
        axes.grid(axis="x")
        axes.spines["bottom"].set_visible(False)
        axes.tick_params(length=0)
        axes.set_xlabel(axis)
        return _drawn(figure)


def curves(series: Sequence[tuple[str, Sequence[Mark]]], across: str, axis: str) -> Drawn:
    """Draw one line per series over the values of a setting; a few have bands of intervals."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        figure, axes = _figure(3.3)
        for number, (name, marks) in enumerate(series):
            colour, marker = _look(number)
            at = [mark.at for mark in marks]
            if len(series) <= BANDS:
                low, high = [mark.low for mark in marks], [mark.high for mark in marks]
                axes.fill_between(at, low, high, color=colour, alpha=0.14, linewidth=0)
            axes.plot(
                at,
                [mark.mean for mark in marks],
                color=colour,
                marker=marker,
                markersize=5,
                label=_short(name),
            )
        _space_ticks(axes, sorted({mark.at for _, marks in series for mark in marks}))
        axes.grid()
        axes.set_xlabel(across)
        axes.set_ylabel(axis)
        if len(series) > 1:
            _legend(figure, axes)
        return _drawn(figure)


def scatter(marks: Sequence[Mark], across: str, axis: str) -> Drawn:
    """Draw one point per system: cost to the right, quality with its interval upwards."""
    import matplotlib

    with matplotlib.rc_context(STYLE):
        figure, axes = _figure(3.3 + 0.2 * ((len(marks) + 1) // 2))
        for number, mark in enumerate(marks):
            colour, marker = _look(number)
            axes.errorbar(
                [mark.at],
                [mark.mean],
                yerr=_spread([mark]),
                fmt=marker,
                color=colour,
                markersize=7,
                elinewidth=1.1,
                capsize=3,
                label=_short(mark.name),
            )
        axes.grid()
        axes.set_xlabel(across)
        axes.set_ylabel(axis)
        _legend(figure, axes)
        return _drawn(figure)


def _figure(height: float) -> tuple[Figure, Axes]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(WIDTH, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.add_subplot()


def _look(number: int) -> tuple[str, str]:
    return SERIES[number % len(SERIES)], MARKERS[number // len(SERIES) % len(MARKERS)]


def _short(name: str) -> str:
    # A legend leaves out what begins with an underscore.
    text = f" {name}" if name.startswith("_") else name
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _spread(marks: Sequence[Mark]) -> list[list[float]]:
    # A bootstrap's interval holds its mean but for rounding.
    below = [max(0.0, mark.mean - mark.low) for mark in marks]
    return [below, [max(0.0, mark.high - mark.mean) for mark in marks]]


def _space_ticks(axes: Axes, values: list[float]) -> None:
    """Set a tick at each value, on a logarithmic axis for values that grow by factors."""
    if values[0] > 0 and values[-1] / values[0] >= 16:
        axes.set_xscale("log")
    axes.set_xticks(values, [f"{value:g}" for value in values])
    axes.set_xticks([], minor=True)


def _legend(figure: Figure, axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower left", ncols=2, fontsize=8.5)


def _drawn(figure: Figure) -> Drawn:
    svg, png = io.StringIO(), io.BytesIO()
    with warnings.catch_warnings():
        # A name in a script that the font lacks is boxes in the PNG; the SVG has it as text.
        warnings.filterwarnings("ignore", "Glyph", UserWarning)
        figure.savefig(svg, format="svg", metadata={"Date": None})
        figure.savefig(png, format="png", dpi=160, metadata={"Software": None})
    return Drawn(svg.getvalue(), png.getvalue())
