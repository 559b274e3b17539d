"""HTML and Markdown."""

from pathlib import Path

from cases import for_each
from fabula.load import load
from fabula.load.blocks import Block, Draft
from fabula.load.document import document
from fabula.load.html import read
from fabula.load.locators import page_mark, take_marks
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
    assert texts(page) == [f"Yes{page_mark('12')}.", "Too."]


def test_headings_are_sections_and_the_books_own_title_is_none(tmp_path: Path) -> None:
    document = loaded(
        tmp_path,
        "tale.html",
        "<html lang='en-GB'><head><title>A Tale</title>"
        "<meta name=author content='A. Writer'></head>"
        f"<h1>A Tale</h1><h2>Contents</h2><p>Chapter 1</p><h2>CHAPTER I<br>The House</h2>{BODY}"
        f"<h2>CHAPTER II<br>The Road</h2>{BODY}<h4>Aside</h4>{BODY}",
    )
    assert [section.title for section in document.sections] == [
        "CHAPTER I: The House",
        "CHAPTER II: The Road",
    ]
    assert all(document.text.startswith("CHAPTER", section.start) for section in document.sections)
    assert (document.title, document.author, document.language) == ("A Tale", "A. Writer", "en")


def test_a_number_and_its_title_in_two_headings_are_one_section() -> None:
    page = html(f"<h2>Chapter 1</h2><h3>The House</h3>{BODY}<h2>Chapter 2</h2><h3>Home</h3>{BODY}")
    assert headings(page) == ["Chapter 1: The House", "Chapter 2: Home"]


def test_a_group_of_a_heading_and_its_subtitles_is_one_heading() -> None:
    group = "<hgroup><h2>{}</h2><p>{}</p></hgroup>"
    page = html(f"{group.format('I', 'The House')}{BODY}{group.format('II', 'Home')}{BODY}")
    assert [(block.heading, block.level) for block in page.blocks if block.heading] == [
        ("I: The House", 1),
        ("II: Home", 1),
    ]
    assert texts(page)[0] == "I\nThe House"
    assert texts(html("<hgroup><p>By<br>A. Writer</p></hgroup><p>One.</p>")) == [
        "By\nA. Writer",
        "One.",
    ]


@for_each("below", [BODY, f"<p>{BODY}", f"<div>{BODY}</div>", f"<hr>{BODY}"])
def test_a_group_that_is_not_closed_ends_above_the_text(below: str) -> None:
    chapters = "".join(f"<h2>Chapter {number}</h2><p>{BODY}" for number in (1, 2))
    page = html(f"<hgroup><h1>Emma</h1><p>A novel</p>{below}{chapters}")
    assert (page.title, headings(page)) == ("Emma: A novel", ["Chapter 1", "Chapter 2"])
    assert texts(page)[0] == "Emma\nA novel"


def test_a_note_within_a_group_is_no_part_of_the_heading() -> None:
    note = "<aside epub:type='footnote'>A note.</aside>"
    group = f"<hgroup><h2>{{}}</h2><p>{{}}</p>{note}</hgroup>{BODY}"
    page = html(f"{group.format('I', 'The House')}{group.format('II', 'Home')}")
    assert headings(page) == ["I: The House", "II: Home"]
    assert texts(page)[:2] == ["I\nThe House", "A note."]


def test_the_heading_of_a_part_has_not_its_first_chapters_as_title() -> None:
    chapters = "".join(f"<h3>{number}. The House</h3>{BODY}" for number in ("I", "II"))
    page = html(f"<h2>Part 1</h2>{chapters}<h2>Part 2</h2>{chapters}")
    names = ["I. The House", "II. The House"]
    assert headings(page) == ["Part 1", *names, "Part 2", *names]


