"""Files that are made for one request, as exports, and deleted once sent; and pictures."""

from __future__ import annotations

import shutil
import tempfile
from contextlib import ExitStack, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from fastapi.responses import FileResponse, Response
from pydantic import AfterValidator
from starlette.background import BackgroundTask

from fabula.errors import NotFound
from fabula.graph.entries import Entry
from fabula.library.collection import Collection
from fabula.library.drawing import draw_document, find_picture
from fabula.models.counted import Meter
from fabula.operations.kit import FileResult

if TYPE_CHECKING:
    from fabula.jobs.callers import Caller
    from fabula.service.state import ServiceState

Kind = Literal["html", "svg", "png"]


def _check_picture(name: str) -> str:
    try:
        return find_picture(name).name
    except NotFound as error:
        raise ValueError(str(error)) from error


Drawn = Annotated[str, AfterValidator(_check_picture)]
"""The name of an installed picture."""
MEDIA = {
    "html": "text/html; charset=utf-8",
    "svg": "image/svg+xml",
    "png": "image/png",
}
SANDBOX_POLICY = "sandbox allow-scripts allow-downloads; frame-ancestors 'self'"
"""For drawn pages, which contain scripts: a browser runs these as if from another origin, without
our cookie."""


def send_file(state: ServiceState, caller: Caller, file: FileResult) -> Response:
    """Return a file for other programs; a folder, and what has several files, is a zip.

    It is complete before the response begins, so that an error still gets its own status.

    Raises:
        TooManyRequests: The caller has too many large tasks under way.
    """
    with state.large_task_limit.hold(caller.id, "an export"), ExitStack() as made:
        folder = Path(tempfile.mkdtemp(prefix="fabula-"))
        made.callback(shutil.rmtree, folder, ignore_errors=True)
        name, media, written = file.name, file.media_type, folder / "written"
        written.mkdir()
        file.write(written / name)
        sent = written / name
        if not sent.is_file():
            name, media = f"{name}.zip", "application/zip"
            packed = sent if sent.is_dir() else written
            sent = Path(shutil.make_archive(str(folder / "packed"), "zip", packed))
        return FileResponse(
            sent,
            media_type=media,
            filename=name,
            headers={"Cache-Control": "no-store"},
            background=BackgroundTask(made.pop_all().close),
        )


def picture(
    state: ServiceState,
    collection: Collection,
    caller: Caller,
    entry: Entry,
    kind: Kind,
    drawn: Drawn,
    question: str,
) -> bytes:
    """Draw a document, with the passages that are found for a question highlighted.

    A question counts, and costs, as any other question.
    """
    meter = Meter(state.ledger.account(caller, collection.name, "plot"))
    with state.question_limit.hold(caller.id) if question else nullcontext():
        if question:
            state.ledger.refuse_spent(caller)
        return draw_document(collection, entry, f".{kind}", question, drawn, meter).content
