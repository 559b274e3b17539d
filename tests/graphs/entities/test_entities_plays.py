"""The labels above a play's speeches: who its persons are, and who shares a scene with whom."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fabula.graphs.entities.decided_pairs import DecidedPairs
from fabula.graphs.entities.merge import resolve_mentions
from fabula.graphs.entities.plays import (
    SCENE,
    add_speakers,
    is_of_scene,
    read_speeches,
    tell_speakers_apart,
)
from fabula.graphs.entities.rules import extract_entities
from fabula.graphs.entities.values import Entities
from fabula.text.chunk import split
from fabula.text.document import Chunk, Document, Section
from fabula.text.locator import Locator

CAST = "THE TWO HOUSES\n\nPERSONS\n\nHANNA BIRD, a widow.\nMR. GRAY.\nMRS. GRAY, his wife.\n\n"


def chunks_of(text: str, headings: Sequence[str] = (), tokens: int = 60) -> tuple[Chunk, ...]:
    sections = tuple(Section(heading, text.index(heading), 1) for heading in headings)
    return split(Document("d", "c", "s", "T", "", "en", text, sections, ""), tokens)


def speech(label: str, words: str = "I say what I have to say, and no more.") -> str:
    return f"{label}\n{words}\n\n"


def cast_of(chunks: Sequence[Chunk], decisions: DecidedPairs | None = None) -> Entities:
    speeches = read_speeches(chunks)
    extraction = add_speakers(extract_entities(chunks, "en"), speeches, chunks, "en")
    decisions = tell_speakers_apart(decisions or DecidedPairs(), speeches, chunks)
    return resolve_mentions(extraction, language="en", decisions=decisions).merge("d")


def play(*scenes: Sequence[str]) -> tuple[Chunk, ...]:
    """A play of scenes, each of the labels of its speeches in order."""
    headings = [f"SCENE {'ABCDEFGH'[number]}" for number in range(len(scenes))]
    text = CAST + "".join(
        f"{heading}\n\n{''.join(map(speech, labels))}"
        for heading, labels in zip(headings, scenes, strict=True)
    )
    return chunks_of(text, headings)


def names_of(cast: Entities) -> set[frozenset[str]]:
    return {
        frozenset(form for form in entity.names if form.isupper()) for entity in cast.entities
    } - {frozenset()}


def ties(cast: Entities) -> dict[frozenset[str], int]:
    """How many scenes each two entities share, by their names."""
    names = {entity.id: entity.name for entity in cast.entities}
    return {
        frozenset((names[relation.source], names[relation.target])): count
        for relation in cast.relations
        if (count := sum(is_of_scene(mention.keywords) for mention in relation.mentions))
    }


def test_a_label_above_a_speech_is_a_person_where_labels_repeat() -> None:
    chunks = play(["HANNA.", "MR. GRAY.", "HANNA.", "MR. GRAY.", "HANNA (aside).", "MR. GRAY."])
    speeches = read_speeches(chunks)
    assert [[speaker.name for speaker in speech.speakers] for speech in speeches] == [
        ["HANNA"],
        ["MR. GRAY"],
    ] * 3
    text = "".join(chunk.text for chunk in chunks)
    assert [text[speech.start :].split("\n")[0] for speech in speeches[-2:]] == [
        "HANNA (aside).",
        "MR. GRAY.",
    ]
    persons = {entity.name for entity in cast_of(chunks).entities if entity.type == "person"}
    assert {"HANNA", "MR. GRAY"} <= persons


def test_a_novel_with_lines_in_capitals_is_no_play() -> None:
    letter = "My dear sister,\nI am well, and I hope that you are so, too.\n\n"
    chunks = chunks_of(speech("NOTICE") + letter * 30 + speech("THE END"))
    assert read_speeches(chunks) == []
    extraction = extract_entities(chunks, "en")
    assert add_speakers(extraction, [], chunks, "en") is extraction


def test_a_title_page_and_a_cast_speak_nothing() -> None:
    speeches = read_speeches(play(["HANNA.", "MRS. GRAY."] * 3))
    assert {speaker.name for speech in speeches for speaker in speech.speakers} == {
        "HANNA",
        "MRS. GRAY",
    }


def test_a_label_may_name_several_and_all_are_nobody() -> None:
    rows = ["HANNA.", "MR. GRAY.", "HANNA AND MR. GRAY.", "ALL.", "2ND LORD.", "HANNA. TOM."]
    speeches = read_speeches(play([*["HANNA.", "MR. GRAY."] * 3, *rows]))
    assert [[speaker.name for speaker in speech.speakers] for speech in speeches[-4:]] == [
        ["HANNA", "MR. GRAY"],
        [],
        ["2ND LORD"],
        ["HANNA", "TOM"],
    ]


def test_a_list_of_names_with_titles_and_full_stops_is_of_all_of_them() -> None:
    alone = ["FR. V. SILBERHAAR.", "MAJOR.", "FR. V. WINTERAU.", "HANS."]
    speeches = read_speeches(
        play([*alone * 3, "FR. V. SILBERHAAR, FR. V. WINTERAU.", "MAJOR. HANS."])
    )

    assert [[speaker.name for speaker in speech.speakers] for speech in speeches[-2:]] == [
        ["FR. V. SILBERHAAR", "FR. V. WINTERAU"],
        ["MAJOR", "HANS"],
    ]


def test_a_list_with_a_conjunction_behind_its_commas_is_of_all_of_them() -> None:
    """As "PAGE, SHALLOW, and SLENDER" in *The Merry Wives of Windsor*."""
    alone = ["PAGE", "SHALLOW", "SLENDER"]
    *_, last = read_speeches(play([*alone * 3, "PAGE, SHALLOW, AND SLENDER"]))

    assert [speaker.name for speaker in last.speakers] == alone


def test_what_a_speaker_does_is_no_part_of_the_name() -> None:
    """As "PAULINE, s'asseyant." in plays of the Théâtre Classique."""
    labels = ["PAULINE.", "PAULINE, s'asseyant.", "PAULINE se retournant.", "LE COMTE, à part."]
    lists = ["PAULINE, et LE COMTE.", "DAME de PAULINE.", "PAULINE et sa suite."]
    text = "".join(map(speech, ["LE COMTE.", *labels, *lists]))
    starts = [match.start() for match in re.finditer(r"^(?=\S+.*\nI say)", text, re.MULTILINE)]
    locators = [Locator("speaker", "", start) for start in starts]
    speeches = read_speeches(chunks_of(text), locators)

    names = [[speaker.name for speaker in speech.speakers] for speech in speeches]
    assert names == [
        ["LE COMTE"],
        *[["PAULINE"]] * 3,
        ["LE COMTE"],
        ["PAULINE", "LE COMTE"],
        ["DAME de PAULINE"],
        ["PAULINE et sa suite"],
    ]


def test_a_label_with_brackets_around_or_within_a_name_is_read() -> None:
    """As "{(&Alc.&)}" in an edition of Plautus' *Cistellaria*, which ended a build."""
    text = "".join(map(speech, ["{(&Alc.&)}", "JEAN (bas) PIERRE.", "JEAN."]))
    starts = [0, text.index("JEAN (bas)"), text.index("JEAN.")]
    locators = [Locator("speaker", "", start) for start in starts]

    names = [
        speaker.name
        for each in read_speeches(chunks_of(text), locators)
        for speaker in each.speakers
    ]
    assert names == ["Alc", "JEAN", "JEAN"]


