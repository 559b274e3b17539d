"""Plain text is cleaned: unwrapped where it is prose, and left as it is where it is verse."""

import textwrap

from cases import for_each
from fabula.load.clean import clean, tidy
from prose import PROSE, VERSE

POEM = """\
  How doth the little crocodile
    Improve his shining tail,
  And pour the waters of the Nile
    On every golden scale!
"""


def test_wrapped_prose_becomes_one_line_a_paragraph() -> None:
    paragraphs = clean(f"{PROSE}\n{PROSE}").split("\n\n")
    assert len(paragraphs) == 2
    assert all("\n" not in paragraph for paragraph in paragraphs)
    assert "the age of wisdom" in paragraphs[0]


def test_a_poem_in_prose_keeps_its_lines() -> None:
    paragraphs = clean(f"{PROSE}\n{POEM}\n{PROSE}").split("\n\n")
    assert [paragraph.count("\n") for paragraph in paragraphs] == [0, 3, 0]
    assert paragraphs[1].startswith("How doth the little crocodile\nImprove his")


def test_verse_stays_verse() -> None:
    assert [stanza.count("\n") for stanza in clean(VERSE).split("\n\n")] == [3, 3]


def test_a_list_keeps_its_lines() -> None:
    items = "\n".join(
        f"{n}. a thing which is as long as a line of prose is wide, {n}" for n in "123"
    )
    assert clean(f"{PROSE}\n{items}\n\n{PROSE}").split("\n\n")[1] == items


def test_prose_of_names_is_unwrapped_all_the_same() -> None:
    names = "He met Mr. and Mrs. Fezziwig, the two Miss Fezziwigs, and then\nMr. Topper as well.\n"
    assert "then Mr. Topper" in clean(f"{PROSE}\n{names}\n{PROSE}")


def test_indented_lines_begin_paragraphs_where_no_blank_lines_do() -> None:
    indented = "".join(f"    {PROSE}" for _ in range(3))
    assert len(clean(indented).split("\n\n")) == 3


def test_unwrapped_text_has_one_paragraph_a_line() -> None:
    line = PROSE.replace("\n", " ").strip()
    assert clean(f"{line}\n{line}\n{line}") == f"{line}\n\n{line}\n\n{line}"


def test_dashes_and_hyphens_at_a_lines_end_stay_closed() -> None:
    text = PROSE.replace("age\nof", "well-\nknown age--\nof")
    assert "the well-known age--of wisdom" in clean(text)


def test_what_is_invisible_or_odd_is_removed() -> None:
    odd = "\ufeffOne\0 t\u00adwo\u200b  three\u00a0 \t four\x07."
    odd += "\r\n\r\n\r\n\r\nFive\u2028six.\x0cSeven.\ud800"
    assert clean(odd) == "One two three four.\n\nFive\nsix.\n\nSeven.\ufffd"


def test_letters_are_composed() -> None:
    assert clean("Z\u0307o\u0301w") == "Żów"


def test_emoji_of_several_characters_stay_whole() -> None:
    assert clean("A 👩‍👩‍👧 here.") == "A 👩‍👩‍👧 here."


def test_emphasis_becomes_plain_and_names_in_code_stay() -> None:
    text = "I _do_ know _the whole\nof it_, and snake_case too. ___"
    assert (
        "".join(clean(text)).replace("\n", " ")
        == "I do know the whole of it, and snake_case too. ___"
    )


@for_each(
    "marker",
    ["[Illustration]", "[Illustration: A cat.]", "[Illustration: A\ncat [large]\nand a dog]"],
)
def test_markers_of_pictures_are_removed(marker: str) -> None:
    assert clean(f"Before.\n\n{marker}\n\nAfter.") == "Before.\n\nAfter."


def test_a_bracket_that_never_closes_loses_nothing() -> None:
    assert clean("[Illustration of a mind, he said.") == "[Illustration of a mind, he said."


def test_tidying_keeps_indents_and_blank_lines() -> None:
    assert tidy("  a\r\n\r\n  b") == "  a\n\n  b"


def test_wrapped_prose_without_blank_lines_is_divided_where_a_sentence_ends_a_short_line() -> None:
    text = f"THE HOUSE\nChapter 1\n{PROSE * 30}Chapter 2\nTHE RETURN\n{PROSE * 30}"
    prose = [" ".join(PROSE.split())] * 30
    headings = ["THE HOUSE", "Chapter 1"], ["Chapter 2", "THE RETURN"]
    assert clean(text).split("\n\n") == [*headings[0], *prose, *headings[1], *prose]


def test_a_heading_is_found_without_blank_lines_also_below_a_full_line() -> None:
    full = PROSE + "and all of them went at once to the end of the longest street.\n"
    paragraphs = clean(f"{full * 30}Chapter 2\n{full * 30}").split("\n\n")
    assert "Chapter 2" in paragraphs


def test_verse_without_blank_lines_is_not_divided() -> None:
    verse = (
        "Of Mans First Disobedience, and the Fruit\nOf that Forbidden Tree, whose mortal tast\n"
        "Brought Death into the World, and all our woe.\nWith loss of Eden, till one greater Man\n"
        "Restore us, and regain the blissful Seat.\n"
    )
    text = f"{PROSE * 3}\n{verse * 40}\n{PROSE * 3}"
    assert verse.strip() in clean(text)
    assert len(clean(text).split("\n\n")) == 3


def test_a_long_paragraph_between_blank_lines_is_one() -> None:
    words = " ".join(PROSE.split())
    lines = textwrap.fill(" ".join([words] * 40), 70)
    assert lines.count("\n") > 100
    assert len(clean(f"{PROSE}\n{lines}\n\n{PROSE}").split("\n\n")) == 3


def test_controls_are_the_quotes_and_dashes_of_windows() -> None:
    """As in a text in Windows-1252 that was converted as Latin-1."""
    text = "He said \x93don\x92t\x94 \x97 and left\x85 Then\x97he slept."
    assert clean(f"{text}\n\n{text}") == clean(
        "\n\n".join(["He said “don’t” — and left… Then—he slept."] * 2)
    )
    assert clean("One line.\n\nAnd so on\x85 to the end.").endswith("And so on… to the end.")
    assert clean("One line\x85\x85Another") == "One line\n\nAnother"


def test_wrapped_prose_with_a_blank_line_between_any_two_lines_is_joined() -> None:
    double = PROSE.strip().replace("\n", "\n\n")
    long = "\n\n".join([PROSE] * 8)
    assert clean("\n\n\n\n".join([double] * 8)) == clean(long)
    sentences = "\n\n".join(
        f"He went to the weir and the mill, and saw lamp number {n}." for n in range(30)
    )
    assert clean(sentences) == sentences


def test_a_tab_before_a_line_is_an_indent() -> None:
    assert clean(f"\t{PROSE}" * 3) == clean("\n\n".join([PROSE] * 3))
    assert tidy("\tOne\n \tTwo\tthree\n\t\n") == "   One\n   Two three\n \n"
