"""Markdown as books are written in it: with what pandoc and its relatives add to CommonMark."""

import time

from cases import for_each
from fabula.load.markdown import read
from fabula.load.pandoc import to_commonmark


def texts(markdown: str) -> list[str]:
    return [block.text for block in read(markdown.encode(), "a.md").blocks]


def test_footnotes_stay_at_their_place_with_the_number_that_calls_them() -> None:
    """A note of one word looks like the address of a link, which is no text."""
    markdown = "He saw it.[^1] She left.[^b]\n\n[^1]: Ibid.\n[^b]: In a boat,\n    at night.\n"
    assert texts(markdown) == [
        "He saw it.[1] She left.[b]",
        "[1] Ibid.",
        "[b] In a boat, at night.",
    ]


@for_each(
    "heading",
    ["# The weir {.unnumbered}", "# The weir {#weir}", "## The weir {-} ##", "The weir {-}\n====="],
)
def test_attributes_are_no_part_of_a_heading(heading: str) -> None:
    prose = "The miller kept a lantern by the weir. " * 8
    blocks = read(f"{heading}\n\n{prose}\n\n# Next {{.x}}\n\n{prose}".encode(), "a.md").blocks
    assert [block.heading for block in blocks if block.heading] == ["The weir", "Next"]


@for_each(
    ("markdown", "expected"),
    [
        ("::: {.epigraph}\nA motto.\n:::", ["A motto."]),
        (":::sidebar{.left}\nA motto.\n:::::", ["A motto."]),
        ("Before.\n\n\\newpage\n\nAfter.", ["Before.", "After."]),
        ("\\hfill \\pagebreak \\begin{center}\n\nA motto.\n\n\\end{center}", ["A motto."]),
        ("A [word]{.smallcaps} and ![picture](a.png){width=50%}.", ["A word and ."]),
        ("A.\n\n\\vspace*{2\\baselineskip}\\newpage\n\nB.", ["A.", "B."]),
        ("| Name\n|---\n| Ann", ["Name", "Ann"]),
        ("```x``` said\n\n\\newpage\n\nB.", ["x said", "B."]),
        ("`[^abc]` and[^1]", ["[^abc] and[1]"]),
        ("A.\n\n    x[^abc]\n\nB[^1].", ["A.", "x[^abc]", "B[1]."]),
        ("- A.\n\n    B[^1].", ["A.\nB[1]."]),
        ("| The weir was low,\n| the moon was high.", ["The weir was low,\nthe moon was high."]),
    ],
)
def test_layout_is_no_text(markdown: str, expected: list[str]) -> None:
    assert texts(markdown) == expected


@for_each(
    "markdown",
    [
        "A set {a, b}.",
        "# On {x}",
        "\\emph{A motto.}",
        "```\n::: x\n[^1]: y\n```",
        "He said ::: no.",
        "\\noindent{It was a dark night.}",
        "\\centering{THE END}",
        "\\begin{flushright}{Paris, 1848}\\end{flushright}",
        "\\begin{center}[THE LAST CHAPTER]",
    ],
)
def test_what_only_looks_like_markup_stays(markdown: str) -> None:
    kept = markdown.strip("`#\n ")
    assert texts(markdown) == [kept]


@for_each("piece", ["[^", "# ", ":::", "::: ", " ", "{.a ", "](", "\\newpage "])
def test_long_lines_take_no_long_time(piece: str) -> None:
    # CPU time of this thread: one second at most, of which a busy machine made 2.54. What grows
    # with the square of a whole line takes minutes.
    start = time.thread_time()
    texts(f"{piece * 10_000}!\n\n# {piece * 10_000}!")
    assert time.thread_time() - start < 6


@for_each("line", [f":::{' ' * 295}!", f"{':' * 298}!", f":::{'a' * 295}!"])
def test_many_lines_that_begin_as_divisions_take_no_long_time(line: str) -> None:
    start = time.process_time()
    to_commonmark("\n".join([line] * 3000))
    assert time.process_time() - start < 2


@for_each(
    ("markdown", "expected"),
    [
        ("1914. The war began.\n\n1915. It went on.", ["1914. The war began.\n1915. It went on."]),
        ("1. One\n2. Two\n\nText.\n\n3) Three", ["1. One\n2. Two", "Text.", "3) Three"]),
        ("1. One\n\n   more\n   - in", ["1. One\nmore\nin"]),
        ("- one\n- two\n- three", ["one\ntwo\nthree"]),
        (
            "- Bonjour, dit-il.\n- Adieu !\n\nIl partit.\n\n- Encore ?",
            ["- Bonjour, dit-il.\n- Adieu !", "Il partit.", "- Encore ?"],
        ),
    ],
)
def test_numbers_of_lists_and_dashes_of_speeches_are_text(
    markdown: str, expected: list[str]
) -> None:
    assert texts(markdown) == expected


@for_each(
    "text",
    [
        "It was late, and he went home to the house.",
        "“Who is there?” she asked.",
        f"{'She went on and on about the lantern by the weir and ' * 3}so",
    ],
)
def test_a_paragraph_above_a_rule_is_no_heading(text: str) -> None:
    blocks = read(
        f"# Chapter 1\n\nA.\n\n{text}\n---\nB.\n\nName\n---\nC.\n".encode(), "a.md"
    ).blocks
    assert [block.text for block in blocks] == [
        "Chapter 1",
        "A.",
        text.rstrip(),
        "B.",
        "Name",
        "C.",
    ]
    assert [block.heading for block in blocks if block.heading] == ["Chapter 1", "Name"]


def test_a_heading_without_a_space_is_one_if_its_words_say_so() -> None:
    text = "The miller kept a lantern by the weir. " * 8
    page = f"#Chapter 1\n\n{text}\n\n##The Weir\n\n#lantern\n\n{text}\n\n#Chapter 2 #\n\n{text}"
    blocks = read(page.encode(), "a.md").blocks
    assert [block.heading for block in blocks if block.heading] == [
        "Chapter 1",
        "The Weir",
        "Chapter 2",
    ]
    assert "#lantern" in texts(page)


def test_a_speech_of_one_word_is_no_definition_of_a_link() -> None:
    assert texts("[Anna]: Hello!\n\n[Ben]: Who?\n\nSee [here].\n\n[here]: a.html") == [
        "[Anna]: Hello!",
        "[Ben]: Who?",
        "See here.",
    ]


def test_a_comment_of_obsidian_is_no_title() -> None:
    assert read(b"%%note%%\n\nText.", "a.md").title == ""
    assert read(b"% A Tale\n% A. Writer\n\nText.", "a.md").title == "A Tale"
