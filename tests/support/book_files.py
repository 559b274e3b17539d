"""Small books in each format, which tests write and zip themselves."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from html import escape

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
DOCX_TYPES = """<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/></Types>"""
DOCX_RELATIONS = """<Relationships
 xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>"""
DOCX_KIND = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
DOCX_CORE = """<cp:coreProperties xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties">
<dc:title>Żółw</dc:title><dc:creator>A. Writer</dc:creator><dc:language>pl-PL</dc:language>
</cp:coreProperties>"""
STYLES = f"""<w:styles {W}>
<w:style w:type="paragraph" w:styleId="Title"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style>
<w:style w:type="paragraph" w:styleId="TOC1"><w:name w:val="toc 1"/></w:style></w:styles>"""
ODT_SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "text", "style", "table", "meta", "manifest")
)
ODT_META = f"""<office:document-meta {ODT_SPACES} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta>
<dc:title>Żółw</dc:title><meta:initial-creator>A. Writer</meta:initial-creator>
<dc:creator>Somebody Else</dc:creator><dc:language>pl-PL</dc:language></office:meta>
</office:document-meta>"""
RTF_HEAD = r"""{\rtf1\ansi\ansicpg1250\uc1{\fonttbl{\f0\fnil\fcharset238 Times;}}
{\stylesheet{\s1\outlinelevel0 heading 1;}}{\info{\title \'af\'f3\'b3w}{\author A. Writer}}"""
TEI_HEADER = """<teiHeader><fileDesc><titleStmt><title type="main">Żółw</title>
<author>A. Writer</author></titleStmt><publicationStmt><availability><licence>Free.</licence>
</availability></publicationStmt></fileDesc></teiHeader>"""
EPUB_CONTAINER = """<?xml version="1.0"?>
<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0"><rootfiles>
<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/>
</rootfiles></container>"""
EPUB_OPF = """<?xml version="1.0" encoding="utf-8"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Żółw</dc:title>
<dc:creator>A. Writer</dc:creator><dc:language>pl-PL</dc:language></metadata>
<manifest>{items}</manifest><spine>{spine}</spine></package>"""
CHAPTER_TEXT = "<p>Then he went up to the old house, and nobody there knew who he was.</p>" * 6
CHAPTERS = {
    "two.xhtml": f"<h2>Rozdział I</h2>{CHAPTER_TEXT}",
    "a one.xhtml": f"<h2>Rozdział II</h2>{CHAPTER_TEXT}",
}


def paragraph(text: str, style: str = "", more: str = "") -> str:
    """A paragraph; a newline in it is a line break."""
    runs = "<w:br/>".join(f"<w:t>{escape(line)}</w:t>" for line in text.split("\n"))
    kind = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{kind}<w:r>{runs}{more}</w:r></w:p>"


def docx(body: str, prolog: str = "", **entries: str) -> bytes:
    """A document with this body; `entries` are parts of it by their names in `word/`."""
    kinds = {"styles": STYLES, **entries}
    inner = "".join(
        f'<Relationship Id="{name}" Type="{DOCX_KIND}/{name}" Target="{name}.xml"/>'
        for name in kinds
    )
    outer = f'<Relationship Id="d" Type="{DOCX_KIND}/officeDocument" Target="word/document.xml"/>'
    parts = {
        "[Content_Types].xml": DOCX_TYPES,
        "_rels/.rels": DOCX_RELATIONS.format(outer),
        "docProps/core.xml": DOCX_CORE,
        "word/_rels/document.xml.rels": DOCX_RELATIONS.format(inner),
        "word/document.xml": f"{prolog}<w:document {W}><w:body>{body}</w:body></w:document>",
        **{f"word/{name}.xml": content for name, content in kinds.items()},
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def odt(body: str, prolog: str = "", meta: str = ODT_META, **entries: str) -> bytes:
    """A document with this body; `entries` are other files by their names in META-INF."""
    style = '<style:style style:name="P1" style:parent-style-name="Title"/>'
    content = (
        f"{prolog}<office:document-content {ODT_SPACES}><office:automatic-styles>{style}"
        f"</office:automatic-styles><office:body><office:text>{body}</office:text></office:body>"
        "</office:document-content>"
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        kind = "application/vnd.oasis.opendocument.text"
        archive.writestr("mimetype", kind, zipfile.ZIP_STORED)
        archive.writestr("content.xml", content)
        if meta:
            archive.writestr("meta.xml", meta)
        for name, text in entries.items():
            archive.writestr(f"META-INF/{name}.xml", text)
    return file.getvalue()


def rtf(body: str) -> bytes:
    """A document with this body, which is RTF."""
    return f"{RTF_HEAD}\n{body}}}".encode("latin-1")


def pdf(pages: Sequence[Sequence[str]]) -> bytes:
    """A PDF of these lines, written by hand."""
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R /Lang (en-GB) >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    for number, lines in enumerate(pages):
        shown = " ".join(f"({line}) Tj 0 -14 Td" for line in lines)
        stream = f"BT /F1 12 Tf 72 720 Td {shown} ET"
        objects.append(
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] "
            f"/Resources << /Font << /F1 3 0 R >> >> /Contents {5 + 2 * number} 0 R >>"
        )
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    data, offsets = "%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(data))
        data += f"{number} 0 obj\n{content}\nendobj\n"
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    data += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    data += f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\n"
    data += f"startxref\n{data.index('xref')}\n%%EOF"
    return data.encode("cp1252")


def tei(body: str, front: str = "") -> bytes:
    """A TEI edition with this body and front matter."""
    return (
        f'<TEI xmlns="http://www.tei-c.org/ns/1.0" xml:lang="pl">{TEI_HEADER}<text><front>{front}'
        f"</front><body>{body}</body></text></TEI>"
    ).encode()


def fb2(body: str, encoding: str = "utf-8", notes: str = "") -> bytes:
    """A FictionBook with this body, and a body of notes."""
    return (
        f'<?xml version="1.0" encoding="{encoding}"?><FictionBook '
        'xmlns="http://www.gribuser.ru/xml/fictionbook/2.0" xmlns:l="http://www.w3.org/1999/xlink">'
        "<description><title-info><author><first-name>Антон</first-name><last-name>Чехов"
        "</last-name><email>no@where</email></author><book-title>Чайка</book-title><annotation><p>Buy!</p>"
        f"</annotation><lang>ru</lang></title-info></description><body>{body}</body>{notes}<binary "
        'id="a">QUFB</binary></FictionBook>'
    ).encode(encoding)


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
        "META-INF/container.xml": EPUB_CONTAINER,
        "OEBPS/book.opf": EPUB_OPF.format(items=listed + items, spine=spine),
        **{f"OEBPS/text/{name}": page(body) for name, body in pages.items()},
        **(extra or {}),
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return file.getvalue()


SENTENCE = "The keeper lit the lamp at six. He told nobody why. "
BOOKS = {
    ".txt": f"Title: A Story\n\nChapter 1\n\n{SENTENCE * 4}\n\nChapter 2\n\n{SENTENCE}".encode(),
    ".md": (
        f"---\ntitle: A\n---\n# One\n\n{SENTENCE}\n\n> - a *b* [c](d)\n\n|a|b|\n|-|-|\n|c|d|\n\n"
        f"<div>e</div>\n\n```\nf\n```\n\n# Two\n\n![g](h) `i` &amp; {SENTENCE}"
    ).encode(),
    ".html": (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>A</title></head><body>'
        f"<h1>One</h1><p>{SENTENCE}<br><i>b</i></p><ul><li>c</ul><table><tr><td>d</table>"
        f"<pre>e\n f</pre><script>g</script><h2>Two</h2><p>{SENTENCE} &amp; ż</body></html>"
    ).encode(),
    ".epub": epub({"a.xhtml": f"<h1>One</h1><p>{SENTENCE}</p>", "b.xhtml": f"<p>{SENTENCE}</p>"}),
    ".pdf": pdf([["Chapter 1", SENTENCE], [SENTENCE, "The end."]]),
    ".docx": docx(paragraph("One", "H1") + paragraph(SENTENCE)),
    ".odt": odt(f"<text:h>One</text:h><text:p>{SENTENCE}</text:p>"),
    ".rtf": rtf(rf"\pard\outlinelevel0 One\par\pard {SENTENCE}{{\footnote a\par b}}\line \'f3\par"),
    ".tei": tei(f"<div><head>One</head><sp><speaker>A</speaker><l>{SENTENCE}</l></sp></div>"),
    ".fb2": fb2(f"<section><title><p>One</p></title><p>{SENTENCE}</p></section>"),
}
"""A book in each format, by the ending of its files."""
