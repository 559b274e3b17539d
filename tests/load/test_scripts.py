"""Screenplays, subtitles and transcripts: who speaks, where and when, and what is left out."""

from __future__ import annotations

from pathlib import Path

import pytest

from cases import for_each
from fabula.load import load, recognise_content
from fabula.text.document import Document
from fabula.text.locator import labels_of, name_labels, parse_labels

FOUNTAIN = """Title:
    _**THE GLASS KEY**_
Author: Ann Example

/* INT. CUT - DAY

MEG
Nobody must know. */

# Act One

= Meg finds the key.

EXT. QUAY - NIGHT #1A#

Rain. [[check the tide]]

MEG (O.S.)
(low)
Who *kept* it?

@McALPIN
I did.

.THE TOWER

MEG ^
You did.

> THE END <
"""
FDX = """<?xml version="1.0"?><FinalDraft DocumentType="Script"><Content>
<Paragraph Number="1" Type="Scene Heading"><SceneProperties><Summary><Paragraph><Text>Cut.</Text>
</Paragraph></Summary></SceneProperties><Text>EXT. QUAY - </Text><Text>NIGHT</Text></Paragraph>
<Paragraph Type="Action"><Text>Rain.</Text><ScriptNote><Paragraph><Text>Tide?</Text></Paragraph>
</ScriptNote></Paragraph><Paragraph Type="Character"><Text>Meg (O.S.)</Text></Paragraph>
<Paragraph Type="Parenthetical"><Text>(low)</Text></Paragraph>
<Paragraph Type="Dialogue"><Text>Who kept it?</Text></Paragraph><Paragraph><DualDialogue>
<Paragraph Type="Character"><Text>TOM</Text></Paragraph>
<Paragraph Type="Dialogue"><Text>I did.</Text></Paragraph></DualDialogue></Paragraph></Content>
<TitlePage><Content><Paragraph><Text>THE GLASS KEY</Text></Paragraph><Paragraph>
<Text>Written by</Text></Paragraph><Paragraph><Text>Ann Example</Text></Paragraph></Content>
</TitlePage></FinalDraft>"""
SRT = """1
00:00:12,000 --> 00:00:15,000
<i>Somebody kept a key
by the quay.</i>

2
00:00:17,000 --> 00:00:20,000
MEG: I counted them again

3
00:00:20,500 --> 00:00:23,000
and again.

4
01:12:31,000 --> 01:12:35,000
- Who knew?
- {\\an8}Meg knew.
"""
VTT = """WEBVTT - The Key

STYLE
::cue { color: red }

NOTE for the editor only

intro
00:12.000 --> 00:15.000 align:start
<v Meg>Somebody kept a key
by the quay &amp; sang.</v>

00:15.000 --> 00:17.000
by the quay &amp; sang.
Nobody <00:16.000><c>knew.</c>
"""
TTML = """<tt xmlns="http://www.w3.org/ns/ttml" xmlns:m="http://www.w3.org/ns/ttml#metadata"
xmlns:p="http://www.w3.org/ns/ttml#parameter" p:tickRate="10000000" xml:lang="en"><head><metadata>
<m:agent xml:id="a"><m:name>Meg</m:name></m:agent></metadata></head><body><div>
<p begin="00:00:12.000" end="00:00:15.000" m:agent="a"><span>Somebody kept</span><br/>a key.</p>
<p begin="43510000000t" dur="2s">Nobody
   knew.</p></div></body></tt>"""
INTERVIEW = """Ann Example  0:03
Tell me about the key.

Bob Reader  0:11
My mother kept it.

And nobody knew.

Ann Example  1:00:42
And the bell?

Transcribed by a program
"""
TESTIMONY = "".join(
    f"                DEPOSITION OF MEG EXAMPLE            {page}\n"
    + "".join(f"{line:2}   {text}\n" for line, text in enumerate(lines, 1))
    for page, lines in (
        (45, ["BY MR. SMITH:", *["     Q.   Who kept", "the key?", "     A.   I did."] * 4]),
        (46, ["     THE WITNESS:  Meg did.", *["     Q.   Why?", "     A.   For her."] * 4]),
    )
)


