"""The offline writer: the text's own sentences, none twice and none made up."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from fabula.graphs.aspects.offline_writer import ExtractiveWriter
from fabula.graphs.aspects.sets import read_aspects
from fabula.graphs.aspects.values import Aspect
from fabula.models.offline import StaticEmbedder
from fabula.text.sentences import sentences
from fabula.text.stems import Stemmer, words
from fabula.text.tokens import count

NARRATIVE = read_aspects("narrative")
[SETTING] = [aspect for aspect in NARRATIVE if aspect.name == "setting"]
[THEME] = [aspect for aspect in NARRATIVE if aspect.name == "theme"]
[GENERAL] = read_aspects("general")

STORY = """
The village of Harrow lay in a narrow valley, between black hills and a frozen river. Snow
covered the roofs and the churchyard. In winter the sun reached the square for an hour at noon,
and fog rose from the water every evening.

Old Martha Quill kept the mill. She trusted nobody, spoke little, and counted her coins twice
each night. Yes. Her son Edmund had left for the city after they quarrelled, and she had burned
his letters without reading them.

In December a stranger knocked at the mill and asked for shelter. Martha refused him, but he
showed her Edmund's silver watch. She let him in. He told her that Edmund had died at sea, and
that the watch was all he had left behind.

Yes. Martha wept until morning. Then she opened the iron chest, gave the stranger half of her
savings, and asked him to stay. The village talked of nothing else for weeks.

The stranger repaired the wheel, sold flour at an honest price, and lent money to the poor. In
spring Martha found a letter in his coat. The handwriting was Edmund's: he was alive, and the
stranger had stolen the watch from him in prison.

