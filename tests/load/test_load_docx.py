"""DOCX, from small ones that the tests zip themselves."""

import io
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from book_files import STYLES, W, docx, paragraph
from cases import for_each
from fabula.errors import LoadError
from fabula.load import load
from fabula.load.blocks import Draft
from fabula.load.docx import read

LIMIT = 1_000_000
BODY = "Then he went up to the old house, and nobody there knew who he was. " * 6
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
    draft = opened(contents + deleted + CHAPTERS, header=head)
    assert draft.blocks == opened(CHAPTERS).blocks
    assert draft.left_out == {"contents": 25, "deleted text": 3, "running heads": 11}


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


MARKUP = (
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    ' xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape"'
    ' xmlns:v="urn:schemas-microsoft-com:vml"'
    ' xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
)


def run(text: str, properties: str = "") -> str:
    return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def styled(text: str, properties: str) -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr>{run(text)}</w:p>"


def box(text: str) -> str:
    return f"<w:txbxContent>{paragraph(text)}</w:txbxContent>"


@for_each(
    "shape",
    [
        "<w:drawing><wps:txbx>{0}</wps:txbx></w:drawing>",
        "<w:pict><v:shape><v:textbox>{0}</v:textbox></v:shape></w:pict>",
        (
            '<mc:AlternateContent><mc:Choice Requires="wps"><w:drawing><wps:txbx>{0}</wps:txbx>'
            "</w:drawing></mc:Choice><mc:Fallback><w:pict><v:textbox>{0}</v:textbox></w:pict>"
            "</mc:Fallback></mc:AlternateContent>"
        ),
        (
            '<mc:AlternateContent><mc:Choice Requires="cx1"><w:drawing/></mc:Choice><mc:Fallback>'
            "<w:pict><v:textbox>{0}</v:textbox></w:pict></mc:Fallback></mc:AlternateContent>"
        ),
    ],
    ids=["DrawingML", "VML", "both", "Fallback alone"],
)
def test_a_text_box_is_read_once_after_its_paragraph(shape: str) -> None:
    more = shape.format(box("To Marta.")).replace("<w:drawing", f"<w:drawing {MARKUP}")
    more = more.replace("<w:pict>", f"<w:pict {MARKUP}>").replace(
        "<mc:AlternateContent>", f"<mc:AlternateContent {MARKUP}>"
    )
    body = f"<w:p>{run('She found')}<w:r>{more}</w:r>{run(' a letter.')}</w:p>"
    assert texts(opened(body + paragraph("She wept."))) == [
        "She found a letter.",
        "To Marta.",
        "She wept.",
    ]


def test_the_reading_above_a_word_is_left_out_and_counted() -> None:
    reading, base = f"<w:rt>{run('こなや')}</w:rt>", f"<w:rubyBase>{run('粉屋')}</w:rubyBase>"
    ruby = f"<w:r><w:ruby>{reading}{base}</w:ruby></w:r>"
    draft = opened(f"<w:p>{run('老いた')}{ruby}{run('は')}</w:p>")
    assert texts(draft) == ["老いた粉屋は"]
    assert draft.left_out == {"readings": 3}


def test_an_older_reading_is_in_the_instruction_of_a_field() -> None:
    field = (
        '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText>EQ \\* jc2 \\* hps12 '
        "\\o\\ad(\\s\\up 11(こなや),粉屋)</w:instrText></w:r>"
        '<w:r><w:fldChar w:fldCharType="end"/></w:r>'
    )
    assert texts(opened(f"<w:p>{run('老いた')}{field}{run('は')}</w:p>")) == ["老いた粉屋は"]


def test_hidden_text_is_left_out_and_counted() -> None:
    styles = STYLES.replace(
        "</w:styles>",
        '<w:style w:type="character" w:styleId="Secret"><w:name w:val="Secret"/><w:rPr><w:vanish/>'
        "</w:rPr></w:style></w:styles>",
    )
    body = (
        f"<w:p>{run('Seen. ')}{run('Unseen. ', '<w:vanish/>')}"
        f"{run('Nor this.', '<w:rStyle w:val=' + chr(34) + 'Secret' + chr(34) + '/>')}"
        f"{run('Seen again.', '<w:vanish w:val=' + chr(34) + '0' + chr(34) + '/>')}</w:p>"
    )
    draft = opened(body, styles=styles)
    assert texts(draft) == ["Seen. Seen again."]
    assert draft.left_out == {"hidden text": len("Unseen. Nor this.")}


def test_a_raised_number_is_not_glued_to_its_word() -> None:
    raised = '<w:vertAlign w:val="superscript"/>'
    body = (
        f"<w:p>{run('the geese')}{run('1', raised)}{run('2', raised)}{run(' left on the 1')}"
        f"{run('st', raised)}{run(' for 10')}{run('6', raised)}{run(' m')}{run('2', raised)}</w:p>"
    )
    assert texts(opened(body)) == ["the geese[12] left on the 1st for 10⁶ m²"]


def test_headings_are_known_by_levels_styles_and_what_styles_are_based_on() -> None:
    def style(name: str, more: str) -> str:
        kind = f'w:type="paragraph" w:styleId="{name}"'
        return f'<w:style {kind}><w:name w:val="{name}"/>{more}</w:style>'

    styles = STYLES.replace(
        "</w:styles>",
        style("Mine", '<w:basedOn w:val="H1"/>')
        + style("Überschrift 2", "")
        + style("Chapter Title", "")
        + style("Deep", '<w:pPr><w:outlineLvl w:val="5"/></w:pPr>')
        + style("Body", '<w:basedOn w:val="H1"/><w:pPr><w:outlineLvl w:val="9"/></w:pPr>')
        + "</w:styles>",
    )
    names = ["Mine", "Überschrift 2", "Chapter Title", "Deep", "Body"]
    body = "".join(paragraph(f"The {name}", name) + paragraph(BODY) for name in names)
    body += styled("The Level", '<w:outlineLvl w:val="2"/>') + paragraph(BODY)
    assert [(b.heading, b.level) for b in opened(body, styles=styles).blocks if b.heading] == [
        ("The Mine", 1),
        ("The Überschrift 2", 2),
        ("The Chapter Title", 2),
        ("The Level", 3),
    ]