def read(text: str, name: str, folder: Path) -> Document:
    """Read a text from a file of a name."""
    file = folder / name
    file.write_text(text, encoding="utf-8")
    return load(file, "c", 1_000_000)


def speeches(document: Document) -> list[str]:
    """Return the paragraphs whose first line is marked as the name of who speaks."""
    starts = [place.start for place in document.locators if place.kind == "speaker"]
    return [document.text[start:].split("\n\n", 1)[0] for start in starts]


def places(document: Document) -> list[tuple[str, str]]:
    """Return the label of each page or time, and the first word there."""
    labels = labels_of(document.locators, "page")
    return [
        (label, document.text[start:].split()[0])
        for start, label in zip(labels.starts, labels.labels, strict=True)
    ]


@for_each("name", ["key.fountain", "key.txt"])
def test_fountain_has_scenes_and_speakers_without_what_was_cut(name: str, tmp_path: Path) -> None:
    draft = FOUNTAIN.replace(".THE TOWER", "INT. TOWER - NIGHT") if name == "key.txt" else FOUNTAIN
    document = read(draft, name, tmp_path)
    assert (document.title, document.author) == ("The Glass Key", "Ann Example")
    scene = "INT. TOWER - NIGHT" if name == "key.txt" else "THE TOWER"
    assert [(section.level, section.title) for section in document.sections] == [
        (1, "Act One"),
        (2, "EXT. QUAY - NIGHT"),
        (2, scene),
    ]
    assert speeches(document) == [
        "MEG (O.S.)\n(low)\nWho kept it?",
        "McALPIN\nI did.",
        "MEG\nYou did.",
    ]
    assert document.text.endswith("You did.\n\nTHE END")
    assert set(document.left_out) == {
        "cut passages",
        "front matter",
        "notes",
        "scene numbers",
        "synopses",
    }


def test_final_draft_is_read_by_its_elements(tmp_path: Path) -> None:
    document = read(FDX, "key.fdx", tmp_path)
    assert (document.title, document.author) == ("The Glass Key", "Ann Example")
    assert [section.title for section in document.sections] == ["EXT. QUAY - NIGHT"]
    assert speeches(document) == ["Meg (O.S.)\n(low)\nWho kept it?", "TOM\nI did."]
    assert "Tide" not in document.text and "Cut" not in document.text
    assert document.left_out["notes"] == 5 and document.left_out["synopses"] == 4


@for_each("name", ["key.srt", "key.txt"])
def test_subtitles_are_text_with_times_as_places(name: str, tmp_path: Path) -> None:
    document = read(SRT, name, tmp_path)
    assert document.text == (
        "Somebody kept a key by the quay.\n\nMEG:\nI counted them again and again.\n\n"
        "- Who knew?\n\n- Meg knew."
    )
    assert speeches(document) == ["MEG:\nI counted them again and again."]
    assert places(document) == [
        ("00:00:12", "Somebody"),
        ("00:00:17", "MEG:"),
        ("00:00:20", "and"),
        ("01:12:31", "-"),
    ]
    assert set(document.left_out) == {"times"} and not document.warnings


def test_webvtt_has_voices_and_no_styles_notes_or_repeated_lines(tmp_path: Path) -> None:
    document = read(VTT, "key.vtt", tmp_path)
    assert document.title == "The Key"
    assert document.text == "Meg:\nSomebody kept a key by the quay & sang.\n\nNobody knew."
    assert set(document.left_out) == {"front matter", "notes", "repeated lines", "styles", "times"}


def test_what_stands_before_the_first_cue_of_webvtt_is_not_shown(tmp_path: Path) -> None:
    document = read(VTT.replace("\n\n", "\n\nregion\nid:bill\n\n", 1), "key.vtt", tmp_path)
    assert document.text == "Meg:\nSomebody kept a key by the quay & sang.\n\nNobody knew."


