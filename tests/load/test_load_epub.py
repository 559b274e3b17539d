"""EPUB, from small ones that the tests zip themselves."""

import html
import io
import re
import unicodedata
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from book_files import CHAPTERS, epub, page
from cases import for_each
from fabula.errors import LoadError
from fabula.load import find, find_in_zip, load, open_in_zip
from fabula.load.blocks import Draft
from fabula.load.document import document
from fabula.load.epub import read
from fabula.load.locators import page_mark

LIMIT = 1_000_000
BODY = "<p>Then he went up to the old house, and nobody there knew who he was.</p>" * 6
ENCRYPTION = """<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container"
 xmlns:enc="http://www.w3.org/2001/04/xmlenc#"><enc:EncryptedData>
<enc:EncryptionMethod Algorithm="{algorithm}"/>{cipher}</enc:EncryptedData></encryption>"""
AES = "http://www.w3.org/2001/04/xmlenc#aes"
FONTS = "http://www.idpf.org/2008/embedding"
ITEM = '<item id="1" href="text/1.xhtml" media-type="application/xhtml+xml"/>'


def opened(data: bytes) -> Draft:
    return read(data, "book.epub", LIMIT)


def with_files(data: bytes, files: Mapping[str, str | bytes], without: str = "") -> bytes:
    """An EPUB with more or other files, and without one."""
    book = zipfile.ZipFile(io.BytesIO(data))
    content: dict[str, str | bytes] = {name: book.read(name) for name in book.namelist()}
    content |= files
    content.pop(without, None)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in content.items():
            archive.writestr(name, text)
    return out.getvalue()


def renamed(data: bytes, rename: Callable[[str], str]) -> bytes:
    """An EPUB whose files have other names in the zip."""
    book = zipfile.ZipFile(io.BytesIO(data))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in book.namelist():
            archive.writestr(rename(name), book.read(name))
    return out.getvalue()


def package(data: bytes, change: Callable[[str], str]) -> bytes:
    """An EPUB whose package is changed."""
    opf = zipfile.ZipFile(io.BytesIO(data)).read("OEBPS/book.opf").decode()
    changed = change(opf)
    assert changed != opf
    return with_files(data, {"OEBPS/book.opf": changed})


def with_spine(data: bytes, spine: str) -> bytes:
    return package(data, lambda opf: opf.replace("<spine></spine>", f"<spine>{spine}</spine>"))


def headings(draft: Draft) -> list[str]:
    return [block.heading for block in draft.blocks if block.heading]


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


@for_each("uri", ["", "OEBPS/text/two.xhtml", "OEBPS/text/a%20one.xhtml"])
def test_a_protected_book_is_refused(uri: str) -> None:
    cipher = f'<CipherData><CipherReference URI="{uri}"/></CipherData>' if uri else ""
    encryption = ENCRYPTION.format(algorithm=AES, cipher=cipher)
    with pytest.raises(LoadError, match=r"book\.epub is protected by DRM"):
        opened(epub(CHAPTERS, {"META-INF/encryption.xml": encryption}))


def test_a_book_whose_pages_are_no_text_is_protected_if_it_has_rights() -> None:
    data = epub({}, {"OEBPS/text/1.xhtml": "\1\2\3\4" * 100}, ITEM)
    data = with_spine(data, '<itemref idref="1"/>')
    with pytest.raises(LoadError, match="isn't text but binary data"):
        opened(data)
    with pytest.raises(LoadError, match="is protected by DRM"):
        opened(with_files(data, {"META-INF/rights.xml": "<rights/>"}))


@for_each(
    "extra",
    [
        {"META-INF/rights.xml": "<rights/>"},
        {"META-INF/encryption.xml": ENCRYPTION.format(algorithm=FONTS, cipher="")},
        {
            "META-INF/rights.xml": "<rights/>",
            "META-INF/encryption.xml": ENCRYPTION.format(
                algorithm=AES, cipher='<CipherReference URI="OEBPS/fonts/serif.otf"/>'
            ),
        },
        {"META-INF/encryption.xml": "<encryption"},
    ],
    ids=["rights alone", "obfuscated fonts", "encrypted fonts", "no XML"],
)
def test_what_encrypts_no_page_is_no_protection(extra: dict[str, str]) -> None:
    assert len(headings(opened(epub(CHAPTERS, extra)))) == 2


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
    draft = opened(epub({"1.xhtml": "<div>" * 8_000 + "deep" + "</div>" * 8_000}))
    assert [block.text for block in draft.blocks] == ["deep"]


