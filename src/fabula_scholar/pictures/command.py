"""Draw a document as a page or as a picture: `fabula plot`."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import open_for_reading
from fabula.cli.shared.options import GRAPH, MODELS, RANKING, settings_flags, until_flag
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
@click.option("--query", "question", default="", help="highlight what this question finds")
@click.option(
    "--picture",
    default="trees",
    show_default=True,
    help="which picture to draw: trees, network, communities, story, or one of another package; "
    "the last one named counts",
)
@click.option(
    "--network",
    "picture",
    flag_value="network",
    help="draw the network of its entities: who meets whom",
)
@click.option(
    "--communities",
    "picture",
    flag_value="communities",
    help="draw the network with its communities",
)
@click.option(
    "--story",
    "picture",
    flag_value="story",
    help="draw its events in the order told, from its discourse graph",
)
@until_flag
@settings_flags(*GRAPH, *MODELS, *RANKING)
def command(
    document: str,
    until: str,
    out: Path | None,
    open_it: bool,
    question: str,
    picture: str,
    settings: Settings,
) -> None:
    """Draw DOCUMENT (its id, title or file): its aspect trees over its line of chunks.

    A page works without a network; you can zoom, search, read each passage and see what it rests
    on. An existing file is replaced.

    --query highlights what it finds: in a network, the entities that a mode which uses it (hippo,
    fast, light, mini, local) visited, and in communities the reports that a mode such as global
    used.
    """
    from fabula.library.drawing import refuse_undrawable
    from fabula_scholar.pictures.plotting import plot

    refuse_undrawable(out)
    with open_for_reading(settings) as fabula:
        plotted = plot(fabula.as_read(document, until), document, out, question, picture)
    if picture == "communities":
        result = f"{sum(hit.kind == 'report' for hit in plotted.hits)} reports found"
    elif plotted.entities:
        result = f"{plotted.walked} visited"
    else:
        result = f"{len(plotted.hits)} found"
    echo(f"{plotted}, {result} for the question" if question else f"{plotted}")
    if not plotted.has_words:
        echo(
            "This machine has no fonts, so the PNG has no text: install fonts such as "
            "fonts-dejavu, or name a file that ends in .svg or .html.",
            err=True,
        )
    if open_it and not webbrowser.open(plotted.file.absolute().as_uri()):
        echo(f"No web browser could be opened here: open {plotted.file} in one yourself.", err=True)