def test_timed_text_is_read_as_players_write_it(tmp_path: Path) -> None:
    document = read(TTML, "key.ttml", tmp_path)
    assert document.text == "Meg:\nSomebody kept a key.\n\nNobody knew."
    assert places(document) == [("00:00:12", "Meg:"), ("01:12:31", "Nobody")]


def test_names_before_a_colon_are_speakers_where_they_return(tmp_path: Path) -> None:
    speeches_said = [
        "Ann Example: Well?",
        "Bob: Yes.",
        "And no.",
        "Ann Example: Go on.",
        "Bob: Done.",
    ]
    cues = "".join(
        f"00:0{n}.000 --> 00:0{n}.900\n{line}\n\n" for n, line in enumerate(speeches_said)
    )
    document = read(f"WEBVTT\n\n{cues}", "call.vtt", tmp_path)
    assert speeches(document)[:2] == ["Ann Example:\nWell?", "Bob:\nYes."]
    assert len(speeches(document)) == 4


def test_timed_text_may_have_no_divisions_and_times_on_spans(tmp_path: Path) -> None:
    text = '<p begin="12s" end="13s">One.</p>'
    body = f'<body>{text}<p><span begin="61s" end="62s">Two.</span></p></body>'
    document = read(f'<tt xmlns="http://www.w3.org/ns/ttml">{body}</tt>', "key.xml", tmp_path)
    assert places(document) == [("00:00:12", "One."), ("00:01:01", "Two.")]


def test_a_transcript_has_a_speech_for_each_turn(tmp_path: Path) -> None:
    document = read(INTERVIEW, "talk.txt", tmp_path)
    assert speeches(document) == [
        "Ann Example\nTell me about the key.",
        "Bob Reader\nMy mother kept it.\nAnd nobody knew.",
        "Ann Example\nAnd the bell?",
    ]
    assert places(document)[-1] == ("01:00:42", "Ann")
    assert set(document.left_out) == {"makers' notes", "times"}


@for_each(
    "line",
    [
        "[00:0{n}:15] Meg: Well.",
        "Meg [00:0{n}:15]: Well.",
        "Meg: (0{n}:15)\nWell.",
        "0{n}:15 Meg: Well.",
        "Meg: [00:0{n}:15] Well.",
    ],
)
def test_names_and_times_stand_in_any_order(line: str, tmp_path: Path) -> None:
    document = read("\n\n".join(line.format(n=n) for n in range(1, 5)), "talk.txt", tmp_path)
    assert speeches(document) == ["Meg\nWell."] * 4
    assert len(places(document)) == 4


@for_each(
    "line",
    ["\u200e[1{n}/10/2021, 3:34:09\u202fPM] Meg: Well.\nNo.", "1{n}.1.24, 6:30 - Meg:Well.\nNo."],
)
def test_messages_have_days_and_times(line: str, tmp_path: Path) -> None:
    document = read("\n".join(line.format(n=n) for n in range(1, 5)), "chat.txt", tmp_path)
    assert speeches(document) == ["Meg\nWell.\nNo."] * 4
    labels = labels_of(document.locators, "page")
    cited = name_labels("page", labels.labels[1])
    assert cited in ("12/10/2021 3:34:09 PM", "12.1.24 6:30")
    named = parse_labels(cited)
    assert named and labels.find(*named[1:], 999) == [labels.starts[1:3]]


def test_testimony_is_cited_by_page_and_line(tmp_path: Path) -> None:
    document = read(TESTIMONY, "meg.txt", tmp_path)
    asked, answered = "MR. SMITH\nWho kept the key?", "MEG EXAMPLE\nI did."
    assert speeches(document)[:2] == [asked, answered]
    assert "MEG EXAMPLE\nMeg did." in speeches(document)
    labels = labels_of(document.locators, "page")
    start = document.text.index("MEG EXAMPLE\nMeg did")
    assert name_labels("page", labels.range([(start, start + 5)])) == "T. 46:1"
    assert "DEPOSITION" not in document.text
    assert {"line numbers", "page numbers", "speakers' labels"} == set(document.left_out)


