"""What surrounds a story: a site's pages, a writer's notes, and numbers in the margin."""

from __future__ import annotations

from pathlib import Path

from book_files import epub
from cases import for_each
from fabula.load import load
from fabula.text.locator import labels_of

PREFACE = """<div id="preface"><p class="message"><b>Posted originally on the
<a href="http://archiveofourown.org/">Archive of Our Own</a>.</b></p><div class="meta">
<dl class="tags"><dt>Fandom:</dt><dd><a>Mills</a>, <a>Geese</a></dd><dt>Stats:</dt>
<dd>Published: 2024-03-01 Words: 9</dd></dl><h1>The Lamp</h1>
<div class="byline">by <a rel="author" href="#">ann_example</a></div>
<p>Notes</p><blockquote class="userstuff"><p>Thanks!</p></blockquote></div></div>"""
CHAPTER = """<div class="meta group"><h2 class="heading">Chapter {n}: Night</h2>
<div class="endnote-link">See the end of the chapter for notes</div></div>
<div class="userstuff"><p>The keeper lit lamp {n}.</p>
<blockquote><p>A letter.</p></blockquote></div>
<div class="meta" id="endnotes{n}"><p>Chapter End Notes</p>
<blockquote><p>Bye!</p></blockquote></div>"""
AFTERWORD = '<div id="afterword"><p class="message">Please drop by the archive!</p></div>'
STORY = "\n\n".join(f"Chapter {n}: Night\n\nThe keeper lit lamp {n}.\n\nA letter." for n in (1, 2))
VERSE = "\n".join(
    f"  The {n}th of lines about the lamp" + (f"          {n}" if n % 5 == 0 else "")
    for n in range(1, 21)
)


@for_each("suffix", [".html", ".epub"])
def test_the_archive_of_fan_fiction_has_its_pages_left_out(suffix: str, tmp_path: Path) -> None:
    chapters = [CHAPTER.replace("{n}", str(n)) for n in (1, 2)]
    page = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>{}</body></html>'
    if suffix == ".html":
        data = page.format(PREFACE + "".join(chapters) + AFTERWORD).encode()
    else:
        # Only the first page says where the book is from.
        pages = [PREFACE, *chapters, AFTERWORD]
        data = epub({f"p{n}.xhtml": page.format(body) for n, body in enumerate(pages)})
    file = tmp_path / f"work{suffix}"
    file.write_bytes(data)
    document = load(file, "c", 1_000_000)
    assert document.text == STORY
    assert document.left_out["author's notes"] == 15
    assert document.left_out["library header"] > 100
    assert document.metadata == {"fandom": ["Mills", "Geese"]}
    if suffix == ".html":
        facts = (document.title, document.author, document.published)
        assert facts == ("The Lamp", "ann_example", "2024-03-01")


def test_obsidian_has_comments_links_and_marks(tmp_path: Path) -> None:
    file = tmp_path / "scene.md"
    file.write_text(
        "A [[Places/Hollin Weir|weir]] of [[Hollin#North]], [[#Here]]. ==Forty== geese. ^one\n\n"
        "%%\ncheck this\n%%\n\n> [!note] A word\n> said.\n\n![[bell.png|200]]\n\n"
        "100 %% or 1 == 1.\n"
    )
    document = load(file, "c", 1_000_000)
    assert document.text == (
        "A weir of Hollin, Here. Forty geese.\n\nA word said.\n\n100 %% or 1 == 1."
    )
    assert set(document.left_out) == {"comments", "marks of notes", "pictures"}


def test_numbers_in_the_margin_are_those_of_lines(tmp_path: Path) -> None:
    file = tmp_path / "verse.txt"
    file.write_text(f"THE LAMP\n\nBook the First\n\n{VERSE}\n\nBook the Second\n\n{VERSE}\n")
    document = load(file, "c", 1_000_000)
    assert "lamp\n" in document.text and "          5" not in document.text
    lines = labels_of(document.locators, "line")
    at = dict(zip(lines.starts, lines.labels, strict=True))
    assert at[document.text.index("The 5th")] == "5"
    assert at[document.text.index("The 13th")] == "13"
    assert document.left_out["line numbers"] == 14


@for_each(
    "text",
    [
        "CONTENTS\n\nThe Weir      5\nThe Bell      25\nThe Kettle     60\n\nThe lamp was lit.\n",
        "1   He went up.\n2   He came down.\n3   He stayed.\n4   He left.\n",
    ],
)
def test_other_numbers_stay(text: str, tmp_path: Path) -> None:
    file = tmp_path / "list.txt"
    file.write_text(text)
    assert not [each for each in load(file, "c", 1_000_000).locators if each.kind == "line"]
