"""ODT, from small ones that the tests zip themselves."""

import io
import zipfile

import pytest

from book_files import ODT_META, ODT_SPACES, odt
from cases import for_each
from fabula.errors import LoadError
from fabula.load.blocks import Draft
from fabula.load.locators import page_mark
from fabula.load.odt import read

LIMIT = 1_000_000
BODY = f"<text:p>{'Then he went up to the old house, and nobody there knew him. ' * 6}</text:p>"
CHAPTERS = "".join(
    f'<text:h text:outline-level="1">{name}</text:h>{BODY}'
    for name in ("Rozdział I", "Rozdział II")
)


def opened(body: str, meta: str = ODT_META) -> Draft:
    return read(odt(body, meta=meta), "book.odt", LIMIT)


def texts(body: str) -> list[str]:
    return [block.text for block in opened(body).blocks]


def test_headings_are_sections_and_the_metadata_are_its_facts() -> None:
    draft = opened(CHAPTERS)
    assert [block.heading for block in draft.blocks] == ["Rozdział I", "", "Rozdział II", ""]
    assert (draft.title, draft.author, draft.language) == ("Żółw", "A. Writer", "pl-PL")


def test_a_paragraph_in_the_style_of_titles_is_the_title_of_a_document_without_one() -> None:
    draft = opened(f'<text:p text:style-name="P1">A Tale</text:p>{CHAPTERS}', meta="")
    assert draft.title == "A Tale"
    assert next(block.heading for block in draft.blocks if block.heading) == "Rozdział I"


def test_verse_keeps_its_lines_and_spaces_are_one() -> None:
    verse = (
        "<text:p>Roses<text:s text:c='3'/>are<text:tab/>red,<text:line-break/>So are you.</text:p>"
    )
    assert texts(verse) == ["Roses are red,\nSo are you."]


def test_a_note_comes_after_the_paragraph_that_calls_it() -> None:
    note = (
        "<text:note><text:note-citation>7</text:note-citation><text:note-body><text:p>Who lit it"
        "</text:p><text:p>is not told.</text:p></text:note-body></text:note>"
    )
    assert texts(f"<text:p>The lamp{note} was lit.</text:p><text:p>He left.</text:p>") == [
        "The lamp[1] was lit.",
        "[1] Who lit it\nis not told.",
        "He left.",
    ]


def test_lists_and_tables_keep_their_words_apart() -> None:
    body = (
        "<text:list><text:list-item><text:p>One</text:p></text:list-item><text:list-item><text:p>Two"
        "</text:p></text:list-item></text:list><table:table><table:table-row><table:table-cell>"
        "<text:p>a</text:p></table:table-cell><table:table-cell><text:p>b</text:p></table:table-cell>"
        "</table:table-row></table:table>"
    )
    assert texts(body) == ["One\nTwo\na\nb"]


def test_contents_and_what_was_deleted_or_remarked_are_no_text() -> None:
    other = "".join(
        f"<{name}><text:p>No.</text:p></{name}>"
        for name in ("text:table-of-content", "text:tracked-changes", "office:annotation")
    )
    draft = opened(f"{other}{CHAPTERS}")
    assert draft.blocks == opened(CHAPTERS).blocks
    assert draft.left_out == {"contents": 3, "deleted text": 3, "comments": 3}


def test_one_with_a_password_is_refused() -> None:
    locked = "<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>"
    data = odt("", manifest=f"<manifest:manifest {ODT_SPACES}>{locked}</manifest:manifest>")
    with pytest.raises(LoadError, match=r"^book\.odt is protected by a password"):
        read(data, "book.odt", LIMIT)


def test_a_zip_bomb_is_refused() -> None:
    with pytest.raises(LoadError, match=r"^book\.odt unpacks to more than the limit"):
        opened(f"<text:p>{'a' * 3_000_000}</text:p>")


def test_any_depth_is_read() -> None:
    deep = "<text:span>" * 50_000 + "deep" + "</text:span>" * 50_000
    draft = read(odt(f"<text:p>{deep}</text:p>"), "book.odt", 10 * LIMIT)
    assert [block.text for block in draft.blocks] == ["deep"]


@for_each(
    "data",
    [
        b"no zip at all",
        odt(CHAPTERS)[:-200],
        odt(CHAPTERS).replace(b"content.xml", b"cantent.xml"),
        odt("<text:p>"),
        odt("&a;", '<!DOCTYPE a [<!ENTITY a "b">]>'),
        odt("&a;", '<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/hostname">]>'),
    ],
    ids=["no zip", "cut", "no text", "no xml", "entity", "outside"],
)
def test_a_broken_document_is_refused_by_name(data: bytes) -> None:
    with pytest.raises(LoadError, match=r"^book\.odt .*broken"):
        read(data, "book.odt", LIMIT)


