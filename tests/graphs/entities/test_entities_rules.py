"""Names found by their capitals: what counts as one, who is a person, who is named with whom."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import fabula
from cases import for_each
from fabula.graphs.entities.decided_pairs import DecidedPairs
from fabula.graphs.entities.merge import resolve_mentions
from fabula.graphs.entities.rules import extract_entities
from fabula.graphs.entities.values import Extraction
from fabula.load import load
from fabula.text.chunk import split
from fabula.text.document import Document

CAROL = Path(fabula.__file__).parent / "texts" / "a-christmas-carol.txt"
JUDGED = Path(__file__).parents[2] / "data" / "names"


def found_in(text: str, language: str = "en", chunk_tokens: int = 200) -> Extraction:
    document = Document("d", "c", "s", "T", "", language, text, (), "")
    return extract_entities(split(document, chunk_tokens), language)


def names(text: str, language: str = "en") -> Counter[str]:
    counts: Counter[str] = Counter()
    for mention in found_in(text, language).mentions:
        counts.update({form: len(starts) for form, starts in mention.names.items()})
    return counts


def types(text: str, language: str = "en") -> dict[str, str]:
    return {mention.name: mention.type for mention in found_in(text, language).mentions}


@for_each(
    ("text", "expected"),
    [
        (
            "Then old Mr. Gray met Anna Bell. Gray bowed.",
            {"Mr. Gray": 1, "Anna Bell": 1, "Gray": 1},
        ),
        ("We saw H. G. Dale and Count de la Mar.", {"H. G. Dale": 1, "Count de la Mar": 1}),
        ("It was Anna's hat, and Anna’s dog.", {"Anna": 2}),
        ("He went. Today was cold. Nobody spoke.", {}),
        ("“Nothing,” he said. “Never ask.” And then: Silence.", {}),
        ("Only a miss or a mister, the Captain, Mrs. and the Doctor.", {}),
        ("It was Monday in May, and I’ll say so to God.", {}),
        ("He read: The Long Road Home\n\nTHE END OF THE ROAD\n\nand slept.", {}),
        ("I met Anna\nBell there.", {"Anna Bell": 1}),
        ("There she met Anna,\n\nand there she stayed, Anna.", {"Anna": 2}),
        ("A form that is mostly form and once Form.", {}),
        # Forenames are names where no sentence has one inside, if the text never prints them small.
        ("“Joseph!” he cried. Joseph came. “Joseph, go!”", {"Joseph": 3}),
        ("Joshing is no name. Grace is one, but of grace we know little.", {}),
        # A title makes a name of a word that is common, or of a month.
        (
            "A straight road led to Judge Straight. The long way took Mrs. Long.",
            {"Judge Straight": 1, "Mrs. Long": 1},
        ),
        ("In March he saw Miss March.", {"Miss March": 1}),
        ("At last, in book VI, and in book XVI he met Anna.", {"Anna": 1}),
        ("", {}),
    ],
)
def test_a_name_has_a_capital_inside_sentences(text: str, expected: dict[str, int]) -> None:
    assert names(text) == expected


def test_names_that_recur_together_are_one() -> None:
    once = "They met the Spirit of Winter. The Spirit bowed to Winter."
    assert names(once) == {"Spirit": 2, "Winter": 2}
    assert names(f"{once} They saw the Spirit of Winter.")["Spirit of Winter"] == 2


def test_in_verse_a_line_begins_with_a_capital_whatever_it_says() -> None:
    lines = "My heart is with Zosia here\nAnd still the river runs on\nAnd still the willows weep\n"
    assert names(4 * lines, "en") == {"Zosia": 4}


def test_where_names_stand_and_what_they_are_called() -> None:
    text = "Then old Mr. Gray met Anna\nBell. “Good day,” said Mr. Gray."
    mentions = found_in(text).mentions
    for mention in mentions:
        for form, starts in mention.names.items():
            assert all(" ".join(text[start:].split()).startswith(form) for start in starts)
    assert {mention.name: len(mention.names[mention.name]) for mention in mentions} == {
        "Mr. Gray": 2,
        "Anna Bell": 1,
    }


@for_each(
    ("text", "name", "type"),
    [
        ("Then Mr. Gray left.", "Mr. Gray", "person"),
        ("“No,” said Anna.", "Anna", "person"),
        ("There Anna laughed, and we left.", "Anna", "person"),
        ("It was Anna's brother.", "Anna", "person"),
        ("Beside Anna, who slept, he sat.", "Anna", "person"),
        ("He lived in Lisbon. He loved Lisbon.", "Lisbon", "place"),
        ("He looked at Baskerville Hall, and sighed.", "Baskerville Hall", "place"),
        ("He read Milton.", "Milton", "name"),
        ("“No,” said Anna. That was Anna Bell.", "Anna Bell", "person"),
        ("Then Bob Gray met the Grays.", "the Grays", "name"),
        ("Then old Mr. Bob Gray met the Grays.", "the Grays", "group"),
        ("“No,” said the Spirit. “Yes,” cried the Spirit.", "the Spirit", "person"),
    ],
)
def test_who_is_a_person_and_what_is_a_place(text: str, name: str, type: str) -> None:
    assert types(text)[name] == type


def test_who_is_named_in_one_sentence_is_tied() -> None:
    text = (
        "One evening Anna met Boris by the frozen harbour of the town. "
        "There Boris saw Anna. Clara slept. Then came Clara with Boris."
    )
    found = found_in(text)
    ties = {(tie.source, tie.target): tie for tie in found.relation_mentions}
    assert set(ties) == {("Anna", "Boris"), ("Clara", "Boris")}
    tie = ties["Anna", "Boris"]
    assert tie.statement == "There Boris saw Anna."
    assert len(tie.keywords) == 2
    assert {"anna", "boris"}.isdisjoint(tie.keywords)
    assert tie.strength == 0
    [anna] = [mention for mention in found.mentions if mention.name == "Anna"]
    assert anna.statement.startswith("One evening"), "the sentence that says more"


def test_each_chunk_ties_once() -> None:
    text = "\n\n".join("There Anna met Boris, and they spoke of the weather." for _ in range(9))
    found = found_in(text, chunk_tokens=16)
    assert len(found.relation_mentions) == len({tie.chunk for tie in found.relation_mentions}) == 9


def test_cases_do_not_hide_who_speaks() -> None:
    text = (
        "Wtedy Telimena wstała. „Tak”, rzekła Telimena. Lubił Telimenę bardzo. Wtedy Telimena "
        "Tadeusza spotkała. Tam był Tadeusz. „Nie”, rzekł Tadeusz."
    )
    assert types(text, "pl") == dict.fromkeys(
        ["Telimena", "Telimenę", "Tadeusza", "Tadeusz"], "person"
    )


def test_names_are_found_in_cyrillic() -> None:
    text = "Тут вошёл Раскольников. — Нет, — сказал Раскольников. Она боялась Раскольникова."
    assert types(text, "ru") == dict.fromkeys(["Раскольников", "Раскольникова"], "person")


def test_where_all_nouns_have_capitals_only_persons_and_places_are_names() -> None:
    text = (
        "Dort stand der Tisch. „Nein“, sagte Anna. Da lag das Buch, und Herr Buddenbrook schlief."
    )
    assert set(types(text, "de")) == {"Anna", "Herr Buddenbrook"}


def test_a_script_without_capitals_has_no_names() -> None:
    assert found_in("宝玉见了黛玉，便笑道。", "zh") == Extraction()


def test_of_the_carols_persons_nine_in_ten_are_persons() -> None:
    document = load(CAROL, "default", 10**7)
    extraction = extract_entities(split(document, 200), document.language)
    cast = resolve_mentions(extraction, language="en", decisions=DecidedPairs()).merge(document.id)
    with (JUDGED / "carol.tsv").open(encoding="utf-8", newline="") as file:
        judged = {row["name"]: row["is"] for row in csv.DictReader(file, delimiter="\t")}
    persons = [entity.name for entity in cast.entities if entity.type == "person"]
    unknown = set(persons) - judged.keys()
    assert not unknown, "new persons are found: judge them, and add them to the list"
    right = sum(judged[name] == "person" for name in persons)
    assert len(persons) >= 25
    assert right >= 0.9 * len(persons)
    by_name = {entity.name: entity for entity in cast.entities}
    assert {"Ebenezer Scrooge", "Mr. Scrooge", "Uncle Scrooge"} <= by_name["Scrooge"].names.keys()
    assert {"Bob Cratchit", "Cratchit"} <= by_name["Bob"].names.keys()
    assert by_name["Mrs. Cratchit"].id != by_name["Bob"].id
    assert by_name["Cratchits"].type == "group"


def test_a_forename_or_a_title_makes_a_person() -> None:
    named = "We heard of Henry Bird, of Thea, of Mrs. Billington, of Grace and of Grace Poole; "
    found = types(f"{named} we saw Milton and James Street, and thought of grace.")
    assert {name for name, type in found.items() if type == "person"} == {
        *("Henry Bird", "Thea", "Mrs. Billington", "Grace Poole"),
    }
    assert found["Milton"] == "name"


@for_each(
    ("text", "type"),
    [
        ("It was Kinch. “Come up, Kinch!” and he came.", "person"),
        ("There is Quill. “Are you ill, Quill?” we wondered.", "person"),
        # Where a name is before the comma, what follows it may be where that is.
        ("They met at Zell. “To Varn, Zell!” they wrote.", "name"),
        ("They saw Zell. It is far, Zell being old.", "name"),
    ],
)
def test_who_is_addressed_is_a_person(text: str, type: str) -> None:
    assert {types(text)[name] for name in types(text) if name in ("Kinch", "Quill", "Zell")} == {
        type
    }
