"""Read bodies as they arrive: files, also those of multipart forms, are never held whole.

`http.admission` limits and counts their bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from anyio import to_thread
from fastapi import Request
from python_multipart import MultipartParser
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import parse_options_header

from fabula.errors import TooLarge
from fabula.jobs.uploads import UNNAMED, IncomingFile, Upload, Uploads
from fabula.service.core.errors import Problem

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

MEDIA_TYPE = "multipart/form-data"
MAX_FIELD_BYTES = 65_536
"""The size of all fields of a form that are not files."""
REPEATABLE = "graphs"
"""The field that may be sent several times; its values are joined by commas."""
MAX_PARTS = 2_000
"""How many files and fields one request may have."""


@dataclass
class Form:
    """A form: its files in their order, and its other fields."""

    uploads: list[Upload] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)


async def read_file(request: Request, uploads: Uploads, name: str) -> Upload:
    """Store the whole body of a request as a file of a name."""
    with await to_thread.run_sync(uploads.begin, name) as file:
        async for piece in request.stream():
            await to_thread.run_sync(file.write, piece)
        file.finish()
        [upload] = await to_thread.run_sync(uploads.keep, [file])
    return upload


async def read_form(request: Request, uploads: Uploads) -> Form:
    """Parse the body of a request as a form, and store its files once all of them have arrived."""
    kind, options = parse_options_header(request.headers.get("content-type", ""))
    boundary = options.get(b"boundary", b"")
    if kind != MEDIA_TYPE.encode() or not boundary:
        raise Problem(f"The body is not {MEDIA_TYPE} with a boundary.")
    with _Parts(uploads) as parts:
        try:
            parser = MultipartParser(boundary, parts.callbacks())
            async for piece in request.stream():
                # Hashing and writing would hold up the event loop.
                await to_thread.run_sync(partial(parser.write, piece))
            parser.finalize()
        except FormParserError as error:
            raise Problem(f"The form can't be read: {error}.") from error
        if not parts.is_complete:
            raise Problem("The form is incomplete: send it again.")
        await to_thread.run_sync(parts.keep)
    return parts.form


class _Parts:
    """Receives the events of the parser. Its end as a context deletes files that are not stored."""

    def __init__(self, uploads: Uploads) -> None:
        self.form = Form()
        self.is_complete = False
        self._uploads = uploads
        self._count = 0
        self._name, self._value = bytearray(), bytearray()
        self._headers: dict[bytes, bytes] = {}
        self._arriving: IncomingFile | None = None
        self._arrived: list[IncomingFile] = []
        self._field: str | None = None
        self._text = bytearray()
        self._texts = 0

    def __enter__(self) -> _Parts:
        return self

    def __exit__(self, *failure: object) -> None:
        for file in [*self._arrived, *([self._arriving] if self._arriving else [])]:
            file.discard()

    def keep(self) -> None:
        """Store all files."""
        self.form.uploads = self._uploads.keep(self._arrived)

    def callbacks(self) -> MultipartCallbacks:
        """Return the callbacks by the names that the parser gives them."""
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
        if self._count > MAX_PARTS:
            raise TooLarge(f"A request may have {MAX_PARTS:,} files.")
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
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        name = options.get(b"filename")
        self._field = None if name is not None else _text(options.get(b"name", b""))
        if name is not None:
            self._arriving = self._uploads.begin(_text(name))

    def _data(self, data: bytes, start: int, end: int) -> None:
        if self._arriving:
            self._arriving.write(memoryview(data)[start:end])
            return
        self._texts += end - start
        if self._texts > MAX_FIELD_BYTES:
            raise TooLarge("The fields of the form, other than files, are too long.")
        self._text += data[start:end]

    def _close(self) -> None:
        if self._arriving:
            self._arriving.finish()
            # Browsers send an empty file for a form in which no file was chosen.
            if self._arriving.size or self._arriving.name != UNNAMED:
                self._arrived.append(self._arriving)
            else:
                self._arriving.discard()
            self._arriving = None
        elif self._field is not None:
            value = _text(bytes(self._text))
            if self._field == REPEATABLE and self._field in self.form.fields:
                value = f"{self.form.fields[self._field]},{value}"
            self.form.fields[self._field] = value

    def _end(self) -> None:
        self.is_complete = True


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
