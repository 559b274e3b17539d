"""A request's files as they arrive: parsed and written in pieces, and never all held."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from anyio import to_thread
from fastapi import Request
from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header

from fabula.service.core.errors import Problem, TooBig
from fabula.service.core.jobs.uploads import UNNAMED, Arriving, Upload, Uploads

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

FORM = "multipart/form-data"
MOST_FIELD = 65_536
"""Bytes of all fields of a form that are no files."""
SEVERAL = "graphs"
"""A field that may be given several times: all its values count, parted by commas."""
MOST_PARTS = 2_000
"""Files and fields of one request."""


@dataclass
class Form:
    """What a form had: files in their order, and what else was filled in."""

    uploads: list[Upload] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)


class Body:
    """A request's body as it arrives. The door (`access.admission`) bounds and counts its bytes."""

    def __init__(self, request: Request) -> None:
        self._request = request

    async def read(self) -> bytes:
        """All of it."""
        pieces = bytearray()
        async for piece in self._request.stream():
            pieces += piece
        return bytes(pieces)

    async def form(self, uploads: Uploads) -> Form:
        """Its files, kept once all of them have arrived."""
        kind, options = parse_options_header(self._request.headers.get("content-type", ""))
        boundary = options.get(b"boundary", b"")
        if kind != FORM.encode() or not boundary:
            raise Problem(f"This is no {FORM} with a boundary.")
        with _Parts(uploads) as parts:
            try:
                parser = MultipartParser(boundary, parts.callbacks())
                async for piece in self._request.stream():
                    # Hashing and writing are not for the thread that answers everybody.
                    await to_thread.run_sync(partial(parser.write, piece))
                parser.finalize()
            except FormParserError as error:
                raise Problem(f"The form can't be read: {error}.") from error
            if not parts.is_whole:
                raise Problem("The form ends before its end: send it again.")
            await to_thread.run_sync(parts.keep)
        return parts.form


class _Parts:
    """What the parser tells, as files and fields; with `with`, as the last may not become whole."""

    def __init__(self, uploads: Uploads) -> None:
        self.form = Form()
        self.is_whole = False
        self._uploads = uploads
        self._count = 0
        self._name, self._value = bytearray(), bytearray()
        self._headers: dict[bytes, bytes] = {}
        self._arriving: Arriving | None = None
        self._arrived: list[Arriving] = []
        self._field: str | None = None
        self._text = bytearray()
        self._texts = 0

    def __enter__(self) -> _Parts:
        return self

    def __exit__(self, *failure: object) -> None:
        for file in [*self._arrived, *([self._arriving] if self._arriving else [])]:
            file.discard()

    def keep(self) -> None:
        """Keep all files; without this nothing is left of them."""
        self.form.uploads = self._uploads.keep(self._arrived)

    def callbacks(self) -> MultipartCallbacks:
        """By the parser's names."""
        return {
            "on_part_begin": self._begin,
            "on_header_field": self._header_field,
            "on_header_value": self._header_value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._open,
            "on_part_data": self._data,
            "on_part_end": self._close,
            "on_end": self._end,
        }

    def _begin(self) -> None:
        self._count += 1
        if self._count > MOST_PARTS:
            raise TooBig(f"A request may have {MOST_PARTS:,} files.")
        self._headers.clear()
        self._text.clear()

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        self._headers[bytes(self._name).lower()] = bytes(self._value)
        self._name.clear()
        self._value.clear()

    def _open(self) -> None:
        _, told = parse_options_header(self._headers.get(b"content-disposition", b""))
        name = told.get(b"filename")
        self._field = None if name is not None else _text(told.get(b"name", b""))
        if name is not None:
            self._arriving = self._uploads.begin(_text(name))

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._arriving:
            self._arriving.write(memoryview(data)[start:end])
            return
        self._texts += end - start
        if self._texts > MOST_FIELD:
            raise TooBig("The fields of the form that are no files are too long.")
        self._text += data[start:end]

    def _close(self) -> None:
        if self._arriving:
            self._arriving.finish()
            # A form in which no file was chosen sends an empty one.
            if self._arriving.size or self._arriving.name != UNNAMED:
                self._arrived.append(self._arriving)
            else:
                self._arriving.discard()
            self._arriving = None
        elif self._field is not None:
            value = _text(bytes(self._text))
            if self._field == SEVERAL and self._field in self.form.fields:
                value = f"{self.form.fields[self._field]},{value}"
            self.form.fields[self._field] = value

    def _end(self) -> None:
        self.is_whole = True


def _text(written: bytes) -> str:
    return written.decode("utf-8", "replace")
