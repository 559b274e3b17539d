"""The plan of episodes: windows tile the text, follow its sections, and stay where they were."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import example, given, settings
from hypothesis import strategies as st

from cases import for_each
from fabula.graphs.episodes.values import Stretch
from fabula.graphs.episodes.windows import plan_episodes, stable_window_size, walk, window_size
from fabula.text.document import Chunk


def chunks_of(*sections: tuple[str, int], tokens: int = 100) -> tuple[Chunk, ...]:
    """So many chunks of ten characters of each section."""
    names = [name for name, count in sections for _ in range(count)]
    return tuple(
        Chunk(f"c{row}", row, name, 10 * row, 10 * row + 10, "x" * 10, tokens)
        for row, name in enumerate(names)
    )


def plan(chunks: Sequence[Chunk], size: int = 8, tokens: int = 9999, members: int = 6) -> Stretch:
    [top] = plan_episodes(chunks, size, tokens, members)
    return top


def indexes(stretch: Stretch) -> list[int]:
    return [chunk.index for chunk in stretch.chunks]


def cut(top: Stretch, level: int) -> list[Stretch]:
    """The stretches of a level, and the lower ones that no stretch of it comprises."""
    if top.level <= level:
        return [top]
    return [stretch for part in top.parts for stretch in cut(part, level)]


NOVEL = (
    ("", 1),
    ("PREFACE", 2),
    ("BOOK ONE", 1),
    ("BOOK ONE · CHAPTER I", 20),
    ("BOOK ONE · CHAPTER II", 3),
    ("BOOK ONE · CHAPTER III", 9),
    ("BOOK TWO", 1),
    ("BOOK TWO · CHAPTER I", 14),
    ("BOOK TWO · CHAPTER II – BOOK TWO · CHAPTER III", 1),
    ("BOOK TWO · CHAPTER III", 2),
    ("BOOK TWO · CHAPTER IV", 1),
)


@for_each(
    ("chunks", "size"),
    [
        *((1, 2), (5, 2), (6, 3), (20, 3), (21, 5), (50, 5), (51, 8), (100, 8), (101, 10)),
        *((200, 10), (201, 15), (1000, 19), (1024, 20), (100_000, 20)),
    ],
)
def test_windows_are_as_long_as_in_the_timeline_of_comorag(chunks: int, size: int) -> None:
    assert window_size(chunks) == size


SECTIONS = st.lists(
    st.tuples(st.sampled_from(("", "I", "II", "I · A", "I · B", "II · A")), st.integers(1, 40)),
    min_size=1,
    max_size=12,
).map(tuple)


@given(size=st.integers(2, 15), members=st.integers(3, 100), sections=SECTIONS)
@example(size=3, members=3, sections=NOVEL)
@example(size=8, members=6, sections=NOVEL)
@example(size=8, members=6, sections=(("I", 1),))
@example(size=5, members=3, sections=tuple((f"Sonnet {n}", 1) for n in range(154)))
@settings(max_examples=40)
def test_each_level_covers_all_chunks_once_and_in_order(
    size: int, members: int, sections: tuple[tuple[str, int], ...]
) -> None:
    chunks = chunks_of(*sections)
    top = plan(chunks, size, members=members)
    for level in range(1, top.level + 1):
        covered = [index for stretch in cut(top, level) for index in indexes(stretch)]
        assert covered == list(range(len(chunks))), level
    for stretch in walk([top]):
        first, last = indexes(stretch)[0], indexes(stretch)[-1]
        assert indexes(stretch) == list(range(first, last + 1))
        if stretch.parts:
            assert 2 <= len(stretch.parts) <= members
            assert stretch.level == 1 + max(part.level for part in stretch.parts)


def test_no_window_crosses_a_chapter_unless_the_chapters_are_tiny() -> None:
    top = plan(chunks_of(*NOVEL))
    windows = [stretch for stretch in walk([top]) if stretch.level == 1]
    named = [
        ((of[0].section, of[-1].section), len(of)) for of in (window.chunks for window in windows)
    ]
    assert named == [
        (("", "PREFACE"), 3),
        (("BOOK ONE", "BOOK ONE · CHAPTER I"), 7),
        (("BOOK ONE · CHAPTER I",) * 2, 7),
        (("BOOK ONE · CHAPTER I",) * 2, 7),
        (("BOOK ONE · CHAPTER II",) * 2, 3),
        (("BOOK ONE · CHAPTER III",) * 2, 9),
        (("BOOK TWO", "BOOK TWO · CHAPTER I"), 7),
        (("BOOK TWO · CHAPTER I",) * 2, 8),
        (("BOOK TWO · CHAPTER II – BOOK TWO · CHAPTER III", "BOOK TWO · CHAPTER IV"), 4),
    ]


def test_each_chapter_and_each_book_has_a_stretch_of_its_own() -> None:
    top = plan(chunks_of(*NOVEL))
    bounds = {(indexes(stretch)[0], indexes(stretch)[-1]) for stretch in walk([top])}
    assert (3, 23) in bounds  # book one, chapter I, with the heading of the book
    assert (24, 26) in bounds
    assert (27, 35) in bounds
    assert (3, 35) in bounds  # book one
    assert (36, 54) in bounds  # book two
    assert (0, 54) in bounds


def test_long_chunks_make_shorter_windows() -> None:
    top = plan(chunks_of(("I", 8), tokens=1000), tokens=4000)
    assert [len(window.chunks) for window in cut(top, 1)] == [4, 4]


def test_an_edit_of_a_chapter_leaves_the_stretches_of_others_as_they_were() -> None:
    before = plan(chunks_of(*NOVEL))
    chunks = list(chunks_of(*NOVEL))
    # One chunk is added to chapter III of book one.
    chunks.insert(30, Chunk("new", 30, "BOOK ONE · CHAPTER III", 300, 300, "", 100))
    after = plan(chunks)

    def members(top: Stretch) -> set[tuple[str, ...]]:
        return {tuple(chunk.id for chunk in stretch.chunks) for stretch in walk([top])}

    new = members(after) - members(before)
    assert len(members(after)) == 14
    # Its one window, the book and the whole.
    assert len(new) == 3
    assert all("new" in ids for ids in new)


def test_a_text_that_hardly_changed_keeps_the_size_of_its_windows() -> None:
    assert stable_window_size(201, 200, 10) == 10
    assert stable_window_size(201, 0, 0) == 15
    assert stable_window_size(300, 200, 10) == window_size(300)


def test_a_text_without_chunks_has_no_episodes() -> None:
    assert plan_episodes((), 8, 6000, 6) == ()
