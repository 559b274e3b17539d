"""Poems and plays: lines stay lines, and a speaker's name stays with the speech."""

from __future__ import annotations

from book_files import docx, epub, fb2, odt, paragraph, rtf, tei
from cases import for_each
from fabula.load import html, read_text, sandbox
from fabula.load.blocks import Block
from fabula.load.clean import clean
from fabula.load.plays import join_speakers
from fabula.text.chunk import split
from fabula.text.document import Document
from fabula.text.sentences import sentences
from fabula.text.speakers import is_speaker

STANZA = "Shall I compare thee to a summer's day?\nThou art more lovely and more temperate:"
PROSE = """It was the best of times, it was the worst of times, it was the age of
wisdom, it was the age of foolishness, it was the epoch of belief, it was
the epoch of incredulity, it was the season of Light."""
PLAY = """BARNARDO.
Who's there?

FRANCISCO.
Nay, answer me. Stand and unfold yourself.

BARNARDO.
Last night of all,
When yond same star that's westward from the pole
Had made his course t'illume that part of heaven.

POLONIUS.
The best actors in the world, either for tragedy, comedy, history, pastoral,
pastoral-comical, historical-pastoral, scene individable, or poem unlimited. Seneca
cannot be too heavy."""
LINES = STANZA.split("\n")
FILES = {
    ".txt": f"{PROSE}\n\n{STANZA}\n\n{PROSE}".encode(),
    ".html": f"<p>A page.</p><p>{'<br>'.join(LINES)}</p>".encode(),
    ".epub": epub({"a.xhtml": f"<p>A page.</p><p>{'<br/>'.join(LINES)}</p>"}),
    ".md": ("A page.\n\n" + "  \n".join(LINES)).encode(),
    ".docx": docx(paragraph("A page.") + paragraph(STANZA)),
    ".odt": odt(f"<text:p>{'<text:line-break/>'.join(LINES)}</text:p>"),
    ".rtf": rtf("A page.\\par " + "\\line ".join(LINES)),
    ".fb2": fb2("<poem><stanza><v>" + "</v><v>".join(LINES) + "</v></stanza></poem>"),
    ".tei": tei("<lg><l>" + "</l><l>".join(LINES) + "</l></lg>"),
}


def play(text: str) -> Document:
    return read_text(text, source="play", collection="default")


@for_each("suffix", FILES)
def test_verse_keeps_its_lines_in_every_format(suffix: str) -> None:
    draft = sandbox.read(FILES[suffix], suffix, f"poem{suffix}", 10**7, 10**7)
    assert STANZA in [block.text for block in draft.blocks]


def test_a_line_of_a_page_may_be_a_division() -> None:
    lines = "".join(f'<div class="verse indent0">{line}</div>' for line in LINES)
    page = f'<div class="stanza">{lines}</div><div class="stanza">{lines}</div><p>He left.'
    assert [block.text for block in html.read(page.encode(), "a").blocks] == [
        STANZA,
        STANZA,
        "He left.",
    ]


def test_a_name_is_a_line_and_what_is_said_in_prose_is_not_broken() -> None:
    *verse, prose = clean(PLAY).split("\n\n")
    assert verse == PLAY.split("\n\n")[:3]
    assert prose.startswith("POLONIUS.\nThe best actors in the world, ")
    assert prose.count("\n") == 1
    assert clean(clean(PLAY)) == clean(PLAY)


def test_a_name_above_a_long_line_stays_with_it() -> None:
    speech = f"HAMLET.\n{'To be, or not to be, that is the question. ' * 5}".strip()
    assert clean(f"{speech}\n\n{speech}") == f"{speech}\n\n{speech}"


@for_each("limit", [20, 40, 60])
@for_each("text", [PLAY, PLAY.replace(".\n", ". ")], ids=["above", "before"])
def test_no_chunk_ends_with_the_name_of_who_speaks_next(text: str, limit: int) -> None:
    for chunk in split(play(text), limit):
        assert not is_speaker(chunk.text.strip().split("\n")[-1]), chunk.text
        assert not is_speaker(chunk.text.strip().rpartition("\n\n")[2]), chunk.text


@for_each(
    "speech",
    ["HAMLET. To be, or not.", "HAMLET:\nTo be, or not.", "FIRST LORD (aside). To be, or not."],
)
def test_a_name_is_no_sentence(speech: str) -> None:
    assert sentences(f"He left.\n{speech} He died.", "en") == ["He left.", speech, "He died."]


def test_a_name_that_stands_apart_is_put_above_its_speech() -> None:
    speeches = [("HAMLET", "To be."), ("OPHELIA", "My lord."), ("HAMLET", "No."), ("KING", "Ho!")]
    text = "\n\n".join(f"{name}\n\n{words}" for name, words in speeches * 3)
    assert play(text).text == "\n\n".join(f"{name}\n{words}" for name, words in speeches * 3)


def test_a_speaker_that_the_play_is_named_after_is_no_running_head() -> None:
    speeches = [("HAMLET", "To be."), ("OPHELIA", "My lord.")] * 4
    text = "\n\n".join(f"{name}\n\n{words}" for name, words in speeches)
    named = read_text(text, source="play", collection="default", title="Hamlet")
    assert named.text.count("HAMLET\nTo be.") == 4


def test_lines_of_capitals_in_a_novel_are_no_speakers() -> None:
    blocks = [Block("NOTICE"), Block("A word.")] * 4 + [Block("THE END")] * 3
    blocks += [Block("Another word.")] * 50
    assert list(join_speakers(blocks)) == blocks


def test_a_heading_is_no_speaker_and_a_name_before_it_stays() -> None:
    names = [Block("HAMLET"), Block("To be."), Block("OPHELIA"), Block("My lord.")] * 3
    joined = list(join_speakers([*names, Block("KING"), Block("ACT II", "ACT II"), Block("He.")]))
    assert [block.text for block in joined[-3:]] == ["KING", "ACT II", "He."]


@for_each(
    ("line", "speaks"),
    [
        ("HAMLET.", True),
        ("FIRST GRAVEDIGGER", True),
        ("ŻÓŁW:", True),
        ("LADY BRACKNELL. [Rising.]", True),
        ("Hamlet.", False),
        ("XIV.", False),
        ("I.", False),
        ("ACT 2", False),
        ("WHO GOES THERE?", False),
        ("哈姆雷特。", False),
        ("", False),
        ("A" * 50, False),
    ],
)
def test_a_speakers_line_is_short_and_in_capitals(line: str, speaks: bool) -> None:
    assert is_speaker(line) is speaks