def test_who_asks_and_answers_is_named_as_the_pages_say(tmp_path: Path) -> None:
    spoken = ["Q.  Why?", "A.  For her.", "THE WITNESS:  And him.", "MR. ROE:  I object."]
    parts: tuple[list[str], ...] = (
        [],
        ["JOHN DOE,", "having been first duly sworn, testified:", "BY MS. POE:"],
        ["CROSS-EXAMINATION"],
        ["REDIRECT EXAMINATION OF ANN DOE BY MR. COE:"],
    )
    lines = [line for part in parts for line in (*part, *spoken)]
    text = "".join(f"{line:2}   {said}\n" for line, said in enumerate(lines, 1))
    document = read(text, "doe.txt", tmp_path)
    # 2 questions, 3 answers, and 2 labels in each of the last three parts.
    assert document.left_out["speakers' labels"] == len("Q.") * 2 + 3 * len("A.THEWITNESS:")
    said = [speech.split("\n")[0] for speech in speeches(document)]
    assert said[:8] == [
        *("Q.", "A.", "THE WITNESS:"),
        *("MR. ROE:", "MS. POE"),
        *["JOHN DOE"] * 2,
        "MR. ROE:",
    ]
    assert said[8:] == [
        *("Q.", "JOHN DOE", "JOHN DOE", "MR. ROE:", "MR. COE"),
        *["ANN DOE"] * 2,
        "MR. ROE:",
    ]


def test_pages_may_stand_before_the_numbers_of_lines(tmp_path: Path) -> None:
    lines = ["     Q.  Who kept it?", "     A.  I did."] * 5
    text = "".join(
        f"{f'{page:05}:' if line == 1 else '      '}{line:02}  {said}\n"
        for page in (7, 8)
        for line, said in enumerate(lines, 1)
    )
    document = read(text, "meg.txt", tmp_path)
    assert [label for label, _ in places(document)][9:11] == ["7:10", "8:1"]


def test_a_novel_with_times_and_numbers_is_no_transcript(tmp_path: Path) -> None:
    text = "The train left Hollin at 10:30\n\nMeg came home at 11:15\n\nThe bell rang at 9:05\n\n"
    document = read(text * 3 + "1 egg\n\n2 eggs\n\n3 eggs\n", "tale.txt", tmp_path)
    assert not document.locators and "10:30" in document.text


def test_a_time_is_found_though_no_cue_begins_with_it(tmp_path: Path) -> None:
    document = read(SRT, "key.srt", tmp_path)
    labels = labels_of(document.locators, "page")
    parsed = parse_labels("00:00:18-00:00:21")
    assert parsed == ("page", "00:00:18", "00:00:21")
    [(start, end)] = labels.find(*parsed[1:], len(document.text))
    assert document.text[start:end].strip() == "MEG:\nI counted them again and again."
    assert name_labels("page", labels.range([(start, end)])) == "00:00:17-00:00:20"


@for_each(
    ("name", "text", "suffix"),
    [("a.srt", SRT, ".srt"), ("a.vtt", VTT, ".vtt"), ("a.xml", FDX, ".fdx"), ("a", TTML, ".ttml")],
)
def test_formats_are_recognised(name: str, text: str, suffix: str) -> None:
    assert recognise_content(text.encode(), name, "c", 1_000_000).suffix == suffix


@pytest.mark.parametrize("speaker", ["Marta.", "THE MILLER"])
def test_speakers_of_tei_are_marked(speaker: str, tmp_path: Path) -> None:
    text = f"<TEI><text><body><sp><speaker>{speaker}</speaker><l>Who?</l></sp></body></text></TEI>"
    assert speeches(read(text, "play.xml", tmp_path)) == [f"{speaker}\nWho?"]
