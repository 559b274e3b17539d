"""`fabula plot`: a document's graph, its network or its story, as a page or as a picture."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import meant
from fabula.cli.shared.options import GRAPH, MODELS, RANKING, settings_flags
from fabula.cli.shared.screen import echo
from fabula.config.settings import Settings


@click.command(
    "plot",
    cls=Command,
    examples=(
        'plot "A Christmas Carol" --open',
        'plot "A Christmas Carol" --query "What did Marley say of his chain?"',
        'plot "A Christmas Carol" --out carol.svg',
        'plot "A Christmas Carol" --network --open',
        'plot carol.txt --network --mode hippo --query "Who was Marley?"',
        'plot "A Christmas Carol" --communities --open',
        'plot "A Christmas Carol" --story --open',
    ),
)
@click.argument("document")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="file to write, .html, .svg or .png [TITLE.html]",
)
@click.option("--open", "open_it", is_flag=True, help="open the file in the web browser")
@click.option("--query", "question", default="", help="highlight what is found for this question")
@click.option(
    "--network", is_flag=True, help="draw who is in it and who meets whom, from its entities"
)
@click.option("--communities", is_flag=True, help="the network, and who belongs together in it")
@click.option(
    "--story", is_flag=True, help="draw what happens, in the order told, from its discourse graph"
)
@settings_flags(*GRAPH, *MODELS, *RANKING)
def command(
    document: str,
    out: Path | None,
    open_it: bool,
    question: str,
    network: bool,
    communities: bool,
    story: bool,
    settings: Settings,
) -> None:
    """Draw DOCUMENT (its id, title or file): its aspect trees over its line of chunks.

    A page needs no network; in it you can zoom, search, open level after level, read each passage
    and follow what it rests on. A file that is there is replaced.

    With --network: the characters and whatever else its graph of entities has, those that are tied
    near each other, with a slider by section and a table. --query then shows whom a mode that walks
    this network, as hippo, fast, light, mini and local do, went through.

    With --communities: the network in the colours and numbers of its communities, level by level,
    with their reports beside it. --query then marks those that a mode, as global, went by.

    With --story: what happens along the text, in a row of each who takes part and of each place,
    with when it is, why where that is told, and the links of cause between passages; and a table.
    """
    from fabula.plot import plot, refuse_undrawable

    refuse_undrawable(out)
    with meant(settings) as fabula:
        plotted = plot(
            fabula, document, out, question, network=network, communities=communities, story=story
        )
    walked = f"{plotted.walked} walked"
    if communities:
        walked = f"{sum(hit.kind == 'report' for hit in plotted.hits)} reports found"
    found = walked if plotted.entities else f"{len(plotted.hits)} found"
    echo(f"{plotted}, {found} for the question" if question else f"{plotted}")
    if not plotted.has_words:
        echo(
            "This machine has no fonts, so the PNG has no words: install some, as fonts-dejavu, "
            "or name a file that ends in .svg or .html.",
            err=True,
        )
    if open_it and not webbrowser.open(plotted.file.absolute().as_uri()):
        echo(f"No web browser could be opened here: open {plotted.file} in one yourself.", err=True)
