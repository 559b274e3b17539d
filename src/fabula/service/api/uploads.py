"""Work that takes long: to begin. Documents that come in, and what it would cost."""

from __future__ import annotations

import json
from typing import Annotated, Any, Self

from anyio import to_thread
from fastapi import APIRouter, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from fabula.service.api.jobs import JobView, accepted
from fabula.service.core.errors import Problem
from fabula.service.core.idempotency import Idempotency
from fabula.service.core.jobs.job import Item
from fabula.service.core.jobs.start import (
    Choice,
    Estimate,
    begin_build,
    begin_ingest,
    estimate,
    text_item,
)
from fabula.service.core.jobs.uploads import Upload, label
from fabula.service.core.views import MoneyView, UsageByStep, View, usage_view
from fabula.service.http.dependencies import (
    Caller,
    FilledCollection,
    State,
    VisibleCollection,
    Writer,
)
from fabula.service.http.multipart import MEDIA_TYPE, Body
from fabula.service.http.parameters import Key
from fabula.service.state import ServiceState

router = APIRouter(tags=["documents"])
GRAPHS = (
    "the graphs of each document, as 'aspects,entities' or given several times; those of the "
    "setting `graphs` if left out"
)
Graphs = Annotated[list[str] | None, Query(description=GRAPHS)]
Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class Named(BaseModel):
    """A file that you sent to be estimated."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sha256: Sha256
    name: str = Field(min_length=1, max_length=1000)


class Coming(BaseModel):
    """A text that comes in as a document, files that you sent before, or both."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str | None = Field(None, min_length=1)
    source: str = Field("", max_length=500, description="what the text is known by")
    title: str = Field("", max_length=500)
    author: str = Field("", max_length=500)
    language: str = Field("", max_length=35)
    graphs: list[str] | None = Field(None, max_length=50, description=GRAPHS)
    uploads: list[Named] = Field(default_factory=list, max_length=2000)


class Building(BaseModel):
    """A graph to build: of all documents, of those named by id, title or file, or of the collection
    itself.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    graphs: list[str] = Field([], max_length=1, description="the graph; one a job")
    graph: str = Field("", max_length=200, deprecated="Send `graphs`, a list of one name.")
    documents: list[str] = Field(default_factory=list, max_length=2000)
    rebuild: bool = False

    @property
    def name(self) -> str:
        """The graph. Raises Problem where none is named, or two."""
        # Read in this way, as what is deprecated warns whoever reads it.
        old: str = self.__dict__["graph"]
        names = {*self.graphs, *filter(None, [old])}
        if len(names) != 1:
            raise Problem('Name one graph to build, as {"graphs": ["entities"]}.')
        return names.pop()


class UploadView(View):
    """A file that was kept, to be named in a later request within a day."""

    sha256: str
    name: str
    size: int


class ExpectedView(View):
    """What would become of a document, and what it would ask of models."""

    source: str
    status: str
    document: str
    title: str
    counts: dict[str, int]
    usage: UsageByStep
    error: str


class EstimateView(MoneyView):
    """What documents would cost.

    Expected, not counted: what models reply is not known before.
    """

    items: list[ExpectedView]
    usage: UsageByStep
    calls: int
    tokens: int
    uploads: list[UploadView]

    @classmethod
    def of(cls, expected: Estimate, uploads: list[Upload]) -> Self:
        """That of an estimate, and of the files that it is of."""
        items = [
            ExpectedView(
                source=one.source,
                status=one.status,
                document=one.document,
                title=one.title,
                counts=dict(one.counts),
                usage=usage_view(one.steps),
                error=str(one.error or ""),
            )
            for one in expected.outcomes
        ]
        each = expected.usage.values()
        return cls(
            items=items,
            usage=usage_view(expected.usage),
            calls=sum(one.calls for one in each),
            tokens=sum(one.prompt_tokens + one.completion_tokens for one in each),
            money=expected.money,
            unpriced=list(expected.unpriced),
            uploads=[
                UploadView(sha256=one.sha256, name=one.name, size=one.size) for one in uploads
            ],
        )


def _describe_text() -> dict[str, Any]:
    """Return the schema of a text that comes in, whole: OpenAPI knows no definitions within one."""
    told = Coming.model_json_schema()
    told["properties"]["uploads"]["items"] = told.pop("$defs")["Named"]
    return told


BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            MEDIA_TYPE: {
                "schema": {
                    "type": "object",
                    "properties": {
                        "files": {
                            "type": "array",
                            "items": {"type": "string", "format": "binary"},
                        },
                        "graphs": {"type": "string", "description": GRAPHS},
                    },
                }
            },
            "application/json": {"schema": _describe_text()},
        },
    }
}
"""Either of two kinds, which FastAPI can't tell from the signature of what reads it as it comes."""


@router.post(
    "/collections/{collection}/documents",
    status_code=202,
    summary="Add documents",
    response_model=JobView,
    openapi_extra=BODY,
    responses={200: {"model": EstimateView, "description": "With dry_run: what it would cost."}},
)
async def add_documents(
    request: Request,
    state: State,
    collection: VisibleCollection,
    caller: Writer,
    graphs: Graphs = None,
    rebuild: bool = False,
    dry_run: bool = False,
    key: Key = None,
) -> Response:
    """Begins a job that reads files, or a text, and builds graphs of them.

    A file is known by its name: the same again is left as it is, and another of that name takes its
    place. Zips are unpacked. Several files go into one form, and each is counted while it arrives.
    """
    items, uploads, own = await _receive(request, state, caller)
    choice = Choice(_chosen(graphs, own), rebuild)
    idempotency = Idempotency.of(key, caller, request.url.path, repr((items, choice)))

    def answer() -> Response:
        if dry_run:
            with state.large_task_limit.hold(caller.id):
                view = EstimateView.of(estimate(state.uploads, collection, items, choice), uploads)
            return Response(view.model_dump_json(), media_type="application/json")
        return accepted(begin_ingest(state.jobs, caller, collection, items, choice, idempotency))

    return await to_thread.run_sync(answer)