def test_numbers_that_word_puts_before_headings_are_text() -> None:
    numbering = (
        f'<w:numbering {W}><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0">'
        '<w:numFmt w:val="upperRoman"/><w:lvlText w:val="CHAPTER %1."/></w:lvl></w:abstractNum>'
        '<w:num w:numId="7"><w:abstractNumId w:val="0"/></w:num></w:numbering>'
    )
    kind = '<w:pStyle w:val="H1"/><w:numPr><w:ilvl w:val="0"/><w:numId w:val="7"/></w:numPr>'
    body = "".join(styled(name, kind) + paragraph(BODY) for name in ("The Mill", ""))
    draft = opened(body, numbering=numbering)
    assert [b.heading for b in draft.blocks if b.heading] == ["CHAPTER I. The Mill", "CHAPTER II"]


def test_a_dropped_initial_is_the_beginning_of_its_word() -> None:
    body = styled("T", '<w:framePr w:dropCap="drop" w:lines="3"/>') + paragraph("he miller slept.")
    assert texts(opened(body)) == ["The miller slept."]


def test_a_table_of_contents_is_a_field_too_and_one_without_end_hides_nothing() -> None:
    begin = (
        '<w:p><w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> TOC \\o "1-3" '
        '</w:instrText></w:r><w:r><w:fldChar w:fldCharType="separate"/></w:r>'
        f"{run('The Mill 1')}</w:p>"
    )
    end = '<w:p><w:r><w:fldChar w:fldCharType="end"/></w:r></w:p>'
    draft = opened(begin + end + CHAPTERS)
    assert draft.blocks == opened(CHAPTERS).blocks
    assert draft.left_out == {"contents": 10}
    assert texts(opened(begin + CHAPTERS)) == ["The Mill 1", *texts(opened(CHAPTERS))]


def test_what_was_moved_is_read_where_it_is_now() -> None:
    body = (
        f"<w:p>{run('He ')}<w:moveFrom>{run('slowly ')}</w:moveFrom>{run('went')}"
        f"<w:ins>{run(' away')}</w:ins><w:moveTo>{run(' slowly')}</w:moveTo>"
        "<w:del><w:r><w:delText>home</w:delText></w:r></w:del></w:p>"
    )
    draft = opened(body)
    assert texts(draft) == ["He went away slowly"]
    assert draft.left_out == {"deleted text": len("slowly") + len("home")}


def test_an_inserted_document_is_counted_and_told() -> None:
    body = f'{paragraph("Before.")}<w:altChunk {MARKUP} r:id="chunk"/>{paragraph("After.")}'
    draft = opened(body, chunk="<html><p>The lamp.</p></html>")
    assert texts(draft) == ["Before.", "After."]
    assert draft.left_out["inserted documents"]
    assert "book.docx inserts the document word/chunk.xml" in draft.warnings[0]


def test_programs_titles_and_authors_are_none() -> None:
    data = docx(paragraph("A Tale", "Title") + CHAPTERS)
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            content = old.read(name).decode()
            new.writestr(name, content.replace("Żółw", "untitled").replace("A. Writer", "User"))
    draft = read(file.getvalue(), "book.docx", LIMIT)
    assert (draft.title, draft.author) == ("A Tale", "")


def test_a_damaged_part_beside_the_text_costs_that_part() -> None:
    draft = opened(CHAPTERS, footnotes="<w:footnotes")
    assert len(draft.blocks) == 4
    assert "word/footnotes.xml" in draft.warnings[0]


def test_the_two_stories_of_a_file_are_sections_and_not_its_title() -> None:
    data = paragraph("The Kettle", "H1") + paragraph(BODY) + paragraph("The Spoon", "H1")
    blocks = opened(data + paragraph(BODY)).blocks
    assert [b.heading for b in blocks if b.heading] == ["The Kettle", "The Spoon"]


def test_a_list_that_begins_anew_counts_from_its_own_start() -> None:
    form = '<w:numFmt w:val="decimal"/><w:lvlText w:val="%1."/>'
    level = f'<w:lvl w:ilvl="0"><w:start w:val="1"/>{form}</w:lvl>'
    numbers = "".join(
        f'<w:num w:numId="{number}"><w:abstractNumId w:val="1"/>{override}</w:num>'
        for number, override in (
            (1, ""),
            (2, '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="1"/></w:lvlOverride>'),
            (3, '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="7"/></w:lvlOverride>'),
        )
    )
    numbering = (
        f'<w:numbering {W}><w:abstractNum w:abstractNumId="1">{level}</w:abstractNum>{numbers}'
        "</w:numbering>"
    )

    def item(text: str, number: int) -> str:
        properties = f'<w:numPr><w:ilvl w:val="0"/><w:numId w:val="{number}"/></w:numPr>'
        return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"

    body = "".join(
        [item("a", 1), item("b", 1), item("c", 2), item("d", 2), item("e", 3), item("f", 1)]
    )
    lines = "\n".join(texts(opened(body, numbering=numbering))).split("\n")
    assert lines == ["1. a", "2. b", "1. c", "2. d", "7. e", "8. f"]
