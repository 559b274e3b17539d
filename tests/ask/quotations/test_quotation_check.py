"""Quotations of answers against books in the graph: true ones, false ones, and strict answers."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from database import connect, wipe
from fabula.ask.query import Quotations
from fabula.ask.quotations.check import QuotationCheck
from fabula.ask.quotations.checked import CheckedQuotation
from fabula.graph.hits import Filters, Passage, Quote
from fabula.load import read_text
from fabula.models import Reply
from fabula.server import Address
from fabula.store import Store
from fabula_bench.speed.books import STORY
from fabula_bench.speed.quotations import COLLECTION, Shelf, is_false, is_true, put_shelf
from fabula_bench.speed.quoted_replies import (
    OTHER_SCRIPTS,
    false_replies,
    misplaced_replies,
    true_replies,
)

pytestmark = pytest.mark.long

TRUE_REPLIES, FALSE_REPLIES = 200, 100
"""`python -m fabula_bench.speed quotations` makes 10,000 and 1,000."""
FOG = (
    "The fog came down upon the harbour. “I never saw the light,” the keeper said. He wrote every "
    "ship into a black ledger, and every storm as well. Nobody climbed the stairs that night.\n\n"
    "The schooner Aurora turned away from the rocks. The captain did not thank him."
)


def verify(
    store: Store, context: Sequence[Passage], setting: Quotations = "mark", document: str = ""
) -> QuotationCheck:
    return QuotationCheck(setting, store, Filters(COLLECTION, document), context, {})


@pytest.fixture(scope="module")
def shelf(address: Address) -> Iterator[Shelf]:
    texts = [(STORY.read_text("utf-8"), "carol.txt", "en"), (FOG, "fog.txt", "en")]
    texts += [(text, f"{language}.txt", language) for language, text in OTHER_SCRIPTS.items()]
    with connect(address) as store:
        wipe(store)
        documents = [
            replace(read_text(text, source=source, collection=COLLECTION), language=language)
            for text, source, language in texts
        ]
        yield put_shelf(store, COLLECTION, documents)


def check(shelf: Shelf, text: str, document: str = "") -> list[CheckedQuotation]:
    return [*verify(shelf.store, (), "mark", document).finish(text, ()).quotations]


def strict(shelf: Shelf, text: str, size: int = 5) -> tuple[str, list[CheckedQuotation]]:
    """Return an answer as strict shows it, and its quotations."""
    check = verify(shelf.store, (), "strict")
    pieces = (Reply(text[at : at + size]) for at in range(0, len(text), size))
    shown = "".join(piece.text for piece in check.hold_back(pieces) if isinstance(piece, Reply))
    return shown, [*check.finish(shown, ()).quotations]


def test_no_true_quotation_is_refused_however_it_is_printed(shelf: Shelf) -> None:
    replies = true_replies(shelf.books, TRUE_REPLIES, seed=1)
    refused = [
        (reply.kind, reply.text, [each.status for each in quotations])
        for reply, quotations in shelf.verify_all(replies)
        if not is_true(quotations)
    ]
    assert refused == []


@pytest.mark.journey
def test_no_false_quotation_is_unmarked(shelf: Shelf) -> None:
    replies = false_replies(shelf.books, FALSE_REPLIES, seed=2)
    unmarked = [
        (reply.kind, reply.text, [(each.status, each.printed) for each in quotations])
        for reply, quotations in shelf.verify_all(replies)
        if not is_false(quotations)
    ]
    assert unmarked == []


def test_a_quotation_of_another_book_is_elsewhere(shelf: Shelf) -> None:
    replies = misplaced_replies(shelf.books, 30, seed=4)
    statuses = [quotations[0].status for _, quotations in shelf.verify_all(replies)]
    assert statuses == ["elsewhere"] * 30


def test_no_false_quotation_keeps_its_marks_in_a_strict_answer(shelf: Shelf) -> None:
    replies = [*false_replies(shelf.books, 20, seed=3)]
    text = "\n\n".join(reply.text for reply in replies)
    shown, quotations = strict(shelf, text)
    unmarked = [each.text for each in quotations if each.change == "unmarked"]
    assert len(unmarked) >= len(replies)
    assert [each for each in check(shelf, shown) if each.status == "not found"] == []


def test_in_one_document_the_words_of_another_are_not_found(shelf: Shelf) -> None:
    text = "It says: “He wrote every ship into a black ledger.”"
    [anywhere] = check(shelf, text)
    assert (anywhere.status, anywhere.title) == ("exact", shelf.books[1].title)
    [in_carol] = check(shelf, text, shelf.chunks[0][0].document)
    assert (in_carol.status, in_carol.printed) == ("not found", "")


def test_another_place_of_the_book_is_elsewhere_and_says_where(shelf: Shelf) -> None:
    place = shelf.books[0].text.index("Are there no prisons")
    context = [shelf.passage(1, 0, len(shelf.books[0].text) // 2)]
    text = "Scrooge asks, “Are there no prisons?” [1]"
    [found] = verify(shelf.store, context).finish(text, context).quotations
    assert found.status == "elsewhere"
    assert found.cited == (1,)
    assert found.spans[0][0] == place
    assert "STAVE" in found.place


def test_what_only_the_question_or_a_summary_says_is_not_found(shelf: Shelf) -> None:
    summary = replace(shelf.chunks[1][0], kind="summary", id="s", text="A keeper guards all light.")
    context = [Passage(1, summary, summary.text, ((0, len(summary.text)),))]
    text = "It is told that “A keeper guards all light” [1]."
    [found] = verify(shelf.store, context).finish(text, context).quotations
    assert found.status == "not found"


def test_a_place_in_what_a_cited_summary_rests_on_is_where_it_is_cited(shelf: Shelf) -> None:
    summary = replace(shelf.chunks[1][0], kind="summary", id="s", text="A keeper guards all light.")
    context = [Passage(1, summary, summary.text, ((0, len(summary.text)),))]
    text = "He “wrote every ship into a black ledger” [1]."
    [found] = verify(shelf.store, context).finish(text, context).quotations
    assert found.status == "exact"


def test_the_title_of_a_book_is_no_quotation(shelf: Shelf) -> None:
    title = shelf.books[0].title
    assert len(title.split()) == 3
    assert check(shelf, f"In “{title}” nobody is lost.") == []


def test_strict_repairs_what_is_near_and_takes_the_marks_off_what_is_not_there(
    shelf: Shelf,
) -> None:
    text = (
        "He says “i never saw the light”, and that “nobody ever saw the light”.\n\n"
        "> He wrote every ship\n> into a Black ledger\n\n"
        "> He wrote no ship\n> into a black ledger\n\nSo “the fog came down”."
    )
    shown, quotations = strict(shelf, text)
    assert shown == (
        "He says “I never saw the light”, and that nobody ever saw the light.\n\n"
        "> He wrote every ship into a black ledger\n\n"
        "He wrote no ship\ninto a black ledger\n\nSo “The fog came down”."
    )
    assert [(each.status, each.change) for each in quotations] == [
        ("near", "repaired"),
        ("not found", "unmarked"),
        ("near", "repaired"),
        ("not found", "unmarked"),
        ("near", "repaired"),
    ]
    assert shown[quotations[0].start : quotations[0].end] == "“I never saw the light”"
    assert (quotations[0].text, quotations[0].original) == (
        "I never saw the light",
        "i never saw the light",
    )
    assert shown[quotations[1].start : quotations[1].end] == "nobody ever saw the light"


@pytest.mark.parametrize("size", [1, 3, 1000])
def test_a_strict_stream_never_shows_a_quotation_before_it_is_verified(
    shelf: Shelf, size: int
) -> None:
    text = (
        "He wrote. “Every ship came home,” they say.\n\nAnd ‘every sin as well’ and 'the ship "
        "came home' it was."
    )
    check = verify(shelf.store, (), "strict")
    shown = ""
    for piece in check.hold_back(Reply(text[at : at + size]) for at in range(0, len(text), size)):
        assert isinstance(piece, Reply)
        shown += piece.text
        assert {"“", "‘", "'"}.isdisjoint(shown)
    assert shown == (
        "He wrote. Every ship came home, they say.\n\n"
        "And every sin as well and the ship came home it was."
    )


def test_an_offline_answer_consists_of_exact_quotations(shelf: Shelf) -> None:
    hit = shelf.chunks[1][0]
    text = f"{hit.text.strip()} [1]"
    [found] = verify(shelf.store, ()).finish(text, (), [Quote(1, hit, ())]).quotations
    assert (found.status, found.printed, found.cited) == ("exact", hit.text.strip(), (1,))
    assert text[found.start : found.end] == hit.text.strip()


def test_off_compares_nothing(shelf: Shelf) -> None:
    text = "He says “nobody ever saw the light” [1]."
    assert verify(shelf.store, (), "off").finish(text, ()).quotations == ()


def test_ten_quotations_take_little_time(shelf: Shelf) -> None:
    replies = [*true_replies(shelf.books[:1], 10, seed=5)]
    assert all(is_true(quotations) for _, quotations in shelf.verify_all(replies))
    began = time.process_time()
    list(shelf.verify_all(replies))
    assert time.process_time() - began < 2