def test_a_number_has_the_title_below_it_also_if_most_chapters_have_text_there() -> None:
    bare = "".join(f"<h1>{number}</h1>{BODY}" for number in (2, 3, 4, 5))
    page = html(f"<h1>1</h1><h2>The House</h2>{BODY}{bare}")
    assert headings(page) == ["1: The House", "2", "3", "4", "5"]


@for_each(
    "front",
    [
        "<h2>By Jane Austen</h2>",
        f"<h2>By J. Austen</h2>{BODY}",
        "<h2>JANE AUSTEN</h2>",
        "<h2>Emma<br>A Novel</h2>",
        "<h2>“Emma.”</h2>",
    ],
)
def test_the_headings_of_a_title_page_are_no_sections(front: str) -> None:
    chapters = "".join(f"<h2>Chapter {number}</h2>{BODY}" for number in (1, 2))
    head = "<title>Emma</title><meta name=author content='Jane Austen'>"
    assert headings(html(f"{head}{front}{chapters}")) == ["Chapter 1", "Chapter 2"]


def test_asterisks_that_are_marked_as_a_heading_are_none() -> None:
    page = html(f"<h2>One</h2>{BODY}<h2>* * *</h2>{BODY}<h2>Two</h2>{BODY}<h2>⁂</h2>{BODY}")
    assert headings(page) == ["One", "Two"]
    assert "* * *" in texts(page)


@for_each("link", ["↩", "Back", "(back to text)", "[Return to text]"])
def test_a_link_from_a_note_back_to_the_text_is_counted(link: str) -> None:
    page = html(f"<p>A note. <a href='#r1'>{link}</a></p>")
    assert (texts(page), page.left_out) == (
        ["A note."],
        {"navigation": len(link.replace(" ", ""))},
    )


def test_a_chapter_may_be_called_after_the_author() -> None:
    chapters = "".join(f"<h2>Chapter {number}</h2>{BODY}" for number in (1, 2))
    head = "<title>Emma</title><meta name=author content='Jane Austen'>"
    page = html(f"{head}<h2>Jane Austen</h2>{BODY}<h2>Emma: A Life</h2>{BODY}{chapters}")
    assert headings(page) == ["Jane Austen", "Emma: A Life", "Chapter 1", "Chapter 2"]


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


def test_title_and_author_are_those_of_project_gutenbergs_header() -> None:
    page = html(
        "<title>Emma; A Novel, by Miss Austen.</title><meta name=author content='Austen, Jane'>"
        "<pre>The Project Gutenberg EBook of Emma, by Jane Austen\n\nTitle: Emma\n\n"
        "Author: Jane Austen\n\nLanguage: English\n\n"
        "*** START OF THIS PROJECT GUTENBERG EBOOK EMMA ***\n</pre><p>Emma was handsome.</p>"
    )
    assert (page.title, page.author, page.language) == ("Emma", "Jane Austen", "English")
    assert texts(page) == ["Emma was handsome."]


@for_each(
    "credit",
    [
        "Text file produced by J. Ingram and Distributed Proofreaders",
        "HTML file produced by David Widger",
        "HTML version by Al Haines",
    ],
)
def test_who_made_project_gutenbergs_page_is_no_text(credit: str) -> None:
    start = "*** START OF THIS PROJECT GUTENBERG EBOOK EMMA ***"
    page = html(f"<p>{start}</p><p>{credit}</p><p>Emma was handsome.</p>")
    assert texts(page) == ["Emma was handsome."]


def test_books_that_are_joined_in_one_page_are_warned_of() -> None:
    page = html(
        "".join(
            f"<p>*** START OF THE PROJECT GUTENBERG EBOOK {name} ***</p><p>It was {name}.</p>"
            f"<p>*** END OF THE PROJECT GUTENBERG EBOOK {name} ***</p>"
            for name in ("EMMA", "PERSUASION")
        )
    )
    assert [text for text in texts(page) if text.startswith("It")] == [
        "It was EMMA.",
        "It was PERSUASION.",
    ]
    assert page.warnings == (
        "The file holds 2 books of a library: they are one document, under one title.",
    )


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
    assert [section.title for section in document.sections] == ["Chapter 1: The House", "Setext"]
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


