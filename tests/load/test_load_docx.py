"""DOCX, from small ones that the tests zip themselves."""

import io
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from fabula.errors import LoadError
from fabula.load import load
from fabula.load.blocks import Draft
from fabula.load.docx import read

LIMIT = 1_000_000
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
TYPES = """<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>
<Default Extension="xml" ContentType="application/xml"/></Types>"""
RELATIONS = """<Relationships
 xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{}</Relationships>"""
KIND = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
CORE = """<cp:coreProperties xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties">
<dc:title>Żółw</dc:title><dc:creator>A. Writer</dc:creator><dc:language>pl-PL</dc:language>
</cp:coreProperties>"""
STYLES = f"""<w:styles {W}>
<w:style w:type="paragraph" w:styleId="Title"><w:name w:val="Title"/></w:style>
<w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style>
<w:style w:type="paragraph" w:styleId="TOC1"><w:name w:val="toc 1"/></w:style></w:styles>"""
BODY = "Then he went up to the old house, and nobody there knew who he was. " * 6


def paragraph(text: str, style: str = "", more: str = "") -> str:
    """A paragraph; a newline in it is a line break."""
    runs = "<w:br/>".join(f"<w:t>{escape(line)}</w:t>" for line in text.split("\n"))
    kind = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
    return f"<w:p>{kind}<w:r>{runs}{more}</w:r></w:p>"


def docx(body: str, prolog: str = "", **entries: str) -> bytes:
    """A document with this body; `entries` are parts of it by their names in `word/`."""
    kinds = {"styles": STYLES, **entries}
    inner = "".join(
        f'<Relationship Id="{name}" Type="{KIND}/{name}" Target="{name}.xml"/>' for name in kinds
    )
    outer = f'<Relationship Id="d" Type="{KIND}/officeDocument" Target="word/document.xml"/>'
    parts = {
        "[Content_Types].xml": TYPES,
        "_rels/.rels": RELATIONS.format(outer),
        "docProps/core.xml": CORE,
        "word/_rels/document.xml.rels": RELATIONS.format(inner),
        "word/document.xml": f"{prolog}<w:document {W}><w:body>{body}</w:body></w:document>",
        **{f"word/{name}.xml": content for name, content in kinds.items()},
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


CHAPTERS = "".join(
    paragraph(name, "H1") + paragraph(BODY) for name in ("Rozdział I", "Rozdział II")
)


def opened(body: str, **entries: str) -> Draft:
    return read(docx(body, **entries), "book.docx", LIMIT)


def texts(draft: Draft) -> list[str]:
    return [block.text for block in draft.blocks]


def test_headings_are_sections_and_the_properties_are_its_facts() -> None:
    draft = opened(CHAPTERS)
    assert [block.heading for block in draft.blocks] == ["Rozdział I", "", "Rozdział II", ""]
    assert (draft.title, draft.author, draft.language) == ("Żółw", "A. Writer", "pl-PL")


def test_verse_keeps_its_lines() -> None:
    assert texts(opened(paragraph("Roses are red,\nViolets are blue."))) == [
        "Roses are red,\nViolets are blue."
    ]


def test_a_note_comes_after_the_paragraph_that_calls_it() -> None:
    notes = (
        f'<w:footnotes {W}><w:footnote w:id="2">{paragraph("Who lit it")}'
        f'{paragraph("is not told.")}</w:footnote><w:footnote w:id="3">'
        f"{paragraph('So they say.')}</w:footnote></w:footnotes>"
    )
    called = '<w:footnoteReference w:id="{}"/>'
    body = paragraph("The lamp was lit.", more=called.format(2)) + paragraph("He left.")
    assert texts(opened(body + paragraph("Soon.", more=called.format(3)), footnotes=notes)) == [
        "The lamp was lit.[1]",
        "[1] Who lit it\nis not told.",
        "He left.",
        "Soon.[2]",
        "[2] So they say.",
    ]


def test_contents_running_heads_and_what_was_deleted_are_no_text() -> None:
    deleted = "<w:p><w:del><w:r><w:delText>No.</w:delText></w:r></w:del></w:p>"
    contents = paragraph("Rozdział I\t1", "TOC1") + paragraph("Rozdział II\t9", "TOC1")
    head = f"<w:hdr {W}>{paragraph('RUNNING HEAD')}</w:hdr>"
    assert opened(contents + deleted + CHAPTERS, header=head) == opened(CHAPTERS)


def test_pictures_are_left_out() -> None:
    picture = (
        '<w:drawing><wp:inline xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/'
        'wordprocessingDrawing"><a:graphic xmlns:a="http://schemas.openxmlformats.org/drawingml/'
        '2006/main"><a:graphicData><pic:pic xmlns:pic="http://schemas.openxmlformats.org/drawingml/'
        '2006/picture"><pic:blipFill><a:blip xmlns:r="http://schemas.openxmlformats.org/'
        'officeDocument/2006/relationships" r:link="styles"/></pic:blipFill></pic:pic>'
        "</a:graphicData></a:graphic></wp:inline></w:drawing>"
    )
    assert texts(opened(paragraph("Before.", more=picture))) == ["Before."]


def test_one_with_a_password_is_refused() -> None:
    with pytest.raises(LoadError, match=r"^book\.docx is protected by a password, or an old Word"):
        read(b"\xd0\xcf\x11\xe0" + b"\0" * 1000, "book.docx", LIMIT)


def test_a_zip_bomb_is_refused() -> None:
    with pytest.raises(LoadError, match=r"^book\.docx unpacks to more than the limit"):
        opened(paragraph("a" * 3_000_000))


@pytest.mark.parametrize(
    "data",
    [
        b"no zip at all",
        docx(CHAPTERS)[:-200],
        docx(CHAPTERS).replace(b"word/document.xml", b"word/documint.xml"),
        docx("<w:p>"),
    ],
    ids=["no zip", "cut", "no text", "no xml"],
)
def test_a_broken_document_is_refused_by_name(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "book.docx"
    file.write_bytes(data)
    with pytest.raises(LoadError, match=r"book\.docx .*(broken|damaged)"):
        load(file, "default", LIMIT)


def test_entities_neither_grow_nor_fetch(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("hunter2")
    laughs = '<!ENTITY a "ha">' + "".join(
        f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(9)
    )
    fetch = f'<!ENTITY x SYSTEM "{(tmp_path / "secret.txt").as_uri()}">'
    file = tmp_path / "book.docx"
    for entity, defined in (("&j;", laughs), ("&x;", fetch)):
        body = paragraph("A word").replace("word", f"word{entity}")
        file.write_bytes(docx(body, f"<!DOCTYPE d [{defined}]>"))
        with pytest.raises(LoadError, match=r"book\.docx is a broken DOCX.*entities"):
            load(file, "default", LIMIT)