def test_numbers_without_a_noun_are_nobody_s_name() -> None:
    """As "ERSTER, ZWEITER, DRITTER STUDENT" in Soden's *Doktor Faust*."""
    labels = ["FIRST LORD", "SECOND LORD", "HANNA"] * 3
    lists = ["FIRST AND SECOND LORD", "1ST, 2ND AND 3RD LORD", "HANNA"]
    speeches = read_speeches(play([*labels, *lists]))

    names = [[speaker.name for speaker in speech.speakers] for speech in speeches]
    assert names[-3:] == [[], [], ["HANNA"]]


def test_a_label_cut_short_is_the_full_one() -> None:
    """As "Bürgerm." of the *Bürgermeister* in Hafner's *Die reisenden Komödianten*."""

    def are_one(full: str, short: str, *others: str) -> bool:
        cast = cast_of(play([full, "HANNA", *[short, "HANNA"] * 4, *others]))
        return any({full, short} <= entity.names.keys() for entity in cast.entities)

    assert are_one("BÜRGERMEISTER", "BÜRGERM")
    assert are_one("MARJA DMITREVNA", "MARJA DM")
    # Who follow each other are two, whatever they are called.
    assert not are_one("CONTESSA", "CONTE", "CONTE", "CONTESSA")
    # FERD. and FER. of Fernando are one; FRAN. may be of FRANK or of FRANCIS.
    cast = cast_of(play(["FER", "HANNA", "FERD", "HANNA", "FRAN", "FRANK", "FRANCIS"] * 3))
    assert names_of(cast) >= {frozenset({"FER", "FERD"}), frozenset({"FRAN"})}