def pages(draft: Draft) -> list[tuple[str, str]]:
    """The labels of the pages, and the text from the top of each to the end of its block."""
    marked = [take_marks(block.text) for block in draft.blocks]
    return [(mark.label, text[mark.start :]) for text, marks in marked for mark in marks]


@for_each(
    "ruby",
    [
        "<ruby>粉屋<rt>こなや</rt></ruby>",
        "<ruby>粉屋<rp>（</rp><rt>こなや</rt><rp>）</rp></ruby>",
        "<ruby><rb>粉屋</rb><rt>こなや</rt></ruby>",
        "<ruby>粉<rt>こな<rb>屋<rt>や</ruby>",
        "<ruby><rb>粉<rb>屋<rtc><rt>こなや</rtc></ruby>",
    ],
)
def test_readings_above_words_are_left_out_and_counted(ruby: str) -> None:
    page = html(f"<p>老いた{ruby}は眠った。</p>")
    assert texts(page) == ["老いた粉屋は眠った。"]
    assert page.left_out["readings"] >= 3


@for_each(
    "reference",
    [
        "<sup>1</sup>",
        '<a epub:type="noteref" href="#n1">1</a>',
        '<a href="n.xhtml#n1"><sup>1</sup></a>',
        '<sup><a href="#n1">1</a></sup>',
        '<a href="#n1">[1]</a>',
        '<a href="#n1">1</a>',
        '<span class="footnote">1</span>',
        '<span style="vertical-align: super">1</span>',
        '<span class="super">1</span>',
    ],
)
def test_the_number_of_a_note_is_not_glued_to_its_word(reference: str) -> None:
    assert texts(html(f"<p>the geese{reference} left</p>")) == ["the geese[1] left"]


def test_what_is_raised_and_no_note_stays() -> None:
    page = html("<p>M<sup>me</sup> X, the 1<sup>st</sup>, 10<sup>6</sup> m<sup>2</sup></p>")
    assert texts(page) == ["Mme X, the 1st, 10⁶ m²"]
    # In formulas nothing is the number of a note.
    half = "<math><mfrac><mn>1</mn><mrow><mn>2</mn></mrow></mfrac></math>"
    cube = "<math><msup><mi>y</mi><mn>3</mn></msup></math>"
    page = html(f"<p>He ate {half}, or 3{half}, and {cube} more.</p>")
    assert texts(page) == ["He ate 1/2, or 3 1/2, and y^3 more."]
    assert texts(html("<p>in 1848<a href='#n'><sup>3</sup></a></p>")) == ["in 1848[3]"]


@for_each(
    "note",
    [
        '<aside epub:type="footnote" id="n1"><p>1 On geese.</p></aside>',
        '<p id="fn1"><a href="#fnref1">1</a> On geese.</p>',
        '<p class="footnote"><sup>1</sup>On geese.</p>',
        '<ol><li id="fn1"><p>On geese. <a href="#r1" class="footnote-back">↩</a></p></li></ol>',
        '<ol><li id="fn1">On geese. <a href="#r1">↑</a></li></ol>',
    ],
)
def test_a_note_begins_with_its_number(note: str) -> None:
    assert texts(html(f"<p>Geese.</p>{note}")) == ["Geese.", "[1] On geese."]


@for_each(
    "note",
    [
        '<span class="sidenote">On geese.</span>',
        '<aside class="marginnote">On geese.</aside>',
        '<span class="footnote">On geese.</span>',
        '<aside epub:type="footnote">On geese.</aside>',
    ],
)
def test_a_side_note_follows_its_paragraph(note: str) -> None:
    assert texts(html(f"<p>The geese{note} left.</p><p>Then.</p>")) == [
        "The geese left.",
        "On geese.",
        "Then.",
    ]


