"""What an answer quotes: marks of all languages, block quotations; apostrophes are no marks."""

from __future__ import annotations

from cases import for_each
from fabula.ask.quotations.marks import find_open, find_quoted


def quoted(text: str) -> list[str]:
    return [each.readings[0].text for each in find_quoted(text)]


@for_each(
    "marks",
    [
        "“”",
        '""',
        "‘’",
        "''",
        "«»",
        "»«",
        "‹›",
        "›‹",
        "„“",
        "„”",
        "‚‘",
        "””",
        "「」",
        "『』",
        "＂＂",
    ],
)
def test_marks_of_all_languages_are_quotations(marks: str) -> None:
    text = f"He said {marks[0]}it was a dark night{marks[1]} and left [1]."
    assert quoted(text) == ["it was a dark night"]
    [found] = find_quoted(text)
    assert text[found.start : found.end] == f"{marks[0]}it was a dark night{marks[1]}"


@for_each(
    "text",
    [
        "The boys' hats weren't the girls' and 'twas the '90s, 'em say.",
        "He wasn’t there, and the dogs’ tails weren’t either.",
        "He is “old Scrooge” or ‘the miser’ here.",
        'A board of 6" by 8" by 10 feet.',
        "- rock ’n’ roll and such things, they said",
    ],
)
def test_apostrophes_names_and_inches_are_no_quotations(text: str) -> None:
    assert quoted(text) == []


def test_a_quotation_in_single_marks_has_apostrophes_inside() -> None:
    assert quoted("‘He wasn’t the boys’ friend,’ she said.") == ["He wasn’t the boys’ friend,"]
    assert quoted("'It was the boys' hat, wasn't it?' [2]") == ["It was the boys' hat, wasn't it?"]
    assert quoted("He calls him ‘a tight-fisted hand’ and the boys’ friend.") == [
        "a tight-fisted hand"
    ]


@for_each(
    ("text", "found"),
    [
        ("They say 'round the mill they danced' here.", ["round the mill they danced"]),
        ("They say ’till the sun was up,’ and left.", ["till the sun was up,"]),
        ("He walked 'round the house and the dogs' tails wagged.", []),
        ("He went 'round the mill. 'She was not at home,' he said.", ["She was not at home,"]),
        ("'He went 'round the mill at dawn.'", ["He went 'round the mill at dawn."]),
        ("'Cause he was late, nobody came.", []),
    ],
)
def test_a_word_that_may_be_elided_begins_a_quotation_if_a_mark_closes_it(
    text: str, found: list[str]
) -> None:
    assert quoted(text) == found


def test_a_quotation_inside_another_follows_it() -> None:
    text = "“He said ‘are there no prisons’ to me”"
    assert quoted(text) == ["He said ‘are there no prisons’ to me", "are there no prisons"]
    assert [each.is_nested for each in find_quoted(text)] == [False, True]


def test_a_block_quotation_is_one_and_may_name_its_author() -> None:
    lines = ("Are there no prisons?", "And the workhouses?", "— Dickens, Stave I")
    text = "He asks [1]:\n\n" + "".join(f"> {line}\n" for line in lines) + "\nSo."
    [block] = find_quoted(text)
    assert block.is_block
    with_name, without = (" ".join(each.text.split()) for each in block.readings)
    assert with_name.endswith("— Dickens, Stave I")
    assert without == "Are there no prisons? And the workhouses?"


def test_citations_and_markdown_are_no_part_of_a_quotation() -> None:
    assert quoted("“it was *a dark* night [1], and cold”") == ["it was a dark night , and cold"]


def test_a_quotation_that_nothing_closes_reaches_to_the_end_of_its_paragraph() -> None:
    assert quoted("He said “it was a dark night\n\nAnd so on.") == ["it was a dark night"]


def test_a_quotation_of_two_paragraphs_begins_each_with_a_mark() -> None:
    text = "“It was a dark night.\n\n“It was a cold day.” So."
    assert quoted(text) == ["It was a dark night.", "It was a cold day."]
    assert quoted("“It was a dark night.\n\nIt was a cold day.” So.") == [
        "It was a dark night.\n\nIt was a cold day."
    ]


@for_each(
    ("text", "shown"),
    [
        ("It rained. Nobody went", "It rained. Nobody went"),
        ("It rained. He said “it was", "It rained. He said "),
        ("It rained. He said “it was a night” [1]. And", "It rained. He said "),
        ("He said “it was a night” [1].\n\nAnd so", "He said “it was a night” [1].\n\nAnd so"),
        ("He said “it was a night.\n\nAnd so", "He said "),
        ("So:\n\n> it was", "So:\n\n"),
        ("So:\n\n> it was\n\nAnd", "So:\n\n> it was\n\nAnd"),
        ("He wasn't the boys' friend", "He wasn't the boys' friend"),
        ("He said '", "He said "),
        ("He said 't", "He said "),
        ("He said ‘", "He said "),
        ("'Tis so", "'Tis so"),
        ("He said that 'round the mill", "He said that "),
        ("He went 'round it.\n\nAnd so", "He went 'round it.\n\nAnd so"),
    ],
)
def test_an_answer_is_shown_up_to_what_has_to_wait(text: str, shown: str) -> None:
    assert text[: find_open(text)] == shown