def test_a_label_that_the_play_has_as_a_word_is_not_cut_short() -> None:
    labels = ["SKLAVENHÄNDLER", "HANNA", *["SKLAV", "HANNA"] * 4]
    cut, word = (
        chunks_of(CAST + "".join(speech(label, words) for label in labels))
        for words in ("I say what I have to say. So Sklav. says.", "The Sklav says no more.")
    )

    def are_one(chunks: Sequence[Chunk]) -> bool:
        return any({*labels[:1], "SKLAV"} <= each.names.keys() for each in cast_of(chunks).entities)

    assert are_one(cut)
    assert not are_one(word)


def test_a_voice_is_of_whom_it_names_in_whatever_case() -> None:
    """As "Голос городничего" in Gogol's *Government Inspector*."""
    labels = ["HAGEN", "ГОРОДНИЧИЙ", "HANNA"] * 3
    voices = ["HAGENS STIMME", "ГОЛОС ГОРОДНИЧЕГО", "STIMME VON HANNA", "ZWEITE STIMME"]
    names = names_of(cast_of(play(labels, ["TOM", *voices, "TOM"])))

    assert any({"HANNA", "STIMME VON HANNA"} <= of_one for of_one in names)
    assert names >= {
        frozenset({"HAGEN", "HAGENS STIMME"}),
        frozenset({"ГОРОДНИЧИЙ", "ГОЛОС ГОРОДНИЧЕГО"}),
        frozenset({"ZWEITE STIMME"}),
    }


def test_who_speaks_in_one_scene_is_tied_once_for_each_scene() -> None:
    cast = cast_of(
        play(
            ["HANNA.", "MR. GRAY."] * 3,
            ["HANNA.", "MR. GRAY.", "TOM.", "HANNA.", "TOM."],
            ["TOM.", "MRS. GRAY.", "TOM."],
        )
    )
    assert ties(cast) == {
        frozenset(("HANNA", "MR. GRAY")): 2,
        frozenset(("HANNA", "TOM")): 1,
        frozenset(("MR. GRAY", "TOM")): 1,
        frozenset(("MRS. GRAY", "TOM")): 1,
    }
    keywords = {word for tie in cast.relations for m in tie.mentions for word in m.keywords}
    assert SCENE["en"] in keywords


def test_two_who_share_a_scene_are_tied_though_no_chunk_has_both() -> None:
    long = ["HANNA.", *["TOM.", "MARY."] * 12, "OLD GRAY."]
    chunks = play(["HANNA.", "OLD GRAY."] * 3, long)
    assert not any("HANNA" in c.text and "OLD GRAY" in c.text for c in chunks if c.index > 6)
    assert ties(cast_of(chunks))[frozenset(("HANNA", "OLD GRAY"))] == 2


def test_labels_are_two_persons_even_if_one_is_the_family_name_of_the_other() -> None:
    """Resolved as names of a novel, GRAY would be TOM GRAY, whom he speaks with."""
    cast = cast_of(play(["TOM GRAY.", "GRAY."] * 4))
    assert names_of(cast) >= {frozenset(("TOM GRAY",)), frozenset(("GRAY",))}


def test_a_number_tells_one_of_several_from_the_others() -> None:
    several = ["MESSENGER", "SECOND MESSENGER", "DRUGI GOŚĆ", "GOŚĆ"]
    apart = {frozenset({label}) for label in several}

    assert names_of(cast_of(play(*([label, "HANNA"] * 3 for label in several)))) >= apart