@for_each(
    "page",
    [
        '<span class="pagenum">12</span>',
        '<span class="pagenum" id="Page_12">[Pg 12]</span>',
        '<span class="pageno" title="12"></span>',
        '<a id="page_12">[12]</a>',
        '<a name="page12"></a>',
        '<span epub:type="pagebreak" id="p12" title="12"/>',
        '<span role="doc-pagebreak" aria-label="Page 12"></span>',
        '<span epub:type="pagebreak" style="display:none">12</span>',
    ],
)
def test_the_number_of_a_page_within_a_word_is_a_page(page: str) -> None:
    draft = read(f"<p>the lan{page}tern</p>".replace("/>", "></span>").encode(), "x.html")
    assert take_marks(draft.blocks[0].text)[0] == "the lantern"
    assert pages(draft) == [("12", "tern")]


def test_the_number_of_a_page_between_paragraphs_is_a_page() -> None:
    page = html(
        "<p>One.</p><div class='pagebreak'><a name='page16'></a></div><p>Two.</p>"
        "<div class='pagenum'>17</div><h2>Three</h2>"
    )
    assert pages(page) == [("16", "Two."), ("17", "Three")]


def test_what_is_marked_as_a_page_but_has_text_is_text() -> None:
    page = html(
        "<p id='page_3'>Whole.</p><p><a id='page_4'>Words</a> of it.</p>"
        "<div class='pagebreak'><p>More.</p></div><p class='page-notes'>Notes.</p>"
    )
    assert [take_marks(text)[0] for text in texts(page)] == [
        "Whole.",
        "Words of it.",
        "More.",
        "Notes.",
    ]


def test_of_what_was_changed_the_new_words_are_read() -> None:
    page = html("<p>The <del>old</del><ins>young</ins> man and <s>his</s> dog.</p>")
    assert texts(page) == ["The young man and his dog."]
    assert page.left_out == {"deleted text": 3}


@for_each(
    "initial",
    [
        '<p><img alt="T" src="t.png">he miller slept.</p>',
        '<p><span class="drop"><img alt="Decorative initial T"/></span>he miller slept.</p>',
        '<div class="fig"><img alt="T"></div><p>he miller slept.</p>',
        '<div class="dropcap">T</div><p>he miller slept.</p>',
        '<p><img alt="T">The miller slept.</p>',
        '<p><span style="float:left">T</span> he miller slept.</p>',
        "<p><big>T</big>\n<small>he</small> miller slept.</p>",
        '<div class="cap">T</div><p>he miller slept.</p>',
        "<p><b>T</b> HE miller slept.</p>",
    ],
)
def test_the_picture_of_a_first_letter_is_that_letter(initial: str) -> None:
    assert texts(html(initial))[0].capitalize() == "The miller slept."


def test_a_letter_of_its_own_before_another_word_is_a_word() -> None:
    page = html('<p><i class="a">B</i> Street was dark.</p><p><b>X</b> marks it.</p>')
    assert texts(page) == ["B Street was dark.", "X marks it."]
    assert texts(html("<p><b>A</b> man came.</p>")) == ["A man came."]


def test_a_text_that_was_escaped_twice_is_read() -> None:
    page = html("<p>&amp;quot;No,&amp;quot; she said&amp;mdash;&amp;#39;no.&amp;#39;</p>")
    read = document(page, "a.html", "c")
    assert read.text == "\"No,\" she said—'no.'"
    assert "escaped twice" in read.warnings[0]
    assert document(html("<p>He wrote &amp;quot; there.</p>"), "a.html", "c").text == (
        "He wrote &quot; there."
    )


def test_a_letter_that_is_a_word_and_a_picture_that_is_none() -> None:
    assert texts(html('<p><img alt="A"> man came.</p>')) == ["A man came."]
    assert texts(html('<p><img alt="A mill"> man came.</p>')) == ["man came."]


