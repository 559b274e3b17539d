"""Small EPUBs, which tests zip themselves."""

from __future__ import annotations

import io
import zipfile

CONTAINER = """<?xml version="1.0"?>
<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>
<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/>
</rootfiles></container>"""
OPF = """<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Żółw</dc:title>
<dc:creator>A. Writer</dc:creator><dc:language>pl-PL</dc:language></metadata>
<manifest>{items}</manifest><spine>{spine}</spine></package>"""


def page(body: str) -> str:
    return (
        '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html'
        f' xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body>{body}</body></html>'
    )


def epub(pages: dict[str, str], extra: dict[str, str] | None = None, items: str = "") -> bytes:
    """An EPUB with these pages in this order, and other entries of the zip."""
    listed = "".join(
        f'<item id="{name}" href="text/{name.replace(" ", "%20")}" '
        'media-type="application/xhtml+xml"/>'
        for name in pages
    )
    spine = "".join(f'<itemref idref="{name}"/>' for name in pages)
    entries = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": CONTAINER,
        "OEBPS/book.opf": OPF.format(items=listed + items, spine=spine),
        **{f"OEBPS/text/{name}": page(body) for name, body in pages.items()},
        **(extra or {}),
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return file.getvalue()