def test_a_full_label_introduces_who_has_a_shorter_one_later_and_not_the_reverse() -> None:
    earlier, later = ["SPIRIT", "HANNA"] * 3, ["EVIL SPIRIT", "HANNA"] * 3

    assert names_of(cast_of(play(later, earlier))) >= {frozenset({"EVIL SPIRIT", "SPIRIT"})}
    apart = {frozenset({"EVIL SPIRIT"}), frozenset({"SPIRIT"})}
    assert names_of(cast_of(play(earlier, later))) >= apart


def test_labels_that_differ_in_one_ending_are_two_persons_even_if_one_speaks_once() -> None:
    chunks = play(["OBŁĄKANY", "HANNA"] * 3, ["OBŁĄKANA", "HANNA"])
    speeches = read_speeches(chunks)
    extraction = add_speakers(extract_entities(chunks, "pl"), speeches, chunks, "pl")
    decisions = tell_speakers_apart(DecidedPairs(), speeches, chunks)
    cast = resolve_mentions(extraction, language="pl", decisions=decisions).merge("d")

    assert names_of(cast) >= {frozenset({"OBŁĄKANY"}), frozenset({"OBŁĄKANA"})}


def test_labels_are_one_person_where_the_cast_prints_both_as_one_name() -> None:
    """The label changes after she was introduced: both are words of HANNA BIRD."""
    cast = cast_of(play(["BIRD.", "MR. GRAY."] * 3, ["HANNA.", "MR. GRAY."] * 3))
    [hanna] = [entity for entity in cast.entities if "HANNA" in entity.names]
    assert "BIRD" in hanna.names
    apart = cast_of(play(["BIRD.", "HANNA.", "MR. GRAY."] * 3))
    assert not any({"HANNA", "BIRD"} <= entity.names.keys() for entity in apart.entities)


def test_labels_are_one_person_where_a_forename_is_short_or_words_are_turned_round() -> None:
    def are_one(chunks: Sequence[Chunk], *labels: str) -> bool:
        return any({*labels} <= entity.names.keys() for entity in cast_of(chunks).entities)

    apart = play(["EUGENIUSZ.", "MR. GRAY."] * 3, ["GENIO.", "MR. GRAY."] * 3)
    assert are_one(apart, "EUGENIUSZ", "GENIO")
    assert are_one(play(["AGATA.", "GRAY."] * 3, ["AGATKA.", "GRAY."] * 3), "AGATA", "AGATKA")
    # Who speak in one scene are two, whatever they are called.
    together = play(["EUGENIUSZ.", "GENIO.", "MR. GRAY."] * 3)
    assert not are_one(together, "EUGENIUSZ", "GENIO")
    turned = play(["SERVANT FIRST.", "GRAY."] * 3, ["FIRST SERVANT.", "GRAY."] * 3)
    assert are_one(turned, "SERVANT FIRST", "FIRST SERVANT")


def test_a_label_with_a_comma_is_one_person_unless_both_speak_by_turns() -> None:
    speeches = read_speeches(
        play(["STRANGER.", "TOM."] * 3, ["MARY, STRANGER.", "TOM.", "MARY."] * 2)
    )
    assert [speech.also for speech in speeches if speech.also] == ["MARY, STRANGER"] * 2
    two = read_speeches(play(["STRANGER.", "MARY."] * 3, ["MARY, STRANGER.", "TOM.", "MARY."] * 2))
    assert [[s.name for s in speech.speakers] for speech in two if len(speech.speakers) > 1] == [
        ["MARY", "STRANGER"]
    ] * 2


def test_what_a_person_decided_of_labels_goes_before() -> None:
    chunks = play(["BIRD.", "MR. GRAY."] * 3, ["HANNA.", "MR. GRAY."] * 3)
    decisions = DecidedPairs(keep_apart=(("HANNA", "BIRD"),), join=(("TOM", "HANNA"),))
    told = tell_speakers_apart(decisions, read_speeches(chunks), chunks)
    assert ("BIRD", "HANNA") not in told.join
    assert told.join[0] == ("TOM", "HANNA")