def test_hidden_text_is_left_out_and_counted() -> None:
    page = html(
        "<style>.x, p.y { display: none } @media print { .z { display: none } }</style>"
        "<p>A <span hidden>no</span><b style='visibility: hidden'>no</b>"
        "<i aria-hidden='true'>no</i>word</p><p class='x'>no</p><p class='z'>yes</p>"
    )
    assert texts(page) == ["A word", "yes"]
    assert page.left_out == {"hidden text": 8}


def test_text_that_has_a_label_for_those_who_listen_is_read_once() -> None:
    page = html(
        '<p><span aria-label="The"><span aria-hidden="true">T<b>he</b></span></span> mill</p>'
    )
    assert texts(page) == ["The mill"]


def test_what_leads_elsewhere_is_counted_by_kind() -> None:
    page = html(
        "<nav>Home</nav><div role='navigation'>Next</div><ul epub:type='toc'><li>One</li></ul>"
        "<p>Yes.</p><button>Buy</button><p>[Illustration: a mill]</p>"
    )
    assert texts(page) == ["Yes."]
    assert page.left_out == {"navigation": 8, "contents": 3, "forms": 3, "pictures": 20}


def test_headings_have_levels() -> None:
    page = html(f"<h1>The Mill</h1>{BODY}<h2>The Weir</h2>{BODY}<h1>The Ferry</h1>{BODY}")
    levels = [(block.heading, block.level) for block in page.blocks if block.heading]
    assert levels == [("The Mill", 1), ("The Weir", 2), ("The Ferry", 1)]


def test_several_authors_and_the_day_of_publication_are_read() -> None:
    page = html(
        "<title>untitled</title><meta name=author content='A. Writer'><meta name=author"
        " content='B. Writer'><meta name=dc.creator content='Writer, A.'>"
        "<meta property=article:published_time content='2021-03-04T10:00:00Z'><p>Text.</p>"
    )
    assert (page.title, page.author, page.published) == ("", "A. Writer, B. Writer", "2021-03-04")


def test_the_number_of_a_line_of_verse_is_that_of_its_line() -> None:
    page = html(
        "<div class='stanza'><span>Sing, goddess<br></span>"
        "<span>the wrath<span class='linenum'>5</span><br></span></div>"
    )
    text, marks = take_marks(page.blocks[0].text)
    assert text == "Sing, goddess\nthe wrath"
    assert [(mark.kind, mark.label, text[mark.start :]) for mark in marks] == [
        ("line", "5", "the wrath")
    ]
    assert page.left_out == {"line numbers": 1}


def test_the_number_of_a_note_is_no_part_of_a_heading() -> None:
    page = html(f"<h2>Chapter 1<sup><a href='#n'>1</a></sup></h2>{BODY}<h2>Chapter 2</h2>{BODY}")
    assert headings(page) == ["Chapter 1", "Chapter 2"]
    assert texts(page)[0] == "Chapter 1[1]"


def test_what_was_doubtful_in_the_encoding_of_a_page_is_a_warning() -> None:
    twice = "Il était déjà là, près de l’église.".encode().decode("cp1252", "replace")
    page = html(f"<p>{twice}</p>")
    assert texts(page)[0].startswith("Il était déjà là, près")
    [warning] = page.warnings
    assert "encoded twice" in warning


@for_each(
    ("markup", "text"),
    [
        ("He said <q>Go, <q>now</q></q> and left.", "He said “Go, ‘now’” and left."),
        ("「<q>何</q>」 (<q>Go</q>)", "「何」 (“Go”)"),
        ("<b>I</b> n time <q>Go</q>", "In time “Go”"),
        ("<b>A</b> BELL, <q>Go</q>", "A BELL, “Go”"),
        ("He said “<q>Go</q>” and <q>“Now”</q><q></q>.", "He said “Go” and “Now”."),
    ],
)
def test_a_quotation_has_the_marks_that_browsers_print(markup: str, text: str) -> None:
    assert texts(read(f"<p>{markup}</p>".encode(), "a.html")) == [text]
    german = read(b"<html lang='de-AT'><p>Er rief <q>Geh, <q>jetzt</q></q>.</p></html>", "a.html")
    assert texts(german) == ["Er rief „Geh, ‚jetzt‘“."]


