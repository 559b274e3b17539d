"""EPUB, from small ones that the tests zip themselves."""

import pytest

from epubs import epub, page
from fabula.errors import LoadError
from fabula.load.blocks import Draft
from fabula.load.epub import read

LIMIT = 1_000_000
BODY = "<p>Then he went up to the old house, and nobody there knew who he was.</p>" * 6
ENCRYPTION = """<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"
 xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData>
<enc:EncryptionMethod Algorithm="{algorithm}"/></enc:EncryptedData></encryption>"""


def opened(data: bytes) -> Draft:
    return read(data, "book.epub", LIMIT)


def headings(draft: Draft) -> list[str]:
    return [block.heading for block in draft.blocks if block.heading]


CHAPTERS = {"two.xhtml": f"<h2>Rozdział I</h2>{BODY}", "a one.xhtml": f"<h2>Rozdział II</h2>{BODY}"}


def test_pages_come_in_the_spines_order_with_their_headings() -> None:
    draft = opened(epub(CHAPTERS))
    assert headings(draft) == ["Rozdział I", "Rozdział II"]
    assert len(draft.blocks) == 14


def test_the_package_says_title_author_and_language() -> None:
    draft = opened(epub(CHAPTERS))
    assert (draft.title, draft.author, draft.language) == ("Żółw", "A. Writer", "pl-PL")


def test_a_page_without_a_heading_is_called_what_the_contents_call_it() -> None:
    links = '<a href="text/1.xhtml">One day</a><a href="text/2.xhtml">Later</a>'
    nav = f'<nav epub:type="toc">{links}</nav>'
    draft = opened(
        epub(
            {"1.xhtml": BODY, "2.xhtml": BODY},
            {"OEBPS/nav.xhtml": page(nav)},
            '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>',
        )
    )
    assert headings(draft) == ["One day", "Later"]


def test_the_contents_of_epub_2_serve_as_well() -> None:
    ncx = (
        '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>'
        '<navPoint><navLabel><text>One day</text></navLabel><content src="text/1.xhtml#a"/>'
        "</navPoint><navPoint><navLabel><text>Later</text></navLabel>"
        '<content src="text/2.xhtml"/></navPoint>'
        "</navMap></ncx>"
    )
    draft = opened(
        epub(
            {"1.xhtml": BODY, "2.xhtml": BODY},
            {"OEBPS/toc.ncx": ncx},
            '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>',
        )
    )
    assert headings(draft) == ["One day", "Later"]


def test_project_gutenbergs_pages_are_removed() -> None:
    pages = {
        "0.xhtml": "<section class='pg-boilerplate pgheader'><p>PG header</p></section>",
        **CHAPTERS,
        "9.xhtml": "<section class='pg-boilerplate pgfooter'><p>PG footer</p></section>",
    }
    assert opened(epub(pages)).blocks == opened(epub(CHAPTERS)).blocks


@pytest.mark.parametrize(
    "extra",
    [
        {"META-INF/rights.xml": "<rights/>"},
        {
            "META-INF/encryption.xml": ENCRYPTION.format(
                algorithm="http://www.w3.org/2001/04/xmlenc#aes"
            )
        },
    ],
)
def test_a_protected_book_is_refused(extra: dict[str, str]) -> None:
    with pytest.raises(LoadError, match=r"book\.epub is protected by DRM"):
        opened(epub(CHAPTERS, extra))


def test_obfuscated_fonts_are_no_protection() -> None:
    fonts = ENCRYPTION.format(algorithm="http://www.idpf.org/2008/embedding")
    assert headings(opened(epub(CHAPTERS, {"META-INF/encryption.xml": fonts})))


def test_a_zip_bomb_is_refused() -> None:
    bomb = epub({"1.xhtml": "<p>" + "a" * 3_000_000})
    assert len(bomb) < 20_000
    with pytest.raises(LoadError, match=r"book\.epub unpacks to more than the limit"):
        opened(bomb)


def test_many_small_pages_count_together() -> None:
    pages = {f"{number}.xhtml": "<p>" + "a" * 300_000 for number in range(5)}
    with pytest.raises(LoadError, match="unpacks to more"):
        opened(epub(pages))


def test_a_deep_page_is_read() -> None:
    draft = opened(epub({"1.xhtml": "<div>" * 20_000 + "deep" + "</div>" * 20_000}))
    assert [block.text for block in draft.blocks] == ["deep"]


@pytest.mark.parametrize(
    "data",
    [
        b"no zip at all",
        epub(CHAPTERS)[:-200],
        epub(CHAPTERS).replace(b"OEBPS/book.opf", b"OEBPS/book.ops"),
        epub({}),
        epub(CHAPTERS, {"META-INF/container.xml": "<container/>"}),
        epub(CHAPTERS, {"OEBPS/book.opf": "<package"}),
        epub(
            CHAPTERS, {"OEBPS/book.opf": '<!DOCTYPE p [<!ENTITY a "aaa">]><package>&a;</package>'}
        ),
        epub(CHAPTERS).replace(b"text/two", b"text/too", 1),
    ],
    ids=["no zip", "cut", "no package", "empty", "no rootfile", "no xml", "entities", "no page"],
)
def test_a_broken_book_is_refused_by_name(data: bytes) -> None:
    with pytest.raises(LoadError, match=r"^book\.epub .*broken"):
        opened(data)


def test_a_damaged_page_is_refused_by_name() -> None:
    data = bytearray(epub({"1.xhtml": "".join(f"<p>{number * 7919}</p>" for number in range(900))}))
    data[len(data) // 2] ^= 0xFF
    with pytest.raises(LoadError, match=r"^book\.epub .*broken"):
        opened(bytes(data))