@for_each(
    "data",
    [
        b"no zip at all",
        epub(CHAPTERS)[:-200],
        epub(CHAPTERS).replace(b"OEBPS/book.opf", b"OEBPS/book.ops"),
        epub({}),
        epub(CHAPTERS, {"OEBPS/book.opf": "<package"}),
        epub(
            CHAPTERS,
            {"OEBPS/book.opf": '<!DOCTYPE p [<!ENTITY a "aaa">]><package>&a;</package>'},
        ),
        renamed(epub(CHAPTERS), lambda name: name.replace("text/", "gone/x")),
    ],
    ids=["no zip", "cut", "no package", "empty", "no xml", "entities", "no pages"],
)
def test_a_broken_book_is_refused_by_name(data: bytes) -> None:
    with pytest.raises(LoadError, match=r"^book\.epub .*broken"):
        opened(data)


def test_a_damaged_page_is_refused_by_name() -> None:
    data = bytearray(epub({"1.xhtml": "".join(f"<p>{number * 7919}</p>" for number in range(900))}))
    data[len(data) // 2] ^= 0xFF
    with pytest.raises(LoadError, match=r"^book\.epub .*broken"):
        opened(bytes(data))


# Books with faults that other programs open

ACCENTED = {"Żółw.xhtml": f"<h2>Rozdział I</h2>{BODY}", "2.xhtml": f"<h2>Rozdział II</h2>{BODY}"}


@for_each(
    "data",
    [
        package(epub(CHAPTERS), lambda opf: opf.replace("text/", "text\\")),
        renamed(epub(CHAPTERS), lambda name: name.replace("/text/", "\\text\\")),
        package(epub(CHAPTERS), lambda opf: opf.replace("text/", "TEXT/").replace("two", "Two")),
        package(epub(CHAPTERS), lambda opf: opf.replace("text/", "/OEBPS/text/")),
        package(epub(CHAPTERS), lambda opf: opf.replace("text/", "./../OEBPS//text/")),
        package(epub(CHAPTERS), lambda opf: opf.replace("%20", " ")),
        package(epub(CHAPTERS), lambda opf: opf.replace('.xhtml"', '.xhtml#top"')),
        package(epub(CHAPTERS), lambda opf: opf.replace("text/", "OEBPS/text/")),
        package(epub(CHAPTERS), lambda opf: opf.replace("text/", "Text/Old/")),
        renamed(epub(CHAPTERS), lambda name: name.replace("a one", "a%20one")),
        renamed(epub(ACCENTED), lambda name: unicodedata.normalize("NFD", name)),
        package(epub(ACCENTED), lambda opf: unicodedata.normalize("NFD", opf)),
        package(epub(ACCENTED), lambda opf: opf.replace("Żółw.", "%C5%BB%C3%B3%C5%82w.")),
        renamed(epub(ACCENTED), lambda name: name.encode().decode("cp437")),
        renamed(epub(CHAPTERS), lambda name: f"A Book/{name}"),
        with_files(epub(CHAPTERS), {}, without="META-INF/container.xml"),
        with_files(epub(CHAPTERS), {}, without="mimetype"),
        with_files(epub(CHAPTERS), {"META-INF/container.xml": "<container/>"}),
        with_files(epub(CHAPTERS), {"META-INF/container.xml": "nothing"}),
        renamed(epub(CHAPTERS), lambda name: name.replace("book.opf", "Book.OPF")),
        package(epub(CHAPTERS), lambda opf: opf.replace("application/xhtml+xml", "text/xhtml")),
        package(epub(CHAPTERS), lambda opf: opf.replace('idref="', 'idref=" ')),
        package(epub(CHAPTERS), lambda opf: opf.replace("<spine>", "<spine toc='none'>")),
    ],
)
def test_pages_are_found_where_the_zip_has_them(data: bytes) -> None:
    assert headings(opened(data)) == ["Rozdział I", "Rozdział II"]


@for_each(
    ("data", "warning"),
    [
        (with_files(epub(CHAPTERS), {}, "OEBPS/text/two.xhtml"), r"lacks text/two\.xhtml"),
        (
            package(epub(CHAPTERS), lambda opf: opf.replace('idref="two.xhtml', 'idref="three')),
            "lacks “three” in its manifest",
        ),
        (
            with_files(epub(CHAPTERS), {"OEBPS/text/two.xhtml": "\1\2\3\4" * 100}),
            r"two\.xhtml isn't text but binary data.*this page was left out",
        ),
    ],
    ids=["missing page", "no item", "no text"],
)
def test_a_part_that_is_missing_or_damaged_costs_only_itself(data: bytes, warning: str) -> None:
    draft = opened(data)
    assert "\n".join(block.text for block in draft.blocks).count("old house") == 6
    [message] = draft.warnings
    assert re.search(rf"^book\.epub.*{warning}", message)


def test_a_page_that_can_not_be_unpacked_costs_only_itself() -> None:
    long = "".join(f"<p>{number * 7919}</p>" for number in range(900))
    data = bytearray(epub({"1.xhtml": long, "2.xhtml": BODY, "3.xhtml": BODY}))
    start = data.index(b"1.xhtml")
    data[start + 1000] ^= 0xFF
    draft = opened(bytes(data))
    assert len(draft.blocks) == 12
    assert re.search(r"1\.xhtml.*left out", draft.warnings[0])


def test_a_spine_without_pages_is_that_of_the_manifest() -> None:
    data = package(epub(CHAPTERS), lambda opf: re.sub("<spine>.*</spine>", "<spine/>", opf))
    draft = opened(data)
    assert headings(draft) == ["Rozdział I", "Rozdział II"]
    assert "no order of pages" in draft.warnings[0]


@for_each(
    "text",
    [
        "One & a day",
        "One&nbsp;day",
        "One&mdash;day",
        "One < day",
        "One day</b>",
        "&Eacute;t&eacute;",
    ],
)
def test_contents_and_a_package_that_are_not_well_formed_are_read(text: str) -> None:
    ncx = (
        f"<ncx><navMap><navPoint><navLabel><text>{text}</text></navLabel>"
        '<content src="text/1.xhtml"/></navPoint></navMap></ncx>'
    )
    item = '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    data = epub({"1.xhtml": BODY, "2.xhtml": f"<h2>Later</h2>{BODY}"}, {"OEBPS/toc.ncx": ncx}, item)
    draft = opened(package(data, lambda opf: opf.replace("A. Writer", text)))
    plain = html.unescape(text).replace("</b>", "").replace("\xa0", " ")
    assert headings(draft) == [plain, "Later"]
    assert draft.author == plain
    assert [warning.split(" is not")[0] for warning in draft.warnings] == [
        "OEBPS/book.opf in book.epub",
        "OEBPS/toc.ncx in book.epub",
    ]


def test_contents_that_are_no_xml_cost_their_labels() -> None:
    item = '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    draft = opened(epub(CHAPTERS, {"OEBPS/toc.ncx": "gone"}, item))
    assert headings(draft) == ["Rozdział I", "Rozdział II"]
    assert "toc.ncx" in draft.warnings[0]


@for_each("encoding", ["gbk", "gb2312", "big5", "utf-16", "utf-8-sig"])
def test_a_package_and_pages_in_other_encodings_are_read(encoding: str) -> None:
    title = "磨坊的老人" if encoding.startswith("gb") else "老舊書本"
    declared = encoding.removesuffix("-sig")
    opf = zipfile.ZipFile(io.BytesIO(epub(CHAPTERS))).read("OEBPS/book.opf").decode()
    opf = opf.replace("Żółw", title).replace("utf-8", declared)
    text = page(f"<h2>{title}</h2><p>{title * 50}</p>").replace("utf-8", declared)
    files = {"OEBPS/book.opf": opf.encode(encoding), "OEBPS/text/two.xhtml": text.encode(encoding)}
    draft = opened(with_files(epub(CHAPTERS), files))
    assert draft.title == title
    assert any(block.text == title * 50 for block in draft.blocks)


def test_a_page_declares_characters_of_its_own() -> None:
    text = page("<p>Tobias&D;who rowed&D;came.</p>").replace(
        "<!DOCTYPE html>", '<!DOCTYPE html [<!ENTITY D "&#8212;"><!ENTITY unused SYSTEM "a">]>'
    )
    draft = opened(with_files(epub({"1.xhtml": ""}), {"OEBPS/text/1.xhtml": text}))
    assert [block.text for block in draft.blocks] == ["Tobias—who rowed—came."]


# An EPUB that is a folder


def unpacked(folder: Path, data: bytes) -> Path:
    zipfile.ZipFile(io.BytesIO(data)).extractall(folder)
    return folder


def test_a_folder_that_is_an_epub_is_one_book(tmp_path: Path) -> None:
    book = unpacked(tmp_path / "library" / "book.epub", epub(CHAPTERS))
    (tmp_path / "library" / "story.txt").write_text("A word.")
    assert find([book]).files == [book]
    assert find([tmp_path]).files == [book, tmp_path / "library" / "story.txt"]
    document = load(book, "default", LIMIT)
    assert (document.title, document.source) == ("Żółw", str(book))
    assert [section.title for section in document.sections] == ["Rozdział I", "Rozdział II"]


def test_an_epub_of_any_name_and_without_a_container_is_one_book(tmp_path: Path) -> None:
    named = unpacked(tmp_path / "The Turtle", epub(CHAPTERS))
    bare = unpacked(tmp_path / "b.epub", with_files(epub(CHAPTERS), {}, "META-INF/container.xml"))
    assert find([tmp_path]).files == [named, bare]
    assert load(named, "default", LIMIT).text == load(bare, "default", LIMIT).text


def test_a_folder_that_is_only_called_so_is_a_folder(tmp_path: Path) -> None:
    story = tmp_path / "books.epub" / "story.txt"
    story.parent.mkdir()
    story.write_text("A word.")
    assert find([tmp_path]).files == [story]


def test_a_folder_larger_than_the_limit_is_refused_and_links_are_not_followed(
    tmp_path: Path,
) -> None:
    book = unpacked(tmp_path / "book.epub", epub(CHAPTERS))
    with pytest.raises(LoadError, match=r"book\.epub has .* MB and the limit is"):
        load(book, "default", 900)
    secret = tmp_path / "secret.xhtml"
    secret.write_text(page("<p>hunter2</p>"))
    chapter = book / "OEBPS" / "text" / "two.xhtml"
    chapter.unlink()
    chapter.symlink_to(secret)
    assert "hunter2" not in load(book, "default", LIMIT).text


def test_a_zip_of_such_folders_is_a_zip_of_books(tmp_path: Path) -> None:
    file = tmp_path / "books.zip"
    with zipfile.ZipFile(file, "w") as archive:
        for folder in ("one.epub", "more/Two"):
            book = zipfile.ZipFile(io.BytesIO(epub(CHAPTERS)))
            for name in book.namelist():
                archive.writestr(f"{folder}/{name}", book.read(name))
        archive.writestr("three.txt", "A word.")
    books, others = find_in_zip(file)
    assert books == ["more/Two.epub", "one.epub", "three.txt"]
    assert others == []
    assert open_in_zip(file, "more/Two.epub", "default", LIMIT).parse().title == "Żółw"


# Depth and pages


NAV_ITEM = '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
TREE = """<nav epub:type="landmarks"><ol><li><a href="text/3.xhtml">Begin</a></li></ol></nav>
<nav epub:type="toc"><h1>Contents</h1><ol><li><a href="text/1.xhtml">Part One</a><ol>
<li><a href="text/1.xhtml#c1">Chapter I</a></li><li><a href="text/2.xhtml">Chapter II</a></li></ol>
</li><li><a href="text/3.xhtml">Part Two</a></li></ol></nav>
<nav epub:type="page-list"><ol><li><a href="text/1.xhtml">7</a></li>
<li><a href="text/1.xhtml#p8">8</a></li><li><a href="text/4.xhtml">xii</a></li></ol></nav>"""
PARTS = {
    "1.xhtml": (
        f'<h1>Part One</h1>{BODY}<h2 id="c1">Chapter I</h2><p>A<b id="p8"> word.</b></p>{BODY}'
    ),
    "2.xhtml": f"<h1>Chapter II</h1>{BODY}<h2>A Section</h2>{BODY}",
    "3.xhtml": f"<h2>Part Two</h2>{BODY}",
    "4.xhtml": BODY,
}


def test_headings_have_the_depth_of_the_contents_and_pages_their_numbers() -> None:
    draft = opened(epub(PARTS, {"OEBPS/nav.xhtml": page(TREE)}, NAV_ITEM))
    assert [(block.heading, block.level) for block in draft.blocks if block.heading] == [
        ("Part One", 1),
        ("Chapter I", 2),
        ("Chapter II", 2),
        ("A Section", 3),
        ("Part Two", 1),
    ]
    document_text = document(draft, "book.epub", "default")
    places = [(mark.label, document_text.text[mark.start :][:8]) for mark in document_text.locators]
    assert places == [("7", "Part One"), ("8", " word.\n\n"), ("xii", "Then he ")]


def test_the_lists_of_epub_2_say_the_same() -> None:
    points = """<ncx><navMap><navPoint><navLabel><text>Part One</text></navLabel>
<content src="text/1.xhtml"/><navPoint><navLabel><text>Chapter I</text></navLabel>
<content src="text/1.xhtml#c1"/></navPoint><navPoint><navLabel><text>Chapter II</text></navLabel>
<content src="text/2.xhtml"/></navPoint></navPoint><navPoint><navLabel><text>Part Two</text>
</navLabel><content src="text/3.xhtml"/></navPoint></navMap>{pages}</ncx>"""
    page_list = """<pageList><pageTarget value="7"><navLabel><text>7</text></navLabel>
<content src="text/1.xhtml"/></pageTarget><pageTarget value="8"><content src="text/1.xhtml#p8"/>
</pageTarget><pageTarget><navLabel><text>xii</text></navLabel><content src="text/4.xhtml"/>
</pageTarget></pageList>"""
    page_map = """<page-map><page name="7" href="text/1.xhtml"/><page name="8"
href="text/1.xhtml#p8"/><page name="xii" href="text/4.xhtml"/></page-map>"""
    ncx_item = '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    map_item = '<item id="map" href="map.xml" media-type="application/oebps-page-map+xml"/>'
    of_nav = opened(epub(PARTS, {"OEBPS/nav.xhtml": page(TREE)}, NAV_ITEM)).blocks
    ncx = {"OEBPS/toc.ncx": points.format(pages=page_list)}
    assert opened(epub(PARTS, ncx, ncx_item)).blocks == of_nav
    two = {"OEBPS/toc.ncx": points.format(pages=""), "OEBPS/map.xml": page_map}
    assert opened(epub(PARTS, two, ncx_item + map_item)).blocks == of_nav


def test_page_breaks_within_words_are_marks_and_no_text() -> None:
    pages = (
        '<p>The mil<span epub:type="pagebreak" id="p1" title="113"/>ler slept <span '
        'epub:type="pagebreak">[114]</span>well.</p><div role="doc-pagebreak" aria-label='
        '"Page 115"></div><p>He woke.</p>'
    )
    text = document(opened(epub({"1.xhtml": pages})), "book.epub", "default")
    assert text.text == "The miller slept well.\n\nHe woke."
    places = [(mark.label, text.text[: mark.start].split(" ")[-1]) for mark in text.locators]
    assert places == [("113", "mil"), ("114", ""), ("115", "well.\n\n")]
    assert text.left_out == {"page numbers": 5}


def test_pages_without_headings_are_divided_where_the_contents_say() -> None:
    links = '<a href="text/1.xhtml#a">One day</a><a href="text/1.xhtml#b">Later</a>'
    body = f'<p id="a">It was.</p>{BODY}<p id="b">It is.</p>{BODY}'
    draft = opened(
        epub({"1.xhtml": body}, {"OEBPS/nav.xhtml": page(f"<nav>{links}</nav>")}, NAV_ITEM)
    )
    assert [(block.heading, block.text) for block in draft.blocks if block.heading] == [
        ("One day", "It was."),
        ("Later", "It is."),
    ]


def test_a_heading_that_is_only_a_number_has_its_title_from_the_contents() -> None:
    pages = {"1.xhtml": f"<h2>I</h2><p>Loomings</p>{BODY}", "2.xhtml": f"<h2>Home</h2>{BODY}"}
    links = (
        '<a href="text/1.xhtml">I: Loomings</a><a href="text/2.xhtml">Home, and what became of it'
        "</a>"
    )
    draft = opened(epub(pages, {"OEBPS/nav.xhtml": page(f"<nav>{links}</nav>")}, NAV_ITEM))
    assert headings(draft) == ["I: Loomings", "Home"]
    assert draft.blocks[0].text == "I"


def test_a_number_and_its_title_in_two_headings_are_not_two_sections() -> None:
    pages = {f"{n}.xhtml": f"<h1>{n}</h1><h2>The Way {n}</h2>{BODY}" for n in (1, 2)}
    links = "".join(f'<a href="text/{n}.xhtml">{n} The Way {n}</a>' for n in (1, 2))
    draft = opened(epub(pages, {"OEBPS/nav.xhtml": page(f"<nav>{links}</nav>")}, NAV_ITEM))
    assert headings(draft) == ["1: The Way 1", "2: The Way 2"]


@for_each("name", ["Unknown", "未知", "Неизвестный", "Desconocido"])
def test_an_author_whom_a_program_did_not_know_is_none(name: str) -> None:
    creator = f"<dc:creator>{name}</dc:creator>"
    data = package(
        epub(CHAPTERS), lambda opf: opf.replace("<dc:creator>A. Writer</dc:creator>", creator)
    )
    assert opened(data).author == ""


@for_each(
    ("publisher", "published"),
    [("Standard Ebooks", ""), ("Project Gutenberg", ""), ("Example Press", "2014-05-25")],
)
def test_the_date_of_a_librarys_release_is_not_that_of_the_text(
    publisher: str, published: str
) -> None:
    facts = f"<dc:publisher>{publisher}</dc:publisher><dc:date>2014-05-25T00:00:00Z</dc:date>"
    data = package(
        epub(CHAPTERS), lambda opf: opf.replace("<dc:creator>", f"{facts}<dc:creator>", 1)
    )
    assert opened(data).published == published


def test_all_authors_are_named_and_no_illustrators() -> None:
    creators = (
        '<dc:creator id="a">Ann Example</dc:creator><dc:creator id="b" opf:role="aut">Bo Sample'
        '</dc:creator><dc:creator opf:role="ill">Cy Drawer</dc:creator><dc:creator id="d">Di Pen'
        '</dc:creator><meta refines="#d" property="role">trl</meta>'
        '<meta refines="#a" property="role">aut</meta><meta refines="#a" property="role">ill</meta>'
        "<dc:date>1887-05-01T00:00</dc:date>"
    )
    data = package(
        epub(CHAPTERS), lambda opf: opf.replace("<dc:creator>A. Writer</dc:creator>", creators)
    )
    draft = opened(data)
    assert (draft.author, draft.published) == ("Ann Example, Bo Sample", "1887-05-01")


def test_series_and_subjects_are_metadata_and_the_text_decides_between_languages() -> None:
    stated = (
        "<dc:language>it</dc:language><dc:language>ru</dc:language><dc:subject>Geese</dc:subject>"
        '<dc:subject>Mills</dc:subject><meta name="calibre:series" content="Tales of Hollin"/>'
        '<meta name="calibre:series_index" content="2.0"/>'
    )
    data = package(
        epub(CHAPTERS), lambda opf: opf.replace("<dc:language>pl-PL</dc:language>", stated)
    )
    draft = opened(data)
    assert draft.language == ""
    assert draft.metadata == {
        "subject": ["Geese", "Mills"],
        "series": "Tales of Hollin",
        "series_index": 2,
    }


def test_a_sentence_over_two_files_is_one_paragraph() -> None:
    number = '</p><p class="pagenum">11'
    pages = (
        "The miller kept a lan-",
        f"tern by{number}",
        "the weir all night.</p><p>12",
        "the end",
    )
    draft = opened(epub({f"{n}.xhtml": f"<p>{text}</p>" for n, text in enumerate(pages)}))
    assert [block.text for block in draft.blocks] == [
        f"The miller kept a lantern by {page_mark('11')}the weir all night.",
        "12",
        "the end",
    ]


def test_printed_page_numbers_at_the_ends_of_files_divide_no_paragraph() -> None:
    pages = [f"the miller kept lantern {n} by the</p><p>{n}" for n in range(11, 17)]
    draft = opened(epub({f"{n}.xhtml": f"<p>{text}</p>" for n, text in enumerate(pages)}))
    assert [block.text for block in draft.blocks] == [
        " ".join(f"the miller kept lantern {n} by the" for n in range(11, 17))
    ]
    assert draft.left_out == {"page numbers": 12}
