"""Uploads: streamed, counted while they arrive, never where or what a client calls them."""

from __future__ import annotations

import io
import os
import stat
import time
import tracemalloc
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from database import empty
from fabula.config.serving import TABLE, Serving
from fabula.config.settings import Settings
from fabula.jobs.uploads import MAX_ITEMS, MAX_LABEL_CHARACTERS, MIN_AGE_SECONDS, label
from fabula.library import App
from fabula.server import Address
from jobs_over_http import BASE, begin, books, until
from served import Served, served, server_of
from stories import LIGHTHOUSE, WINTER

MB = 1_000_000
HOSTILE = st.one_of(
    st.text(max_size=300),
    st.lists(
        st.sampled_from(
            (
                "..",
                "/",
                "\\",
                "C:",
                "\0",
                "\r\n",
                '"',
                "%2e%2e%2f",
                "~",
                ".",
                " ",
                "é",
                "\u202e",
                "a",
            )
        ),
        max_size=40,
    ).map("".join),
    st.sampled_from(
        (
            "/etc/passwd",
            "../../../etc/passwd",
            "..\\..\\boot.ini",
            "CON",
            "a" * 5000,
            "\ud800",
            ".zip",
        )
    ),
)


@pytest.fixture(scope="module")
def service(address: Address, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service without a model that takes 80 MB at once."""
    empty(address)
    offline: dict[str, Any] = {
        "model": "offline",
        "embedding_model": "wordllama-256",
        "chunk_tokens": 100,
    }
    home = tmp_path_factory.mktemp("uploads")
    settings = Settings.read(home=home, **server_of(address), **offline)
    settings = settings.model_copy(
        update={"tables": settings.tables | {TABLE: Serving(max_upload_mb=80)}}
    )
    with App(settings) as app, served(app) as it:
        yield it


def files(service: Served) -> list[Path]:
    return [path for path in service.state.uploads.folder.rglob("*") if path.is_file()]


def test_two_hundred_files_come_in_one_request(service: Served) -> None:
    client = service.client("write")
    sent = {f"shelf/{number}.txt": f"{LIGHTHOUSE}\n\n{number}" for number in range(200)}
    began = time.monotonic()
    response = client.post(
        f"{BASE}/collections/many/documents",
        files=[("files", (name, text.encode())) for name, text in sent.items()],
        params={"graphs": []},
    )
    assert response.status_code == 202, response.text
    assert time.monotonic() - began < 60
    job = response.json()
    assert [item["source"] for item in job["items"]] == [f"uploads/{name}" for name in sent]
    client.post(f"{BASE}/jobs/{job['id']}/cancel")
    ended = until(client, job["id"])
    assert sum(ended["counts"].values()) == 200
    assert ended["state"] == "cancelled"


def test_a_large_file_is_never_held(service: Served) -> None:
    client = service.client("write")
    line = b"The keeper Elias lit the lamp every evening at six.\n"

    def body() -> Iterator[bytes]:
        yield b'--b\r\nContent-Disposition: form-data; name="files"; filename="large.txt"\r\n\r\n'
        for _ in range(62):
            yield line * (MB // len(line))
        yield b"\r\n--b--\r\n"

    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    path = f"{BASE}/collections/large/documents"
    tracemalloc.start()
    try:
        # Refused once it is whole, as a form has no such field: nothing is built of it.
        def longer() -> Iterator[bytes]:
            yield from _but_last(body())
            yield b'\r\n--b\r\nContent-Disposition: form-data; name="x"\r\n\r\n1\r\n--b--\r\n'

        refused = client.post(path, content=longer(), headers=kind)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert refused.status_code == 400, refused.text
    assert most < 24 * MB, f"{most / MB:.0f} MB were held"
    [kept] = [file for file in files(service) if file.stat().st_size > 60 * MB]
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert all(
        stat.S_IMODE(folder.stat().st_mode) == 0o700 for folder in (kept.parent, kept.parents[1])
    )


def _but_last(pieces: Iterator[bytes]) -> Iterator[bytes]:
    held = next(pieces)
    for piece in pieces:
        yield held
        held = piece


@pytest.mark.parametrize("size", [65, 90])
def test_what_is_too_large_is_refused_as_it_arrives(service: Served, size: int) -> None:
    client = service.client("write")
    before, sent = len(files(service)), 0

    def body() -> Iterator[bytes]:
        nonlocal sent
        yield b'--b\r\nContent-Disposition: form-data; name="files"; filename="large.txt"\r\n\r\n'
        for _ in range(size):
            sent += 1
            yield b"x" * MB

    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    path = f"{BASE}/collections/large/documents"
    if size == 90:
        # It says so itself: not a byte of it is read.
        kind["Content-Length"] = str(90 * MB)
    try:
        refused = client.post(path, content=body(), headers=kind)
    except OSError:
        pass
    except Exception as error:  # noqa: BLE001  whatever the client makes of a closed connection
        assert "rite" in repr(error) or "rotocol" in repr(error) or "onnect" in repr(error)
    else:
        assert refused.status_code == 413, refused.text
        assert "MB" in refused.json()["detail"]
    assert len(files(service)) == before


def test_a_megabyte_is_a_million_bytes_wherever_a_body_is_counted(service: Served) -> None:
    path = f"{BASE}/collections/large/documents"
    kind = {"Content-Type": "application/json"}
    for content in (b" " * (80 * MB + 1), (b" " * MB for _ in range(81))):
        refused = service.client("write").post(path, content=content, headers=kind)
        assert refused.status_code == 413
        assert "80 MB (serve.max_upload_mb): send the files in several requests." in refused.text
        assert refused.json()["type"] == "/problems/too-large"


def test_the_files_of_a_form_are_written_out_together(
    service: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is waited for once a file, and once a folder, and only when all have arrived."""
    waited: list[int] = []
    arriving = service.state.uploads.folder / "arriving"
    real = os.fsync

    def counted(handle: int) -> None:
        waited.append(handle)
        real(handle)

    # What is counted is the system's call: how long it takes is the disk's affair.
    monkeypatch.setattr(os, "fsync", counted)
    many = [("files", (f"{number}.txt", f"{WINTER} {number}".encode())) for number in range(60)]
    estimated = service.client("write").post(
        f"{BASE}/collections/many/documents?dry_run=true", files=many
    )
    assert estimated.status_code == 200, estimated.text
    uploads = [upload["sha256"] for upload in estimated.json()["uploads"]]
    assert len(uploads) == 60
    assert all(service.state.uploads.path(upload).is_file() for upload in uploads)
    assert not [*arriving.iterdir()]
    folders = {upload[:2] for upload in uploads}
    assert len(waited) == 60 + len(folders) < 120


def test_a_form_that_breaks_off_leaves_nothing(service: Served) -> None:
    client = service.client("write")
    before = len(files(service))
    kind = {"Content-Type": "multipart/form-data; boundary=b"}
    body = b'--b\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\nhalf'
    refused = client.post(f"{BASE}/collections/half/documents", content=body, headers=kind)
    assert (refused.status_code, len(files(service))) == (400, before)
    none = client.post(
        f"{BASE}/collections/half/documents",
        headers={"Content-Type": "multipart/form-data"},
        content=b"x",
    )
    assert none.status_code == 400


def test_two_different_files_of_one_name_are_refused_and_the_same_is_one(service: Served) -> None:
    client = service.client("write")
    form = [("files", ("a.txt", WINTER.encode())), ("files", ("./a.txt", LIGHTHOUSE.encode()))]
    refused = client.post(f"{BASE}/collections/twice/documents", files=form)
    assert (refused.status_code, "'a.txt'" in refused.json()["detail"]) == (409, True)
    same = client.post(f"{BASE}/collections/twice/documents", files=[form[0], form[0]])
    assert len(until(client, same.json()["id"])["items"]) == 1


@pytest.mark.journey
def test_a_zip_is_its_books(service: Served) -> None:
    client = service.client("write")
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("a/winter.txt", WINTER)
        archive.writestr("../../evil.txt", "no")
        archive.writestr("picture.png", b"no")
    form = [("files", ("books.zip", packed.getvalue()))]
    path = f"{BASE}/collections/zipped/documents"
    begun = client.post(path, files=form, params={"meta": ["shelf=A3", "tags=cold", "tags=sad"]})
    job = until(client, begun.json()["id"])
    states = {item["source"]: item["state"] for item in job["items"]}
    assert states == {
        "uploads/books.zip/a/winter.txt": "succeeded",
        "uploads/books.zip/evil.txt": "skipped",
        "uploads/books.zip/picture.png": "skipped",
    }, job
    assert list(books(client, "zipped")) == ["uploads/books.zip/a/winter.txt"]
    [document] = client.get(path).json()["rows"]
    assert document["metadata"] == {"shelf": "A3", "tags": ["cold", "sad"]}


@settings(max_examples=1000, deadline=None)
@given(name=HOSTILE)
def test_a_label_is_one_line_that_leads_nowhere(name: str) -> None:
    made = label(name)
    assert made
    assert len(made) <= MAX_LABEL_CHARACTERS
    assert made.isprintable()
    assert not {"", ".", ".."} & set(made.split("/"))
    assert label(made) == made


def test_hostile_names_are_labels_and_no_paths(service: Served) -> None:
    client = service.client("write")
    folder = service.state.uploads.folder
    before = {one for one in folder.parent.rglob("*") if folder not in one.parents}
    names: list[str] = []

    @settings(max_examples=1000, deadline=None, database=None)
    @given(name=HOSTILE)
    def collect(name: str) -> None:
        names.append(name)

    collect()
    for start in range(0, len(names), 100):
        parts = []
        for name in names[start : start + 100]:
            raw = name.encode("utf-8", "surrogatepass").replace(b'"', b"%22")
            raw = raw.replace(b"\r", b"").replace(b"\n", b"")[:3000]
            parts.append(
                b'--b\r\nContent-Disposition: form-data; name="files"; filename="'
                + raw
                + b'"\r\n\r\nThe same words in each.'
            )
        body = b"\r\n".join([*parts, b"--b--\r\n"])
        response = client.post(
            f"{BASE}/collections/hostile/documents",
            params={"dry_run": True},
            content=body,
            headers={"Content-Type": "multipart/form-data; boundary=b"},
        )
        assert response.status_code in (200, 400, 409), response.text
        if response.status_code == 200:
            assert all(item["source"].startswith("uploads/") for item in response.json()["items"])
    after = {one for one in folder.parent.rglob("*") if folder not in one.parents}
    assert after == before
    for path in folder.rglob("*"):
        is_upload = len(path.name) == 64 and path.parent.name == path.name[:2]
        assert path.is_dir() or is_upload or path == folder / "folder-id", path


def test_what_nobody_needs_is_swept_and_what_may_be_tried_again_is_not(service: Served) -> None:
    client, uploads = service.client("write"), service.state.uploads
    texts = {"done": f"{WINTER} done", "failed": "", "young": f"{WINTER} young"}
    done = until(client, begin(client, "swept", {"done.txt": texts["done"]}))
    assert done["state"] == "succeeded"
    assert until(client, begin(client, "swept", {"failed.txt": " \n"}))["state"] == "failed"
    kept = {
        "done": uploads.take([texts["done"].encode()], "x").sha256,
        "failed": uploads.take([b" \n"], "x").sha256,
        "young": uploads.take([texts["young"].encode()], "x").sha256,
    }
    old = time.time() - MIN_AGE_SECONDS - 60
    for name in ("done", "failed"):
        os.utime(uploads.path(kept[name]), (old, old))
    uploads.sweep()
    there = {name: uploads.path(sha256).is_file() for name, sha256 in kept.items()}
    assert there == {"done": False, "failed": True, "young": True}


def test_a_job_has_a_bounded_number_of_documents(service: Served) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for number in range(MAX_ITEMS + 1):
            archive.writestr(f"{number}.txt", "words")
    form = [("files", ("books.zip", packed.getvalue()))]
    refused = service.client("write").post(f"{BASE}/collections/much/documents", files=form)
    assert (refused.status_code, "2,000" in refused.json()["detail"]) == (413, True)
