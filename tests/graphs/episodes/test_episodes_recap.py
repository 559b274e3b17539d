"""The pure parts of recaps: names that come later, episodes that are chosen, texts that are cut."""

from __future__ import annotations

from cases import for_each
from fabula.graphs.episodes.later_names import drop_sentences_with, find_later_names
from fabula.graphs.episodes.recap import (
    RecapPart,
    StoredEpisode,
    choose_episodes,
    extract,
    find_untold,
    fit,
)

ENGLISH = "He came to the mill. The miller's name was Tom. Later Elias' storm broke. Rose rose."
POLISH = "Widział Zosię w ogrodzie. Potem Zosia wyszła. Przyszedł Tadeusz."
GERMAN = "Er ging in den Wald. Dann sah er das Haus von Anna."


@for_each(
    ("summary", "text", "end", "language", "names"),
    [
        ("He meets Tom at the mill.", ENGLISH, 20, "en", ["Tom"]),
        ("He meets Tom at the mill.", ENGLISH, 60, "en", []),
        ("He hears of Tom's mill and of Elias's storm.", ENGLISH, 20, "en", ["Tom", "Elias"]),
        # It begins a sentence, is a word like others, or is nowhere in the text.
        ("Tom is there. Later he left.", ENGLISH, 20, "en", []),
        ("He saw a Rose.", ENGLISH, 20, "en", []),
        ("He was in London.", ENGLISH, 20, "en", []),
        # Another form of the name comes before.
        ("Spotkał tu Zosia.", POLISH, 25, "pl", []),
        ("Spotkał tu Zosia.", POLISH, 25, "en", ["Zosia"]),
        ("Spotkał tu Tadeusz.", POLISH, 25, "pl", ["Tadeusz"]),
        # Every noun has a capital.
        ("Er sieht ein Haus.", GERMAN, 20, "de", []),
        ("彼は東京へ行った。", "彼は行った。東京だ。", 5, "ja", []),
    ],
)
def test_names_are_found_that_the_text_prints_only_later(
    summary: str, text: str, end: int, language: str, names: list[str]
) -> None:
    assert find_later_names(summary, text, end, language) == names


def test_only_sentences_with_the_names_are_left_out() -> None:
    summary = "Anna came. Then Tom (of the mill) came too. Tommy left."
    assert drop_sentences_with(["Tom"], summary, "en") == "Anna came. Tommy left."
    assert drop_sentences_with(["Anna", "Tom", "Tommy"], summary, "en") == ""


def episode(
    id: str, start: int, end: int, above: str = "", level: int = 1, section: str = "I"
) -> StoredEpisode:
    text = f"{id} is told."
    return StoredEpisode(id, "d", "D", "en", level, section, start, end, text, 10, "model", above)


TREE = (
    episode("whole", 0, 100, level=3, section="I – II"),
    episode("one", 0, 60, "whole", 2),
    episode("a", 0, 20, "one"),
    episode("b", 20, 60, "one"),
    episode("two", 60, 100, "whole", 2, "II"),
    episode("c", 60, 80, "two", section="II"),
    episode("d", 80, 100, "two", section="II"),
)


@for_each(
    ("until", "options", "ids"),
    [
        (100, {}, "whole"),
        (99, {}, "one c"),
        (79, {}, "one"),
        (59, {}, "a"),
        (19, {}, ""),
        (100, {"level": 1}, "a b c d"),
        (100, {"level": 2}, "one two"),
        (90, {"level": 1}, "a b c"),
        (100, {"by": "chapter"}, "one two"),
        (100, {"limit": 19}, "whole"),
        (100, {"limit": 20}, "one two"),
        (100, {"limit": 30}, "a b two"),
        (100, {"limit": 40}, "a b c d"),
        (90, {"limit": 5}, "one c"),
        (90, {"limit": 30}, "a b c"),
    ],
)
def test_the_widest_episodes_before_a_place_are_chosen(
    until: int, options: dict[str, object], ids: str
) -> None:
    chosen = choose_episodes(TREE, until, **options)  # type: ignore[arg-type]
    assert " ".join(each.id for each in chosen) == ids


def test_an_episode_is_a_passage_that_can_be_cited() -> None:
    hit = TREE[1].hit
    assert (hit.kind, hit.id, hit.level, hit.start, hit.end) == ("episode", "one", 2, 0, 60)
    assert (hit.title, hit.text, hit.aspect, hit.language) == ("D", "one is told.", "", "en")


def test_stretches_without_an_episode_are_found() -> None:
    missing = [each for each in TREE if each.id not in ("whole", "one", "a")]
    chosen = choose_episodes(missing, 90)
    assert [each.id for each in chosen] == ["b", "c"]
    assert find_untold(chosen, 90) == [(0, 20), (80, 90)]
    assert find_untold([], 5) == [(0, 5)]
    assert find_untold(choose_episodes(TREE, 100), 100) == []


def test_an_extract_is_three_lines_that_begin_with_who_in_the_order_of_the_text() -> None:
    texts = (
        "The old mill of the miller stood by the mill race. Not even Anna knew why. ",
        "“Anna, the mill of the miller!” cried Boris. Anna sold the mill to Boris. Yes. ",
        "It rained on the mill, and the miller left. Then Boris came. Boris burned the mill. ",
        "The Tall Man saw the mill burn, and told it to the Tall Woman.",
    )
    assert extract(texts, "en").splitlines() == [
        "Anna sold the mill to Boris.",
        "Boris burned the mill.",
        "The Tall Man saw the mill burn, and told it to the Tall Woman.",
    ]
    assert extract(["\n\n * * * \n"], "en") == ""


def test_the_teller_is_somebody_and_what_is_said_comes_last() -> None:
    text = "“The mill is ours now,” he said. The mill was cold. I sold the mill in May."
    assert extract([text], "en").splitlines() == [
        "“The mill is ours now,” he said.",
        "The mill was cold.",
        "I sold the mill in May.",
    ]
    assert extract(
        ["“The mill is ours now,\n\nand we have sold the mill.”"], "en"
    ).splitlines() == [
        "The mill is ours now,",
        "and we have sold the mill.",
    ]


def test_parts_that_are_too_long_are_cut_in_proportion() -> None:
    long = "The miller sold the mill. " * 12
    parts = [
        RecapPart(1, "a", 1, "I", 0, 9, long.strip(), 73, "model"),
        RecapPart(2, "b", 1, "I", 9, 12, "He left the old house at dawn. It rained.", 11, "model"),
    ]
    assert fit(parts, 0) == parts
    assert fit(parts, 84) == parts
    cut = fit(parts, 50)
    assert sum(part.tokens for part in cut) <= 50
    assert cut[0].text.endswith("mill.")
    assert 0 < cut[1].tokens < 11


def test_a_part_is_cut_after_a_whole_sentence_and_not_after_an_abbreviation() -> None:
    text = "“God forgive us, God forgive us,” said Mr. Utterson. But Mr. Enfield only nodded."
    part = RecapPart(1, "a", 1, "I", 0, 9, text, 21, "rules")
    [cut] = fit([part], 18, "en")
    assert cut.text == "“God forgive us, God forgive us,” said Mr. Utterson."
