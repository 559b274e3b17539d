"""Ids are short, stable, and no two things share one."""

from fabula.graphs.aspects.ids import detail_id, summary_id
from fabula.graphs.entities.ids import entity_id, relation_id
from fabula.text.ids import chunk_id, document_id


def test_ids_are_short_hex_and_the_same_every_time() -> None:
    ids = [
        document_id("default", "/books/emma.txt"),
        chunk_id("d", "text", 0),
        summary_id("d", "plot", 1, ["a", "b"]),
        detail_id("c", 0),
        entity_id("d", "holmes"),
        relation_id("d", "a", "b"),
    ]
    assert [len(identifier) for identifier in ids] == [16, 20, 20, 20, 20, 20]
    assert all(int(identifier, 16) >= 0 for identifier in ids)
    # Written down, so that a change that would orphan every stored graph is seen.
    assert ids[0] == "0bc9e33b01c9cea2"


def test_a_document_keeps_its_id_in_its_collection_only() -> None:
    assert document_id("default", "/a.txt") != document_id("other", "/a.txt")


def test_equal_texts_of_a_document_have_ids_of_their_own() -> None:
    assert len({chunk_id("d", "Bah!", count) for count in range(3)}) == 3


def test_the_order_of_a_summarys_members_does_not_matter() -> None:
    assert summary_id("d", "plot", 1, ["b", "a"]) == summary_id("d", "plot", 1, ["a", "b"])
    assert summary_id("d", "plot", 1, ["a"]) != summary_id("d", "plot", 2, ["a"])


def test_a_relation_has_no_direction() -> None:
    assert relation_id("d", "b", "a") == relation_id("d", "a", "b")
    assert relation_id("d", "a", "b") != relation_id("d", "a", "c")


def test_parts_do_not_run_into_each_other() -> None:
    assert document_id("ab", "c") != document_id("a", "bc")


def test_a_path_that_is_no_unicode_has_an_id() -> None:
    assert len(document_id("default", "/b\udcff.txt")) == 16
