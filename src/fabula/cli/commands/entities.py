"""`fabula entities`: who and what a book is about, and all that is known of one of them."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.table import Table

from fabula.cli.shared.help import Command
from fabula.cli.shared.opening import meant
from fabula.cli.shared.options import GRAPH, settings_flags
from fabula.cli.shared.screen import counted, echo, print_json, print_table
from fabula.config.settings import Settings
from fabula.errors import NotFound
from fabula.export.networks import write_network
from fabula.graphs.entities.resolve import kind

if TYPE_CHECKING:
    from fabula.app.collection import Collection

Row = Mapping[str, Any]

MOST_NAMES = 4
"""Other names of an entity, and keywords of a relation, that a table shows."""
MOST_SAID = 5
"""Lines of what is told of an entity that are shown."""
MANY = 1_000_000
IDENTITIES = "identities"
DECIDERS = {"names": "by names", "model": "by the model", "person": "by a person", None: "unknown"}
"""Who decided that two are one, in words."""


@click.command(
    "entities",
    cls=Command,
    examples=(
        'entities "A Christmas Carol"',
        "entities Scrooge",
        "entities --type place --limit 10",
        'entities "A Christmas Carol" --type person --out carol.gexf',
    ),
)
@click.argument("name", default="")
@click.option("--document", default="", help="look in one document: its id, title or file")
@click.option("--type", "kind", default="", help="list those of one type, as person or place")
@click.option(
    "--limit", type=click.IntRange(1), default=20, show_default=True, help="rows of each table"
)
@click.option("--json", "as_json", is_flag=True, help="print JSON, all rows")
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path),
    help="write who is tied to whom to a file, .gexf or .graphml",
)
@settings_flags(*GRAPH)
def command(
    name: str,
    document: str,
    kind: str,
    limit: int,
    as_json: bool,
    out: Path | None,
    settings: Settings,
) -> None:
    """List who and what a document is about, or tell all that is known of one, by any NAME of it.

    NAME may be a document's, as its title, if no entity has it; `--document` names one in any case.
    Without both, all documents of the collection are listed.
    `fabula build entities` makes the graph that this reads.
    """
    most = MANY if as_json or out else limit
    with meant(settings) as fabula:
        within = fabula.document(document).id if document else ""
        found = _called(fabula, within, name, most) if name and not out else []
        if found:
            others = Others.read(fabula, [row["id"] for row in found])
            _tell(found, others, as_json)
            return
        if name and document:
            raise NotFound(f"Nobody and nothing in {document!r} is called {name!r}.")
        if name:
            within = fabula.document(name).id if out else _document(fabula, name)
        asked = {"collection": fabula.name, "document": within, "type": kind}
        cast = fabula.store.rows("entities/find_cast", **asked, limit=most)
        ties = fabula.store.rows("entities/find_ties", **asked) if out else []
        everyone = cast or fabula.store.rows(
            "entities/find_cast", **{**asked, "type": ""}, limit=MANY
        )
    if not cast and kind and everyone:
        types = ", ".join(sorted({row["type"] for row in everyone}))
        raise NotFound(f"There are no entities of type {kind!r}; there are: {types}.")
    if not cast:
        raise NotFound(
            f"There are no entities in collection {fabula.name!r}: `fabula build entities` "
            "makes the graph of them for the documents that are there."
        )
    if out:
        written = write_network(cast, ties, out)
        echo(f"{out}: {written.nodes:,} nodes, {written.relationships:,} ties")
        return
    if as_json:
        print_json(cast)
        return
    print_table(_listed(cast, titled=len({row["document"] for row in cast}) > 1))


def _document(fabula: Collection, name: str) -> str:
    """The id of a document of that name. Raises NotFound, in words for who meant either."""
    try:
        return fabula.document(name).id
    except NotFound as error:
        raise NotFound(
            f"Nobody and nothing in collection {fabula.name!r} is called {name!r}, as far as its "
            f"graph of entities goes (`fabula entities` lists them). {error}"
        ) from error


def _called(fabula: Collection, document: str, name: str, limit: int) -> list[dict[str, Any]]:
    return fabula.store.rows(
        "entities/find_called",
        collection=fabula.name,
        document=document,
        called=" ".join(name.lower().replace("’", "'").replace(".", "").split()),
        limit=limit,
    )


def _listed(cast: Sequence[Row], *, titled: bool) -> Table:
    table = Table(show_edge=False)
    for heading in ["name", "type", *(["document"] if titled else [])]:
        table.add_column(heading)
    for heading in ("mentions", "chunks", "relations"):
        table.add_column(heading, justify="right")
    table.add_column("also")
    for row in cast:
        cells = [row["name"], row["type"], *([row["title"]] if titled else [])]
        cells += [f"{row[what]:,}" for what in ("mentions", "chunks", "relations")]
        also = [name for name in row["names"] if name != row["name"]]
        more = f" and {len(also) - MOST_NAMES} more" if len(also) > MOST_NAMES else ""
        table.add_row(*cells, ", ".join(also[:MOST_NAMES]) + more)
    return table


def _tell(found: Sequence[Row], others: Others, as_json: bool) -> None:
    if as_json:
        print_json([{**one, **others.of(one)} for one in found])
        return
    for number, one in enumerate(found):
        if number:
            echo("")
        for line in (*_head(one), *others.lines(one)):
            echo(line)
        if one["relations"]:
            echo("")
            print_table(_relations(one))
        echo("")
        print_table(_places(one))


def _head(one: Row) -> Iterator[str]:
    """Who it is, by which names, and why those were taken for one."""
    yield f"{one['name']} · {one['type']} · {one['title']}"
    said = [line for line in one["text"].splitlines() if line.strip()]
    yield from (f"  {line}" for line in said[:MOST_SAID])
    if len(said) > MOST_SAID:
        yield f"  and {counted(len(said) - MOST_SAID, 'line')} more; --json has all"
    yield (
        f"  {counted(one['mentions'], 'mention')} in {counted(one['chunks'], 'chunk')}, "
        f"{counted(one['degree'], 'relation')}; found by {_maker(one['by'])}; id {one['id']}"
    )
    forms = zip(one["names"], one["counts"], one["merged_by"], strict=True)
    told = [
        f"{name} {count:,}" + (f" ({why})" if name != one["name"] and why else "")
        for name, count, why in forms
    ]
    yield f"  names: {', '.join(told)}"


@dataclass(frozen=True, slots=True)
class Others:
    """Who of other documents is the same, by ids of entities; and how to decide otherwise.

    `decided` are the pairs of the settings by their names; `stale` is what has changed since.
    """

    collection: str
    found: Mapping[str, Row]
    decided: Mapping[str, Sequence[str]]
    stale: Sequence[str]

    @classmethod
    def read(cls, fabula: Collection, ids: Sequence[str]) -> Others:
        """Those of some entities."""
        rows = fabula.store.rows("identities/find_others", collection=fabula.name, nodes=ids)
        own = [one for one in fabula.settled() if one.graph == IDENTITIES]
        decided = fabula.settings.table(IDENTITIES).model_dump()
        stale = own[0].stale if own else ()
        return cls(fabula.name, {row["id"]: row for row in rows}, decided, stale)

    def of(self, one: Row) -> Row:
        """What is told of one, for JSON."""
        row = self.found.get(one["id"])
        if not row:
            return {"others": [], "namesakes": []}
        namesakes = row["namesakes"]
        if len({kind(two["type"]) for two in (one, *namesakes)} - {""}) > 1:
            # A person and a place of one name are not read as one.
            namesakes = [two for two in namesakes if kind(two["type"]) == kind(one["type"])]
        return {"others": row["others"], "namesakes": namesakes}

    def lines(self, one: Row) -> Iterator[str]:
        """Each with the reason, and what to type where that is wrong."""
        told = self.of(one)
        for other in told["others"]:
            is_same = "the same as" if other["same"] else "not the same as"
            why = f"{other['why'] or 'no reason was given'} ({DECIDERS[other['by']]})"
            yield f"  {is_same} {other['name']} · {other['title']}: {why}"
            yield f"    {self._undo(one, other)}"
        if told["others"]:
            yield f"    what is decided so lasts where it stands in fabula.toml, in [{IDENTITIES}]"
        for other in told["namesakes"]:
            yield f"  read as one with {other['name']} · {other['title']}: equal names"
        if told["namesakes"]:
            yield f"    `{self._build()}` decides who is whom"
        if self.stale and (told["others"] or told["namesakes"]):
            yield f"    {IDENTITIES} is stale ({', '.join(self.stale)}): `{self._build()}`"

    def _undo(self, one: Row, other: Row) -> str:
        """What to type where it is not so."""
        pair = f"{one['id']} = {other['id']}"
        knob = "keep_apart" if other["same"] else "join"
        if other["by"] == "person":
            return f"not so? take it out of the settings {IDENTITIES}.keep_apart and .join"
        return f"not so? {self._build(knob, *self.decided[knob], pair)}"

    def _build(self, knob: str = "", *pairs: str) -> str:
        given = f"{IDENTITIES}.{knob}={'; '.join(pairs)}"
        words = ["fabula", "build", IDENTITIES, "--collection", self.collection]
        return shlex.join(words + (["--set", given] if knob else []))


def _maker(by: str) -> str:
    return "rules, offline" if by == "rules" else "a model"


def _relations(one: Row) -> Table:
    table = Table(title="with whom", title_justify="left", show_edge=False)
    for heading in ("name", "type"):
        table.add_column(heading)
    table.add_column("chunks", justify="right")
    for heading in ("keywords", "what is said"):
        table.add_column(heading)
    for row in one["relations"]:
        said = row["text"].partition("\n")[0]
        keywords = ", ".join(row["keywords"][:MOST_NAMES])
        table.add_row(row["name"], row["type"], f"{row['chunks']:,}", keywords, said)
    return table


def _places(one: Row) -> Table:
    table = Table(title="where", title_justify="left", show_edge=False)
    table.add_column("section")
    for heading in ("mentions", "chunks", "from character", "to"):
        table.add_column(heading, justify="right")
    for row in one["places"]:
        numbers = [f"{row[what]:,}" for what in ("mentions", "chunks", "start", "end")]
        table.add_row(row["section"] or "(no heading)", *numbers)
    return table
