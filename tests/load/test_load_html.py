"""HTML and Markdown."""

from pathlib import Path

import pytest

from fabula.load import load
from fabula.load.blocks import Block, Draft
from fabula.load.html import read
from fabula.load.markdown import read as read_markdown
from fabula.text.document import Document

BODY = "<p>Then he went up to the <i>old</i> house,\nand nobody there knew who he was.</p>" * 6


def html(text: str) -> Draft:
    return read(text.encode(), "page.html")


def texts(draft: Draft) -> list[str]:
    return [block.text for block in draft.blocks]


def headings(draft: Draft) -> list[str]:
    return [block.heading for block in draft.blocks if block.heading]


def markdown(text: str) -> Draft:
    return read_markdown(text.encode(), "page.md")


def loaded(tmp_path: Path, name: str, text: str) -> Document:
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return load(file, "default", 1 << 20)


def test_each_block_is_a_paragraph() -> None:
    page = html("<body><p>One\n  <b>two</b>&nbsp;three.</p><div>Four<p>five</p>six</div></body>")
    assert texts(page) == ["One two three.", "Four", "five", "six"]


def test_broken_lines_and_lists_and_rows_keep_their_lines() -> None:
    page = html(
        "<p>Roses<br/>violets</p><ul><li>one<li>two</ul><pre>  a\n  b</pre>"
        "<table><tr><td>x</td><td>y</td></tr></table>"
    )
    assert texts(page) == ["Roses\nviolets", "one\ntwo", "a\nb", "x", "y"]


def test_what_is_not_read_aloud_is_left_out() -> None:
    page = html(
        "<head><style>p {}</style></head><script>var x = '<p>no</p>';</script><nav>Menu</nav>"
        "<!-- no --><p>Yes<span class='pagenum'>[Pg 12]</span>.</p><p hidden>no</p>"
        "<p style='display: none'>no</p><template><p>no</p></template><img alt='no'>"
        "<p>[Illustration: no]</p><svg><title>no</title><text>no</text></svg><p>Too.</p>"
    )
    assert texts(page) == ["Yes.", "Too."]


def test_headings_are_sections_and_the_books_own_title_is_none(tmp_path: Path) -> None:
    document = loaded(
        tmp_path,
        "tale.html",
        "<html lang='en-GB'><head><title>A Tale</title>"
        "<meta name=author content='A. Writer'></head>"
        f"<h1>A Tale</h1><h2>Contents</h2><p>Chapter 1</p><h2>CHAPTER I<br>The House</h2>{BODY}"
        f"<h2>CHAPTER II<br>The Road</h2>{BODY}<h4>Aside</h4>{BODY}",
    )
    assert [one.title for one in document.sections] == [
        "CHAPTER I: The House",
        "CHAPTER II: The Road",
    ]
    assert all(document.text.startswith("CHAPTER", one.start) for one in document.sections)
    assert (document.title, document.author, document.language) == ("A Tale", "A. Writer", "en")


def test_a_number_and_its_title_in_two_headings_are_one_section() -> None:
    page = html(f"<h2>Chapter 1</h2><h3>The House</h3>{BODY}<h2>Chapter 2</h2><h3>Home</h3>{BODY}")
    assert headings(page) == ["Chapter 1: The House", "Chapter 2: Home"]


def test_without_headings_the_words_are_asked() -> None:
    page = html(f"<p>CHAPTER I</p>{BODY * 4}<p>CHAPTER II</p>{BODY * 4}")
    assert headings(page) == ["CHAPTER I", "CHAPTER II"]


def test_project_gutenbergs_sections_are_removed() -> None:
    page = html(
        "<title>The Project Gutenberg eBook of Emma, by Jane Austen</title>"
        "<section class='pg-boilerplate pgheader' id='pg-header'><h2>The PG eBook</h2></section>"
        f"<h2>CHAPTER I</h2>{BODY}<section id='pg-footer'><p>License</p></section>"
    )
    assert (page.title, page.author) == ("Emma", "Jane Austen")
    assert texts(page)[0] == "CHAPTER I"
    assert not any("PG" in text or "License" in text for text in texts(page))


