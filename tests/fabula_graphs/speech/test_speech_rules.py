"""Who says it: verbs of speech, pronouns, turns, who is called, and labels, in ten languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cases import for_each
from fabula_graphs.speech.inner import attribute_inner
from fabula_graphs.speech.persons import Persons
from fabula_graphs.speech.quotations import find_quotations
from fabula_graphs.speech.rules import SpeakerRules
from fabula_graphs.speech.values import Placed, Quotation, Spoken
from fabula_graphs.speech.words import has_words, words_of

CAST = {"Tom": 5, "Meg": 5, "Mr. Bennet": 3, "Mrs. Bennet": 3}


def spoken(text: str, language: str = "en", names: Mapping[str, int] = CAST) -> list[Spoken]:
    words = words_of(language)
    quotations = find_quotations(text, words)
    return SpeakerRules(text, quotations, words, Persons.of_names(names, words)).attribute()


def speakers(text: str, language: str = "en", names: Mapping[str, int] = CAST) -> list[str]:
    return [quotation.speaker for quotation in spoken(text, language, names)]


@for_each(
    "text",
    [
        "“Come in,” said Tom.",
        "“Come in!” cried out Tom.",
        "“Come in?” Tom slowly asked.",
        "Meg looked up. Tom said, “Come in.”",
        "Tom took the lamp from Meg and said: “Come in.”",
    ],
)
def test_a_verb_of_speech_names_the_speaker(text: str) -> None:
    assert speakers(text) == ["Tom"]


@for_each(
    ("language", "text", "name"),
    [
        ("en", "“Come in,” said Tom.", "Tom"),
        ("de", "»Komm herein«, sagte Gregor.", "Gregor"),
        ("fr", "— Entrez, dit Julien.", "Julien"),
        ("es", "—Entra —dijo Sancho.", "Sancho"),
        ("it", "«Entrate», disse Renzo.", "Renzo"),
        ("pt", "— Entre — disse Amaro.", "Amaro"),
        ("pl", "— Wejdź — rzekł Wokulski.", "Wokulski"),
        ("ru", "— Войдите, — сказал Чичиков.", "Чичиков"),
        ("nl", "“Kom binnen,” zei Frits.", "Frits"),
        ("cs", "„Pojďte dál,“ řekl Švejk.", "Švejk"),
    ],
)
def test_ten_languages_have_verbs_of_speech(language: str, text: str, name: str) -> None:
    assert has_words(language)
    assert speakers(text, language, {name: 3}) == [name]


def test_the_words_that_say_so_are_kept() -> None:
    text = "“Come in,” said Tom, and sat down."
    [quotation] = spoken(text)
    assert text[slice(*quotation.evidence)] == "said Tom"
    assert text[slice(*quotation.mention)] == "Tom"
    assert quotation.rule == "tag"


def test_a_pronoun_means_the_nearest_person_of_its_sex() -> None:
    text = "Mrs. Bennet met Tom at the gate.\n\n“Come in,” she said.\n\n“Gladly,” he said."
    assert speakers(text) == ["Mrs. Bennet", "Tom"]


@for_each(
    ("text", "is_doubtful"),
    [
        ("Tom met Meg at the gate.\n\n“Come in,” he said.", False),
        ("The boy met Meg at the gate.\n\n“Come in,” he said.", True),
        ("“Is it dark?” asked Tom.\n\n“Come in,” he said.", True),
    ],
)
def test_a_pronoun_that_leads_to_a_noun_or_to_who_just_spoke_is_doubtful(
    text: str, is_doubtful: bool
) -> None:
    assert spoken(text)[-1].is_doubtful == is_doubtful


def test_somebody_with_a_name_goes_before_a_nearer_noun_and_is_doubtful() -> None:
    [said] = spoken("Tom came in late. The old man looked up.\n\n“Come in,” he said.")
    assert (said.speaker, said.is_doubtful) == ("Tom", True)


def test_the_ending_of_a_verb_tells_a_woman_from_a_man() -> None:
    text = "Anna spotkała Jana.\n\n— Dzień dobry — powiedziała.\n\n— Witam — powiedział."
    assert speakers(text, "pl", {"Anna": 3, "Jana": 3}) == ["Anna", "Jana"]


def test_turns_alternate() -> None:
    text = (
        "“Who is there?” asked Tom.\n\n“I,” said Meg.\n\n“Come in.”\n\n“It is dark.”\n\n"
        "“There is a lamp.”"
    )
    quotations = spoken(text)
    assert [one.speaker for one in quotations] == ["Tom", "Meg", "Tom", "Meg", "Tom"]
    assert [one.addressee for one in quotations] == ["Meg", "Tom", "Meg", "Tom", "Meg"]
    assert [one.rule for one in quotations] == ["tag", "tag", "turns", "turns", "turns"]


def test_who_is_called_is_the_addressee_and_does_not_speak() -> None:
    text = "Meg sat by Tom. “Tom, will you come in?” she said."
    [quotation] = spoken(text)
    assert (quotation.speaker, quotation.addressee) == ("Meg", "Tom")


def test_a_tag_names_the_addressee() -> None:
    [quotation] = spoken("“Come in,” said Tom to Meg.")
    assert quotation.addressee == "Meg"


def test_quotations_of_one_paragraph_are_of_one_speaker() -> None:
    assert speakers("“Come in,” said Tom. “Sit down. The lamp is lit.”") == ["Tom", "Tom"]


def test_a_thought_is_no_speech() -> None:
    assert [quotation.kind for quotation in spoken("“It is dark,” thought Tom.")] == ["thought"]


def test_a_narrator_speaks_as_i() -> None:
    assert speakers("“Come in,” said I. “It is dark.”") == ["I", "I"]


def test_a_language_without_words_still_has_marks_and_leaves_speakers_open() -> None:
    assert not has_words("sv")
    assert speakers("”Kom in.” Det var mörkt.", "sv", {"Nils": 2}) == [""]


def inner(text: str, language: str = "en") -> list[Spoken]:
    """The quotations of a text that stand inside others, all of it in one chunk."""
    words = words_of(language)
    quotations = find_quotations(text, words)
    persons = Persons.of_names(CAST, words)
    outer = SpeakerRules(text, quotations, words, persons).attribute()
    placed = [Placed(said, "chunk", said.quotation.start, "rules") for said in outer]
    done = attribute_inner(placed, text, words, persons)
    return [item.spoken for item in done if item.spoken.quotation.depth]


@for_each(
    ("text", "speaker", "evidence"),
    [
        ("“Then Tom said, ‘Come in,’ and I went,” said Meg.", "Tom", "Tom said"),
        ("“‘Come in,’ said Tom, and I went,” said Meg.", "Tom", "said Tom"),
        # Who says "I" inside of a quotation is its speaker.
        ("“Then I said, ‘Come in,’ and he went,” said Meg.", "Meg", "I said"),
        # A sentence about somebody is too little where no verb of speech is.
        ("“Tom went out. ‘Come in’ is what they write,” said Meg.", "", ""),
    ],
)
def test_a_quotation_in_another_has_its_speaker_and_who_quotes_it(
    text: str, speaker: str, evidence: str
) -> None:
    [said] = inner(text)
    assert (said.speaker, said.quoted_by) == (speaker, "Meg")
    assert text[slice(*said.evidence)] == evidence
    assert text[: said.quoted_until].endswith("said Meg")
    assert said.addressee == ""


def test_quotations_in_two_others_are_told_apart() -> None:
    text = "“Mrs. Bennet said, ‘Tom said, “Come in,” to us,’ to me,” cried Meg."
    words = words_of("en")
    starts = [(0, text.index("cried") - 1), (text.index("‘"), text.index("’") + 1)]
    starts.append((text.index("“Come"), text.index("” to us") + 1))
    placed = [
        Placed(Spoken(Quotation(start, end, depth=depth)), "chunk", start, "rules")
        for depth, (start, end) in enumerate(starts)
    ]
    persons = Persons.of_names(CAST, words)
    placed[0] = replace(placed[0], spoken=replace(placed[0].spoken, speaker="Meg", confidence=1.0))
    _, second, third = attribute_inner(placed, text, words, persons)
    assert (second.spoken.speaker, second.spoken.quoted_by) == ("Mrs. Bennet", "Meg")
    assert (third.spoken.speaker, third.spoken.quoted_by) == ("Tom", "Mrs. Bennet")