def styled(name: str, properties: str, parent: str = "") -> str:
    kind = f' style:parent-style-name="{parent}"' if parent else ""
    return f'<style:style style:name="{name}"{kind}>{properties}</style:style>'


def with_styles(body: str, *styles: str) -> Draft:
    data = odt(body)
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
        content = f"<office:document-styles {ODT_SPACES}>{''.join(styles)}</office:document-styles>"
        new.writestr("styles.xml", content)
    return read(file.getvalue(), "book.odt", LIMIT)


def test_the_reading_above_a_word_is_left_out_and_counted() -> None:
    base, reading = (
        "<text:ruby-base>粉屋</text:ruby-base>",
        "<text:ruby-text>こなや</text:ruby-text>",
    )
    ruby = f"<text:ruby>{base}{reading}</text:ruby>"
    draft = opened(f"<text:p>老いた{ruby}は</text:p>")
    assert [block.text for block in draft.blocks] == ["老いた粉屋は"]
    assert draft.left_out == {"readings": 3}


def test_hidden_text_and_sections_are_left_out_and_counted() -> None:
    body = (
        '<text:p>Seen. <text:span text:style-name="H">Unseen. </text:span>Again.</text:p>'
        '<text:section text:display="none"><text:p>No.</text:p></text:section>'
        '<text:p text:style-name="H">Nor this.</text:p>'
    )
    draft = with_styles(body, styled("H", '<style:text-properties text:display="none"/>'))
    assert [block.text for block in draft.blocks] == ["Seen. Again."]
    assert draft.left_out == {"hidden text": len("Unseen.") + len("No.") + len("Northis.")}


def test_a_raised_number_is_not_glued_to_its_word() -> None:
    style = styled("S", '<style:text-properties style:text-position="super 58%"/>')
    span = '<text:span text:style-name="S">{}</text:span>'
    texts = f"geese{span.format(1)} on the 1{span.format('st')} for 10{span.format(6)}"
    draft = with_styles(f"<text:p>{texts}</text:p>", style)
    assert [block.text for block in draft.blocks] == ["geese[1] on the 1st for 10⁶"]


def test_headings_have_levels_by_their_outline_or_their_style() -> None:
    body = (
        f'<text:h text:outline-level="1">The Mill</text:h>{BODY}'
        f'<text:h text:outline-level="2">The Weir</text:h>{BODY}'
        f'<text:p text:style-name="Mine">The Ferry</text:p>{BODY}'
        f'<text:h text:outline-level="5">No section</text:h>{BODY}'
    )
    style = styled("Mine", "", "Heading_20_3") + styled("Heading_20_3", "", "Heading")
    levels = [(b.heading, b.level) for b in with_styles(body, style).blocks if b.heading]
    assert levels == [("The Mill", 1), ("The Weir", 2), ("The Ferry", 3)]


def test_a_text_box_follows_its_paragraph_and_a_pictures_description_is_none() -> None:
    frame = (
        '<draw:frame xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" '
        'xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0">'
        "<draw:text-box><text:p>To Marta.</text:p></draw:text-box><svg:desc>A box</svg:desc>"
        "</draw:frame>"
    )
    draft = opened(f"<text:p>She found {frame}a letter.</text:p><text:p>She wept.</text:p>")
    assert [b.text for b in draft.blocks] == ["She found a letter.", "To Marta.", "She wept."]
    assert draft.left_out == {"pictures": 4}


def test_bookmarks_of_pages_are_pages() -> None:
    draft = opened('<text:p>the lan<text:bookmark text:name="page_12"/>tern</text:p>')
    assert draft.blocks[0].text == f"the lan{page_mark('12')}tern"


def test_damaged_metadata_cost_only_them() -> None:
    draft = opened(CHAPTERS, meta="<office:document-meta")
    assert len(draft.blocks) == 4
    assert "meta.xml" in draft.warnings[0]


@for_each(
    "shape",
    [
        "<draw:custom-shape>{}</draw:custom-shape>",
        "<draw:rect>{}</draw:rect>",
        "<draw:g><draw:ellipse>{}</draw:ellipse><draw:line/></draw:g>",
    ],
)
def test_a_shape_with_text_does_not_divide_the_sentence_around_it(shape: str) -> None:
    drawn = shape.format("<text:p>In the shape.</text:p>").replace(
        ">", ' xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0">', 1
    )
    body = f"<text:p>Before the {drawn}word after.</text:p><text:p>He left it there.</text:p>"
    assert texts(body) == ["Before the word after.", "In the shape.", "He left it there."]