@for_each(
    ("markup", "expected"),
    [
        ("<details><summary>A note</summary>It rained</details>b", ["A note", "It rained", "b"]),
        ("<fieldset><legend>A note</legend>It rained</fieldset>", ["A note", "It rained"]),
        (
            "<p>One</p><dialog open>Two</dialog>Three<menu><li>a<li>b</menu>c",
            ["One", "Two", "Three", "a\nb", "c"],
        ),
        (
            (
                '<p><span style="display: block">Roses are red</span>'
                '<span style="display:block">So are you</span></p>'
            ),
            ["Roses are red\nSo are you"],
        ),
        ('<p><span class="line">Roses</span><span class="line">are</span></p>', ["Roses\nare"]),
        (
            (
                '<div><span style="position:absolute;left:1px">He</span>'
                '<span style="position: absolute">went</span></div>'
            ),
            ["He went"],
        ),
    ],
)
def test_what_browsers_print_apart_is_not_glued_together(markup: str, expected: list[str]) -> None:
    assert texts(read(markup.encode(), "a.html")) == expected


@for_each("hidden", ["hidden", "style='display:none'"])
def test_a_note_that_is_hidden_until_its_number_is_touched_is_text(hidden: str) -> None:
    page = f"""<p>The weir<a epub:type="noteref" href="#n1">1</a> was low.</p>
<aside id="n1" epub:type="footnote" {hidden}><p>1. By the mill.</p></aside><p {hidden}>Old.</p>"""
    draft = read(page.encode(), "a.html")
    assert texts(draft) == ["The weir[1] was low.", "[1] By the mill."]
    assert draft.left_out == {"hidden text": 4}


def test_a_heading_that_is_a_picture_has_the_words_of_the_picture() -> None:
    text = f"<p>{'It rained on the moor all day. ' * 8}</p>"
    page = "".join(
        f'<h1><img src="a" alt="{name}"></h1>{text}' for name in ("Chapter One", "The Weir")
    )
    blocks = read(page.encode(), "a.html").blocks
    assert [block.heading for block in blocks if block.heading] == ["Chapter One", "The Weir"]
    page = f'<h1><img alt="A rule">Chapter One</h1>{text}<p><img alt="A mill"></p>'
    assert texts(read(page.encode(), "a.html"))[0] == "Chapter One"


def test_of_two_forms_of_the_same_content_one_is_read() -> None:
    forms = "<epub:case><p>x2</p></epub:case><epub:default><p>A square</p></epub:default>"
    draft = read(f"<epub:switch>{forms}</epub:switch>".encode(), "a.html")
    assert (texts(draft), dict(draft.left_out)) == (["A square"], {"alternative forms": 2})


def test_two_line_breaks_end_a_paragraph() -> None:
    page = "It rained.<br><br>Nobody came.<br>\n&nbsp;<br/><i>Then</i> he left.<br>So be it."
    assert texts(read(f"<div>{page}</div>".encode(), "a.html")) == [
        "It rained.",
        "Nobody came.",
        "Then he left.\nSo be it.",
    ]
    assert texts(read(b"<p>Roses,<br/><br/><b>are<br><br>red</b></p>", "a.html")) == [
        "Roses,",
        "are",
        "red",
    ]
    listed = b"<ul><li>One<br><br>more</li><li>Two</li></ul><h2>I<br><br>The Weir</h2>"
    assert texts(read(listed, "a.html")) == ["One\nmore\nTwo", "I\nThe Weir"]
