"""Words are found as a reader sees them, by what their own collection holds, in a real Neo4j."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from database import connect, cypher
from fabula.ask.fusion import fuse_by_scores
from fabula.ask.hybrid import WORD_WEIGHT
from fabula.graph import Part
from fabula.graph.hits import Filters, Hit
from fabula.graph.queries import for_embeddings, read_statement
from fabula.server import Address
from fabula.store import Store, schema
from fabula.store.derived_values import DerivedValues
from fabula.store.parts import lock_prefix, stage
from fabula.store.rows import encode_vector
from fabula.store.search_index import WordStatistics, count_query, question_terms, search_query
from fabula.store.word_counts import count_words
from fabula.text.document import Chunk
from fabula.text.ids import chunk_id
from graphs import (
    DIMENSIONS,
    MODEL,
    document_id,
    names_of,
    nodes,
    parts_of,
    put,
    small_document,
    small_graph,
    vector,
)

HERE = Filters("default")
FILLER = (
    "Somebody had chalked a number on the church door",
    "The postman lost his hat in the ditch again",
    "Smoke rose from the tannery and hung over the yards",
    "The old lady counted her hens every evening",
    "The bell was silent all through Lent",
    "Two men argued about the price of salt",
    "The ferry came late and left empty",
    "A cart stood by the wall with one wheel gone",
)
NAMES = "Drummond Pettigrew Oglethorpe Quillfeather Hambleton Threlkeld Wigglesworth Babcock"
FRENCH = "horloge auberge église écurie enclume armoire échelle ombrelle"
PRINTED = {
    "as it is typed": [(name, f"It was {name}") for name in NAMES.split()],
    "in the English possessive": [(name, f"It was {name}’s oar") for name in NAMES.split()],
    "elided in French": [
        (word, f"Il vit l’{word} du village")
        for word in [
            "horloge",
            "auberge",
            "église",
            "écurie",
            "enclume",
            "armoire",
            "échelle",
            "ombrelle",
        ]
    ],
    "elided in Italian": [
        (word, f"Parlava dell’{word} con loro")
        for word in [
            "isola",
            "acqua",
            "aquila",
            "osteria",
            "erede",
            "uliveto",
            "inverno",
            "ambasciata",
        ]
    ],
    "in Greek": [
        ("Μαρια", "Η Μαρία ήρθε"),
        ("γιωργος", "Ο Γιώργος έφυγε"),
        ("ΕΛΕΝΗ", "Η Ελένη γέλασε"),
        ("αχιλλευς", "Ὁ Ἀχιλλεύς ἦλθε"),
        ("νικος", "τον Νίκος είδα"),
        ("θαλασσα", "στη θάλασσα"),
        ("ΚΑΡΑΒΙ", "το καράβι"),
        ("παραθυρο", "ένα παράθυρο"),
    ],
    "in pointed Hebrew": [
        ("אברהם", "אַבְרָהָם הָלַךְ"),
        ("שרה", "שָׂרָה צָחֲקָה"),
        ("יצחק", "יִצְחָק בָּא"),
        ("רבקה", "רִבְקָה שָׁאֲבָה"),
        ("משה", "מֹשֶׁה עָמַד"),
        ("ירושלים", "יְרוּשָׁלַיִם"),
        ("בראשית", "בְּרֵאשִׁית"),
        ("חכמה", "חׇכְמָה"),
    ],
    "in pointed Arabic": [
        ("محمد", "جَاءَ مُحَمَّدٌ"),
        ("يوسف", "قَالَ يُوسُفُ"),
        ("كتاب", "هٰذَا كِتَابٌ"),
        ("مدينة", "مَدِينَةٌ كَبِيرَةٌ"),
        ("قمر", "قَمَرٌ"),
        ("حصان", "حِصَـــانٌ"),
        ("أحمد", "اَحْمَدُ"),
        ("سفينة", "سَفِينَةٌ"),
    ],
    "in Thai": [
        ("มาลี", "มาลีซ่อนกุญแจไว้ใต้หิน"),
        ("สมชาย", "เมื่อวานสมชายไปตลาด"),
        ("นาฬิกา", "เสียงนาฬิกาดังขึ้น"),
        ("ช้าง", "เขาเห็นช้างตัวใหญ่"),
        ("ทะเล", "บ้านอยู่ริมทะเลสวย"),
        ("จดหมาย", "หล่อนเขียนจดหมายถึงแม่"),
        ("โคมไฟ", "เธอถือโคมไฟเดินมา"),
        ("สะพาน", "ข้ามสะพานไม้เก่า"),
    ],
    "in Khmer, Lao, Burmese, Chinese and Japanese": [
        ("ផ្ទះ", "ខ្ញុំឃើញផ្ទះធំ"),
        ("ទន្លេ", "ទៅទន្លេជាមួយគាត់"),
        ("ໂຮງຮຽນ", "ຂ້ອຍໄປໂຮງຮຽນແຕ່ເຊົ້າ"),
        ("ကျောင်း", "ကျွန်တော်ကျောင်းသို့သွား"),
        ("黛玉", "那天黛玉正在窗下"),
        ("茶", "他们喝茶去了"),
        ("粉屋", "老いた粉屋が来た"),
        ("ガラス", "ｶﾞﾗｽの靴"),
    ],
    "with ligatures and the long s": [
        ("officer", "The oﬃcer slept"),
        ("flautist", "A ﬂautist played"),
        ("sexton", "The ſexton dug"),
        ("psalm", "She ſang a pſalm"),
        ("coeur", "Mon cœur bat"),
        ("Aegir", "the god Ægir rose"),
        ("firkin", "a ﬁrkin of ale"),
        ("Natasha", "then Natásha laughed"),
    ],
}


def book(texts: Sequence[str], source: str = "a.txt", collection: str = "default") -> list[Part]:
    """A document of these chunks."""
    document = small_document(source, f"words of {source}", collection)
    chunks = [
        Chunk(chunk_id(document.id, text, at), at, "I", at, at + 1, text, 30, vector(at))
        for at, text in enumerate(texts)
    ]
    return parts_of(document, chunks, (), ())


def page(draw: random.Random, more: str = "") -> str:
    sentences = [draw.choice(FILLER) for _ in range(9)] + [more] * bool(more)
    draw.shuffle(sentences)
    return ". ".join(sentences) + "."


def hybrid(store: Store, question: str, filters: Filters = HERE, limit: int = 100) -> list[Hit]:
    """What the mode `hybrid` makes of both rankings."""
    near, alike = store.search_hybrid(vector(9999), question, limit, filters, MODEL)
    return fuse_by_scores([(alike, WORD_WEIGHT), (near, 1 - WORD_WEIGHT)], limit)


def by_words(
    store: Store, question: str, filters: Filters = HERE, limit: int = 100
) -> list[tuple[str, float]]:
    hits = store.search_hybrid(vector(9999), question, limit, filters, MODEL)[1]
    return [(hit.id, hit.score) for hit in hits]


@pytest.mark.journey
@pytest.mark.parametrize("kind", PRINTED)
def test_a_bare_word_is_found_first_however_it_is_printed(ready: Store, kind: str) -> None:
    """In 160 chunks, 8 of 8, as words that are printed as they are typed."""
    draw = random.Random(kind)
    sought = dict(zip(draw.sample(range(160), 8), PRINTED[kind], strict=True))
    texts = [page(draw, sought[at][1] if at in sought else "") for at in range(160)]
    put(ready, book(texts))
    for at, (word, _) in sought.items():
        assert hybrid(ready, word)[0].text == texts[at], word
        [(first, _), *_] = by_words(ready, word)
        assert first == chunk_id(document_id(book(texts)), texts[at], at)


def test_the_full_text_index_finds_folded_words_by_itself(ready: Store) -> None:
    put(ready, book([page(random.Random(1)), "It was Drummond’s oar."]))
    for query in ("Drummond", "drummond"):
        [row] = cypher(
            ready,
            "CALL db.index.fulltext.queryNodes('passage_texts', $query) YIELD node "
            "RETURN node.text AS text",
            query=query,
        )
        assert row["text"].startswith("It was Drummond")


HOSTILE = (
    "tenant:x OR word",
    "* word ?",
    "word~2 +word -word",
    "word^9 [a TO z] {b TO c} /w.*/",
    'word "detail 0" (',
    "word && detail || !plot \\",
    "NOT word",
    "search_terms:word_c",
    "\x00 word \ud83d\ude00",
    " ".join(f"other{number}" for number in range(120)) + " word",
)
WORDLESS = (
    "AND",
    "OR",
    "",
    "_",
    "\N{HEBREW POINT PATAH}",
    "*",
    '"',
    "\\",
    "ก" * 2000,
    "((((",
)


def test_no_character_of_a_question_is_read_as_a_query(ready: Store) -> None:
    parts = small_graph()
    put(ready, [*parts, names_of(parts)])
    for question in HOSTILE:
        assert by_words(ready, question), question
    for question in WORDLESS:
        assert by_words(ready, question) == [], question
        assert ready.search_elements(question, "name", 5, HERE) == {}
    for question in (*HOSTILE, *WORDLESS):
        assert all(term.isalnum() for term in question_terms(question))


def test_a_query_has_no_more_clauses_than_lucene_takes(ready: Store) -> None:
    words = [f"word{number}" for number in range(150)]
    put(ready, book([" ".join(words[at : at + 30]) for at in range(0, 150, 10)]))
    query = search_query("default", WordStatistics(dict.fromkeys(words, 3), 15, 30.0))
    assert query.count("search_terms:") < 1024
    assert by_words(ready, " ".join(words))


# Tenants

OTHER = "strangers"
QUESTION = "Why did the postman argue with Drummond about the price of the lamp?"


@pytest.fixture
def mine(ready: Store) -> Store:
    """A collection of one book, with names."""
    draw = random.Random(3)
    texts = [page(draw, f"Drummond had a lamp {at}" if at % 7 == 0 else "") for at in range(160)]
    parts = book(texts)
    put(ready, [*parts, names_of(parts, 20)])
    ready.prepare(OTHER, MODEL, DIMENSIONS)
    return ready


def strange_books(count: int, chunks: int) -> list[list[Part]]:
    """Books of another collection, in the words of the first, some of them much longer."""
    draw = random.Random(4)
    made = []
    for number in range(count):
        texts = [
            page(draw, "Drummond, Drummond! The lamp of the postman. " * (at % 5))
            for at in range(chunks)
        ]
        parts = book(texts, f"{number}.txt", OTHER)
        made.append([*parts, names_of(parts, 40)])
    return made


def test_ranks_and_scores_of_a_collection_do_not_depend_on_others(mine: Store) -> None:
    def seen() -> tuple[list[Hit], list[Hit], object, dict[str, float], object]:
        near, alike = mine.search_hybrid(vector(9999), QUESTION, 100, HERE, MODEL)
        elements = mine.search_elements("who has name 7", "name", 9, HERE)
        filtered = by_words(mine, QUESTION, replace(HERE, kinds=("chunk",)), 10)
        return near, alike, hybrid(mine, QUESTION), elements, filtered

    before = seen()
    assert len(before[1]) == 100 and before[3]
    strangers = strange_books(10, 60)
    space = mine.space(OTHER)
    assert space is not None
    with mine.session() as session:
        stage(session, "a run", strangers[0], space, lambda count: None)
    assert seen() == before, "while a stranger's book is staged"
    for parts in strangers:
        put(mine, parts)
    assert seen() == before, "beside strangers' books"
    for parts in strangers[:5]:
        mine.remove(OTHER, document_id(parts))
    assert seen() == before, "after some were removed"
    mine._derived = DerivedValues()
    assert seen() == before, "and in another process"


def test_what_a_search_reads_does_not_grow_with_other_collections(mine: Store) -> None:
    def read() -> list[int]:
        terms = question_terms(QUESTION)
        words = search_query(
            "default", count_words(mine, mine._derived, schema.TEXTS, "default", terms)
        )
        statement = for_embeddings(read_statement("core/find_near_or_alike"), DIMENSIONS, 1)
        parameters = {
            "collection": "default",
            "model": MODEL,
            "slot": 1,
            "limit": 100,
            "depth": 200,
            "pool": 200,
            "reach": 200,
            "words": words,
            "locks": lock_prefix("default"),
            "vector": encode_vector(vector(9999)),
        }
        count_statement = read_statement("core/count_words")
        queries = [count_query("default", term) for term in terms]
        counting: dict[str, Any] = {
            "locks": lock_prefix("default"),
            "index_name": schema.TEXTS,
            "revision": "",
        }
        counting |= {"missing": [], "queries": queries, "all": count_query("default")}
        return [_work(mine, statement, parameters), _work(mine, count_statement, counting)]

    before = read()
    for parts in strange_books(10, 60):
        put(mine, parts)
    assert read() == before


def _work(store: Store, statement: str, parameters: Mapping[str, Any]) -> int:
    """How many rows the operators of a statement gave, and what they read."""
    with store.session() as session:
        profile = session.run(f"PROFILE {statement}", dict(parameters)).consume().profile
    steps: list[Any] = [profile]
    work = 0
    while steps:
        step = steps.pop()
        steps += step.get("children", [])
        work += step["args"].get("Rows", 0) + step["args"].get("DbHits", 0)
    return work


# The statistics are the collection's own, and today's


def test_a_rare_word_counts_more_than_a_common_one(ready: Store) -> None:
    texts = ["lamp lamp door"] + ["lamp wall"] * 6 + ["harbour wall", "door wall"]
    put(ready, book([f"{text} {number}" for number, text in enumerate(texts)]))
    [(first, best), (_, second), *_] = by_words(ready, "a lamp in the harbour")
    assert (
        first
        == nodes(book([f"{text} {number}" for number, text in enumerate(texts)]), "Chunk")[7].id
    )
    assert best > second


def test_a_word_that_comes_or_goes_counts_from_then_on(ready: Store) -> None:
    put(ready, small_graph("a.txt"))
    assert by_words(ready, "lighthouse") == []
    put(ready, small_graph("b.txt", words="lighthouse"))
    [*_, (_, score)] = by_words(ready, "lighthouse")
    put(ready, small_graph("c.txt", words="lighthouse"))
    assert by_words(ready, "lighthouse")[-1][1] < score
    for name in ("b.txt", "c.txt"):
        ready.remove("default", document_id(small_graph(name)))
    assert by_words(ready, "lighthouse") == []


def test_what_another_process_writes_counts_at_once(ready: Store, address: Address) -> None:
    put(ready, small_graph("a.txt"))
    with connect(address) as other:
        for source in ("b.txt", "c.txt", "d.txt"):
            before = by_words(ready, "lighthouse")
            put(other, small_graph(source, words="lighthouse"))
            after = by_words(ready, "lighthouse")
            assert after == by_words(other, "lighthouse") != before
            assert after == by_words_anew(ready, "lighthouse")
        for source in ("b.txt", "c.txt", "d.txt"):
            other.remove("default", document_id(small_graph(source)))
            assert by_words(ready, "lighthouse") == by_words_anew(ready, "lighthouse")


def by_words_anew(store: Store, question: str) -> list[tuple[str, float]]:
    """What a search returns that has counted no word before."""
    store._derived = DerivedValues()
    return by_words(store, question)


def test_equal_scores_are_ordered_by_id_wherever_the_index_ends(ready: Store) -> None:
    put(ready, book([f"lamp {number:03}" for number in range(90)]))
    found = by_words(ready, "lamp", limit=5)
    every = by_words(ready, "lamp", limit=90)
    assert len({score for _, score in every}) == 1
    assert found == every[:5] == sorted(every)[:5]


def test_what_search_needs_is_in_no_export_and_no_part(ready: Store) -> None:
    parts = small_graph()
    put(ready, [*parts, names_of(parts)])
    [row] = cypher(
        ready,
        "MATCH (n:Passage|Element) RETURN count(n) AS nodes, count(n.search_text) AS texts, "
        "count(n.search_terms) AS terms, count(n.search_length) AS lengths, "
        "count(n.tenant) AS tenants",
    )
    assert len(set(row.values())) == 1
    stored = {"search_text", "search_terms", "search_length", "tenant"}
    place = {"collection": "default", "document": document_id(parts)}
    rows = ready.rows("core/find_nodes", after="", limit=1000, embedding="", **place)
    assert all(row["properties"].get(name) is None for row in rows for name in stored)
    assert not stored & {row["name"] for row in ready.rows("core/find_properties", **place)}