She said nothing of the letter. Greed, she thought, had cost her one son already, and
forgiveness might keep her another. Yes. Was a lie that made her generous worse than a truth
that had made her hard?
"""
CHUNKS = [" ".join(paragraph.split()) for paragraph in STORY.split("\n\n")]


@pytest.fixture(scope="module")
def embedder() -> StaticEmbedder:
    return StaticEmbedder()


def make(
    embedder: StaticEmbedder,
    texts: Sequence[str] = CHUNKS,
    language: str = "en",
    *,
    summary_tokens: int = 60,
    details: int = 2,
    detail_tokens: int = 40,
) -> ExtractiveWriter:
    return ExtractiveWriter(
        texts,
        language,
        embedder,
        summary_tokens=summary_tokens,
        details=details,
        detail_tokens=detail_tokens,
    )


@pytest.fixture
def writer(embedder: StaticEmbedder) -> ExtractiveWriter:
    return make(embedder)


def lines(text: str) -> list[str]:
    return [" ".join(sentence.split()) for sentence in sentences(text, "en")]


@pytest.mark.parametrize("aspect", NARRATIVE, ids=lambda aspect: aspect.name)
def test_a_summary_is_whole_sentences_in_text_order_within_its_length(
    writer: ExtractiveWriter, aspect: Aspect
) -> None:
    source = [line for chunk in CHUNKS for line in lines(chunk)]
    summary = writer.summarise(CHUNKS, aspect)
    places = [source.index(line) for line in lines(summary)]
    assert places == sorted(set(places))
    assert 30 <= count(summary) <= 60


def test_a_summary_says_no_sentence_twice(embedder: StaticEmbedder) -> None:
    repeated = [CHUNKS[2], CHUNKS[2].upper(), *CHUNKS[2:4]]
    summary = make(embedder, summary_tokens=400).summarise(repeated, GENERAL)
    said_once = [line.casefold() for line in lines(summary)]
    assert len(said_once) == len(set(said_once))


def test_a_summary_leaves_out_what_says_nothing(embedder: StaticEmbedder) -> None:
    everything = make(embedder, summary_tokens=2000)
    summary = everything.summarise(CHUNKS, GENERAL)
    assert "Yes." not in lines(summary)
    assert set(lines(summary)) == {line for chunk in CHUNKS for line in lines(chunk)} - {"Yes."}


def test_a_summary_of_summaries_keeps_the_texts_order(
    writer: ExtractiveWriter, embedder: StaticEmbedder
) -> None:
    late, early = (writer.summarise(part, GENERAL) for part in (CHUNKS[3:], CHUNKS[:3]))
    source = [line for chunk in CHUNKS for line in lines(chunk)]
    # As in a later session: this writer never wrote those summaries.
    for other in (writer, make(embedder)):
        places = [source.index(line) for line in lines(other.summarise([late, early], GENERAL))]
        assert places == sorted(set(places))


def test_a_summary_leans_to_its_aspect(embedder: StaticEmbedder) -> None:
    writer = make(embedder, summary_tokens=50)
    place, idea = lines(CHUNKS[0]), lines(CHUNKS[5])
    of_place, of_ideas = (
        lines(writer.summarise([CHUNKS[0], CHUNKS[5]], aspect)) for aspect in (SETTING, THEME)
    )
    assert len(set(of_place) & set(place)) > len(set(of_ideas) & set(place))
    assert len(set(of_ideas) & set(idea)) > len(set(of_place) & set(idea))


def test_a_sentence_longer_than_a_summary_is_cut(embedder: StaticEmbedder) -> None:
    endless = "and the snow fell on the hills " * 200
    writer = make(embedder, [endless], summary_tokens=30)
    summary = writer.summarise([endless], GENERAL)
    assert 20 <= count(summary) <= 30
    assert endless.startswith(summary)


@pytest.mark.parametrize("text", ["* * *", "…", "12", "Ω", "我爱你。他走了。", "🤷🤷"])
def test_a_text_without_words_still_has_a_summary_and_no_details(
    embedder: StaticEmbedder, text: str
) -> None:
    writer = make(embedder, [text], "", summary_tokens=30)
    assert writer.summarise([text], GENERAL)
    assert writer.condense([text]) == [()]
    assert writer.detect(text, [GENERAL]) == {"general": ""}


def test_summaries_are_the_same_every_time_and_from_any_thread(embedder: StaticEmbedder) -> None:
    jobs = [(CHUNKS[start : start + 4], aspect) for start in range(3) for aspect in NARRATIVE]
    writer = make(embedder)
    alone = [writer.summarise(*job) for job in jobs]
    shared = make(embedder)
    together: dict[int, str] = {}

    def run(first: int) -> None:
        for at in range(first, len(jobs), 4):
            together[at] = shared.summarise(*jobs[at])

    threads = [threading.Thread(target=run, args=(first,)) for first in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [together[at] for at in range(len(jobs))] == alone


# Aspects


def test_a_clusters_clearest_aspects_are_one_to_three(writer: ExtractiveWriter) -> None:
    for chunk in CHUNKS:
        found = writer.detect(chunk, NARRATIVE)
        assert 1 <= len(found) <= 3
        assert found.keys() <= {aspect.name for aspect in NARRATIVE}


def test_a_place_is_setting_and_reflection_is_theme(writer: ExtractiveWriter) -> None:
    assert "setting" in writer.detect(CHUNKS[0], NARRATIVE)
    assert "theme" in writer.detect(CHUNKS[5], NARRATIVE)


def test_no_aspects_or_no_text_give_none(writer: ExtractiveWriter) -> None:
    assert writer.detect(CHUNKS[0], []) == {}
    assert writer.detect(" ", NARRATIVE) == {}


# Details


@pytest.mark.parametrize("chunk", CHUNKS)
def test_details_are_fragments_of_the_chunk_but_none_of_its_sentences(
    writer: ExtractiveWriter, chunk: str
) -> None:
    [details] = writer.condense([chunk])
    assert len(details) == 2
    for detail in details:
        assert count(detail) <= 40
        assert set(words(detail)) <= set(words(chunk))
        assert words(detail) not in [words(line) for line in lines(chunk)]


@pytest.mark.parametrize("chunk", CHUNKS)
def test_details_of_a_chunk_share_few_words(writer: ExtractiveWriter, chunk: str) -> None:
    one, other = (set(Stemmer("en").stems(detail)) for detail in writer.condense([chunk])[0])
    assert len(one & other) <= 0.5 * len(one | other)


def test_short_details_are_cut_to_their_length(embedder: StaticEmbedder) -> None:
    writer = make(embedder, detail_tokens=8)
    details = [detail for one in writer.condense(CHUNKS) for detail in one]
    assert details
    assert all(0 < count(detail) <= 8 for detail in details)


def test_one_sentence_gives_at_most_one_detail(writer: ExtractiveWriter) -> None:
    [[detail]] = writer.condense(
        ["The stranger repaired the wheel, sold flour at an honest price, and lent money freely."]
    )
    assert "stranger repaired the wheel" in detail


@pytest.mark.parametrize("text", ["", " ", "Marley was dead.", "Yes. No. Perhaps.", "***"])
def test_a_few_words_give_no_detail(writer: ExtractiveWriter, text: str) -> None:
    assert writer.condense([text]) == [()]


def test_a_chunk_that_repeats_itself_gives_one_detail(writer: ExtractiveWriter) -> None:
    again = "The wheel of the mill turned, and the river froze. " * 4
    assert len(writer.condense([again])[0]) == 1


def test_no_details_are_made_where_none_are_wanted(embedder: StaticEmbedder) -> None:
    writer = make(embedder, details=0)
    assert writer.condense(CHUNKS[:1]) == [()]
