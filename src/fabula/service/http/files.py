"""Files that are made for one request: exports and pictures. They are gone once they are sent."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from fastapi.responses import FileResponse, Response
from starlette.background import BackgroundTask

from fabula.app.collection import Collection
from fabula.graph.entries import Entry
from fabula.models.counted import Meter
from fabula.plot import draw_document, refuse_undrawable
from fabula.text.names import file_name

if TYPE_CHECKING:
    from fabula.service.core.callers import Caller
    from fabula.service.state import House

Format = Literal["jsonl", "graphml"]
Kind = Literal["html", "svg", "png"]
Drawn = Literal["trees", "network", "communities", "story"]
MEDIA = {
    "jsonl": "application/x-ndjson",
    "graphml": "application/graphml+xml",
    "html": "text/html; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
}
ALONE = "sandbox allow-scripts allow-downloads; frame-ancestors 'self'"
"""A drawn page has scripts of its own: it runs them as if from another origin, without cookies."""


def export(
    house: House, shelf: Collection, caller: Caller, entry: Entry | None, format: Format
) -> Response:
    """A collection's graph, or one document's, as a file; it is whole before the status is sent.

    Raises TooMany.
    """
    name = file_name(entry.title, entry.id) if entry else file_name(shelf.name, "graph")
    with house.large_tasks.one(caller.id), _folder() as folder:
        file = folder / f"graph.{format}"
        shelf.export(file, entry.id if entry else "", format=format)
        return FileResponse(
            file,
            media_type=MEDIA[format],
            filename=f"{name}.{format}",
            headers={"Cache-Control": "no-store"},
            background=BackgroundTask(shutil.rmtree, folder, ignore_errors=True),
        )


def draw(
    house: House,
    shelf: Collection,
    caller: Caller,
    entry: Entry,
    kind: Kind,
    drawn: Drawn = "trees",
    question: str = "",
) -> Response:
    """A picture of a document, with what is found for a question highlighted."""
    refuse_undrawable(f"picture.{kind}")
    headers = {
        "Content-Security-Policy": ALONE,
        "Cache-Control": "private, no-cache",
        "X-Content-Type-Options": "nosniff",
    }
    content = picture(house, shelf, caller, entry, kind, drawn, question)
    return Response(content, media_type=MEDIA[kind], headers=headers)


def picture(
    house: House,
    shelf: Collection,
    caller: Caller,
    entry: Entry,
    kind: Kind,
    drawn: Drawn,
    question: str,
) -> bytes:
    """What a picture is made of. A question is one as any other: it counts, and costs."""
    meter = Meter(house.ledger.account(caller, shelf.name, "plot"))
    with house.questions.one(caller.id) if question else nullcontext():
        if question:
            house.ledger.refuse_spent(caller)
        return draw_document(
            shelf,
            entry,
            f".{kind}",
            question,
            network=drawn == "network",
            communities=drawn == "communities",
            story=drawn == "story",
            meter=meter,
        ).content


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder that stays for who sends what is in it, unless something goes wrong before."""
    folder = Path(tempfile.mkdtemp(prefix="fabula-"))
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