@router.post(
    "/collections/{collection}/estimate",
    summary="What documents would cost",
    openapi_extra=BODY,
)
async def estimate_documents(
    request: Request,
    state: State,
    collection: VisibleCollection,
    caller: Writer,
    graphs: Graphs = None,
    rebuild: bool = False,
) -> EstimateView:
    """Keeps the files for a day, so that who agrees only names them: `uploads` of the JSON that
    adds documents.
    """
    items, uploads, own = await _receive(request, state, caller)
    choice = Choice(_chosen(graphs, own), rebuild)

    def answer() -> EstimateView:
        state.uploads.lend(caller, uploads)
        with state.large_task_limit.hold(caller.id):
            return EstimateView.of(estimate(state.uploads, collection, items, choice), uploads)

    return await to_thread.run_sync(answer)


@router.post(
    "/collections/{collection}/build",
    status_code=202,
    summary="Build a graph",
    response_model=JobView,
)
def build(
    request: Request,
    state: State,
    collection: FilledCollection,
    caller: Writer,
    body: Building,
    key: Key = None,
) -> Response:
    """Begins a job that builds a graph of what is there."""
    said = body.model_dump(exclude={"graphs", "graph"}) | {"graph": body.name}
    idempotency = Idempotency.of(key, caller, request.url.path, json.dumps(said, sort_keys=True))
    answer = accepted(
        begin_build(
            state.jobs,
            caller,
            collection,
            body.name,
            body.documents,
            rebuild=body.rebuild,
            idempotency=idempotency,
        )
    )
    if not body.graphs:
        answer.headers["Deprecation"] = "true"
        answer.headers["Warning"] = '299 - "graph is deprecated: send graphs, a list of one name"'
    return answer


@router.post(
    "/collections/{collection}/retry",
    status_code=202,
    summary="Ask for gaps again",
    response_model=JobView,
)
def retry(
    request: Request, state: State, collection: FilledCollection, caller: Writer, key: Key = None
) -> Response:
    """Begins a job that asks models again for what they did not give."""
    idempotency = Idempotency.of(key, caller, request.url.path, "")
    return accepted(state.jobs.add(caller, collection.name, "retry", [], {}, idempotency))


@router.post(
    "/collections/{collection}/reembed",
    status_code=202,
    summary="Embed again",
    response_model=JobView,
)
def reembed(
    request: Request, state: State, collection: FilledCollection, caller: Writer, key: Key = None
) -> Response:
    """Begins a job that gives the collection embeddings of the model that the settings name."""
    idempotency = Idempotency.of(key, caller, request.url.path, "")
    return accepted(state.jobs.add(caller, collection.name, "reembed", [], {}, idempotency))


async def _receive(
    request: Request, state: ServiceState, caller: Caller
) -> tuple[list[Item], list[Upload], list[str] | None]:
    """The documents of a request, read as they arrive, the files that they are in, and the graphs
    that its body names.
    """
    body = Body(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == MEDIA_TYPE:
        form = await body.form(state.uploads)
        if unknown := sorted(form.fields.keys() - {"graphs"}):
            raise Problem(
                f"The form has a field {unknown[0]!r} that is no file. Beside files it may have: "
                "graphs."
            )
        uploads, graphs = form.uploads, form.fields.get("graphs")
        items = await to_thread.run_sync(state.uploads.items, uploads)
        return items, uploads, None if graphs is None else [graphs]
    if kind != "application/json":
        problem = Problem(f"Send files as {MEDIA_TYPE}, or application/json.")
        problem.status, problem.name = 415, "unsupported-media-type"
        raise problem
    try:
        coming = Coming.model_validate_json(await body.read())
    except ValidationError as error:
        found = [{**one, "loc": ("body", *one["loc"])} for one in error.errors()]
        raise RequestValidationError(found) from error
    return *await to_thread.run_sync(_named, state, caller, coming), coming.graphs


def _chosen(asked: list[str] | None, own: list[str] | None) -> tuple[str, ...] | None:
    """Return the graphs that a request names in its address or its body; None where it names none.

    Raises Problem where the two name different ones.
    """
    by_address, by_body = (
        [name.strip() for one in names or () for name in one.split(",") if name.strip()]
        for names in (asked, own)
    )
    if by_address and by_body and by_address != by_body:
        raise Problem("The address and the body name different graphs: name them once.")
    return tuple(dict.fromkeys(by_address or by_body)) or None


def _named(state: ServiceState, caller: Caller, coming: Coming) -> tuple[list[Item], list[Upload]]:
    state.uploads.refuse_unlent(caller, (one.sha256 for one in coming.uploads))
    uploads = [
        Upload(one.sha256, state.uploads.path(one.sha256).stat().st_size, label(one.name))
        for one in coming.uploads
    ]
    items = state.uploads.items(uploads)
    if coming.text is not None:
        told = {"title": coming.title, "author": coming.author, "language": coming.language}
        items.append(text_item(state.uploads, coming.text, coming.source, **told))
    return items, uploads