def test_project_gutenbergs_old_pages_are_removed() -> None:
    page = html(
        "<title>Emma | Project Gutenberg</title><pre>The Project Gutenberg EBook of Emma\n\n"
        "*** START OF THIS PROJECT GUTENBERG EBOOK EMMA ***\n</pre><p>Emma was handsome.</p>"
        "<pre>End of the Project Gutenberg EBook of Emma\n\n*** END OF THIS\n\nLicense</pre>"
    )
    assert page.title == "Emma"
    assert texts(page) == ["Emma was handsome."]


@pytest.mark.parametrize("depth", [300, 5000, 100_000])
def test_no_depth_is_too_deep(depth: int) -> None:
    page = html("<div>" * depth + "deep" + "</div>" * depth + "<p>after</p>")
    assert texts(page) == ["deep", "after"]


def test_entities_and_broken_tags_do_no_harm() -> None:
    page = html(
        "<p>caf&eacute; &mdash; &amp; &#8220;q&#8221; &unknown; <b>bold<p>next</i></p></div>"
    )
    assert texts(page) == ["café — & “q” &unknown; bold", "next"]


def test_xhtml_that_declares_its_encoding_is_read() -> None:
    data = (
        '<?xml version="1.0" encoding="iso-8859-2"?><html xmlns="http://www.w3.org/1999/xhtml"'
        ' xml:lang="pl"><head><title>Żółw</title></head><body><p>Żółw i gęś<br/>idą</p>'
    )
    page = read(data.encode("iso8859_2"), "x.xhtml")
    assert (page.title, page.language, texts(page)) == ("Żółw", "pl", ["Żółw i gęś\nidą"])


def test_markdown_has_its_headings_and_its_front_matter(tmp_path: Path) -> None:
    document = loaded(
        tmp_path,
        "tale.md",
        '---\ntitle: "A Tale"\nauthor: A. Writer\nlang: pl\ntags: [x]\n---\n\n'
        "# A Tale\n\nBy *me*.\n\n"
        "## Chapter 1: The `House`\n\nHe went\nup.\n\nSetext\n------\n\nHe came down.\n",
    )
    assert (document.title, document.author, document.language) == ("A Tale", "A. Writer", "pl")
    assert [one.title for one in document.sections] == ["Chapter 1: The House", "Setext"]
    assert "By me.\n\nChapter 1: The House\n\nHe went up.\n\nSetext" in document.text


def test_markdowns_first_heading_is_its_title_if_it_states_no_other() -> None:
    assert markdown("# The Tale\n\nText.\n").title == "The Tale"


def test_markdowns_lists_breaks_and_code_keep_their_lines() -> None:
    page = markdown("- one\n- two\n  - three\n\nRoses  \nviolets\n\n```\na\nb\n```\n\n> Quoted\n")
    assert list(page.blocks) == [
        Block("one\ntwo\nthree"),
        Block("Roses\nviolets"),
        Block("a\nb"),
        Block("Quoted"),
    ]


def test_html_in_markdown_is_read_as_html() -> None:
    page = markdown("<div><b>Bold</b> one</div>\n\nA<br>b <span>c</span> ![alt](x.png)\n")
    assert texts(page) == ["Bold one", "A\nb c"]


def test_a_page_of_stray_end_tags_has_the_same_words() -> None:
    page = "<h1>One</h1><p>A <b>word</b>.<!-- <i> --></i></i></p>Two<ul><li>c</li><li>d</ul><p>e"
    strays = "<p>f</i></b></p></p>g" * 1000
    plain = "<p>f</p><p>g" * 1000
    assert (
        read((page + strays).encode(), "a.html").blocks
        == read((page + plain).encode(), "a.html").blocks
    )
