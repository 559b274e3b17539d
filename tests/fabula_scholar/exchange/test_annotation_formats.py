"""Annotations in the formats of other programs, out and in."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabula.errors import LoadError, NotFound, SettingsError
from fabula.export.annotated_text import AnnotatedText, PlacedLayer
from fabula.export.annotation_formats import (
    annotation_formats,
    find_format,
    ignore,
    read_annotation_files,
    unpack_files,
    write_annotations,
)
from fabula.export.citations import citations_json, cite_quotes
from fabula.export.web_annotation import read_annotations
from fabula.graph.annotations import (
    Annotation,
    LayerRecord,
    make_layer,
    place_annotations,
    text_digest,
)
from fabula.graph.hits import Hit, Quote
from fabula.text.anchoring import quote_at
from fabula.text.document import Document
from fabula_scholar.exchange.booknlp import (
    ENTITY_COLUMNS,
    TOKEN_COLUMNS,
    read_booknlp,
    write_booknlp,
)
from fabula_scholar.exchange.catma import read_catma, write_catma
from fabula_scholar.exchange.tei_annotated import write_tei
from fabula_scholar.exchange.tei_marks import read_tei
from fabula_scholar.exchange.token_files import TokenizedText, align_tokens

TEXT = """“Poor Miss Taylor!” he said. “I wish she were here.”

Mr. Woodhouse's daughter, Emma Woodhouse, looked at Miss Taylor."""


def document(text: str = TEXT) -> Document:
    return Document("d1", "books", "emma.txt", "Emma", "", "en", text, (), "0" * 16)


def marked(
    words: str, group: str, number: int = 0, kind: str = "entity", **more: str
) -> Annotation:
    at = -1
    for _ in range(number + 1):
        at = TEXT.index(words, at + 1)
    return Annotation(
        quote_at(TEXT, at, at + len(words)),
        kind,
        group,
        id=f"{group}-{kind}-{at}",
        group=group,
        properties={"type": "person", **more},
    )


EVERY = [
    marked("Miss Taylor", "taylor"),
    marked("he", "father", form="PRON"),
    marked("she", "taylor", form="PRON"),
    marked("Mr. Woodhouse", "father"),
    marked("Mr. Woodhouse's daughter", "emma", form="NOM"),
    marked("Emma Woodhouse", "emma"),
    marked("Miss Taylor", "taylor", 1),
    marked("“Poor Miss Taylor!”", "father", kind="quotation"),
    marked("“I wish she were here.”", "father", kind="quotation"),
]


def annotated(every: Sequence[Annotation] = EVERY) -> AnnotatedText:
    layer = make_layer(LayerRecord("gold", "d1", text=text_digest(TEXT)), every)
    items = tuple(place_annotations(TEXT, layer))
    return AnnotatedText(document(), layers=(PlacedLayer(layer.record, items),))


def groups(annotations: Sequence[Annotation]) -> list[list[tuple[int, int]]]:
    found: dict[str, list[tuple[int, int]]] = {}
    for a in annotations:
        if a.kind == "entity":
            found.setdefault(a.group, []).append((a.start, a.end))
    return sorted(sorted(places) for places in found.values())


def test_booknlps_files_have_its_columns_and_places() -> None:
    files = write_booknlp(annotated(), ())
    assert list(files) == [".tokens", ".entities", ".quotes", ".book"]
    tokens = [line.split("\t") for line in files[".tokens"].splitlines()]
    assert tokens[0][3:8] == [
        *("token_ID_within_document", "word", "lemma", "byte_onset", "byte_offset"),
    ]
    assert all(TEXT[int(row[6]) : int(row[7])] == row[4] for row in tokens[1:])
    assert [row[4] for row in tokens[1:7]] == ["“", "Poor", "Miss", "Taylor", "!", "”"]
    entities = [line.split("\t") for line in files[".entities"].splitlines()]
    assert entities[0] == ["COREF", "start_token", "end_token", "prop", "cat", "text"]
    assert entities[1] == ["1", "2", "3", "PROP", "PER", "Miss Taylor"]
    quotes = [line.split("\t") for line in files[".quotes"].splitlines()]
    assert quotes[1][:2] == ["0", "5"]
    assert quotes[1][6] == "“ Poor Miss Taylor ! ”"
    people = json.loads(files[".book"])["characters"]
    assert [(person["id"], person["count"]) for person in people] == [(1, 3), (2, 2), (3, 2)]
    assert people[0]["mentions"]["proper"] == [{"c": 2, "n": "Miss Taylor"}]


def test_what_is_written_for_booknlp_is_read_back() -> None:
    files = {f"x{end}": content.encode() for end, content in write_booknlp(annotated(), ()).items()}
    again = read_booknlp(files, document())
    assert groups(again) == groups(EVERY)
    quotations = [(a.label, TEXT[a.start : a.end]) for a in again if a.kind == "quotation"]
    assert quotations == [
        ("Mr. Woodhouse", "“Poor Miss Taylor!”"),
        ("Mr. Woodhouse", "“I wish she were here.”"),
    ]


# The heads of examples/158_emma of BookNLP's repository.
OF_BOOKNLP = {
    "emma.tokens": "paragraph_ID\tsentence_ID\ttoken_ID_within_sentence\ttoken_ID_within_document"
    "\tword\tlemma\tbyte_onset\tbyte_offset\tPOS_tag\tfine_POS_tag\tdependency_relation"
    "\tsyntactic_head_ID\tevent\n"
    + "".join(
        f"0\t0\t{n}\t{n}\t{word}\t{word}\t{10 * n}\t{10 * n + len(word)}\tX\tX\tdep\t0\tO\n"
        for n, word in enumerate(["Emma", "Woodhouse", ",", "looked", "at", "Miss", "Taylor"])
    ),
    "emma.entities": "COREF\tstart_token\tend_token\tprop\tcat\ttext\n"
    "123\t0\t1\tPROP\tPER\tEmma Woodhouse\n",
    "emma.quotes": "quote_start\tquote_end\tmention_start\tmention_end\tmention_phrase\tchar_id"
    "\tquote\n0\t1\tNone\tNone\tNone\tNone\tEmma Woodhouse\n",
}


def test_tokens_of_another_edition_are_found_in_the_text() -> None:
    files = {name: content.encode() for name, content in OF_BOOKNLP.items()}
    [emma, quotation] = read_booknlp(files, document())
    assert TEXT[emma.start : emma.end] == "Emma Woodhouse"
    assert (emma.label, emma.group, emma.properties["category"]) == (
        *("Emma Woodhouse", "booknlp-123", "PER"),
    )
    assert (quotation.label, quotation.group) == ("", "")
    with pytest.raises(LoadError, match=r"give \.tokens"):
        read_booknlp({"emma.entities": files["emma.entities"]}, document())
    with pytest.raises(LoadError, match="no column COREF"):
        read_booknlp({**files, "emma.entities": b"a\tb\n"}, document())


def test_tokens_are_found_whatever_their_marks_and_spaces() -> None:
    text = 'It began.\n\n“Don\'t go--now,” said\nTom. "Why?"'
    written = "`` Do n't go -- now , '' said Tom . `` Why ? ''"
    tokens = written.split(" ")
    found = align_tokens(tokens, text)
    assert ["".join(text[slice(*span)].split()) if span else None for span in found] == [
        *("“", "Do", "n't", "go", "--", "now", ",", "”", "said", "Tom", ".", '"', "Why", "?", '"'),
    ]
    assert align_tokens(["absent"], text) == [None]
    tokenized = TokenizedText(document(text))
    assert [token.text for token in tokenized.tokens[:7]] == [
        *("It", "began", ".", "“", "Don't", "go", "-"),
    ]
    assert (tokenized.find(0, 8), tokenized.find(9, 11)) == ((0, 1), None)


def test_a_format_is_known_by_its_name_or_the_files_end() -> None:
    assert find_format("", Path("a.entities")).name == "booknlp"
    assert find_format("tei").name == "tei"
    with pytest.raises(SettingsError, match="webannotation"):
        find_format("webanotation")
    with pytest.raises(SettingsError, match="--format"):
        find_format("", Path("a.xyz"))
    assert {"webannotation", "booknlp", "tei"} <= set(annotation_formats())


def test_catma_gets_its_own_format_and_the_text() -> None:
    wide = Annotation(quote_at(TEXT, 1, 5), "note", "pity", "Poor?", id="n", creator="Ann")
    files = write_catma(annotated([*EVERY, wide]), ())
    assert list(files) == [".catma.xml", ".txt"]
    assert files[".txt"] == TEXT
    root = fromstring(files[".catma.xml"].encode())
    tei = "{http://www.tei-c.org/ns/1.0}"
    pointers = [each.get("target", "").partition("#char=")[2] for each in root.iter(f"{tei}ptr")]
    spans = [tuple(map(int, each.split(","))) for each in pointers]
    # The stretches tile the text, as CATMA's own writer has them.
    assert (spans[0][0], spans[-1][1]) == (0, len(TEXT))
    assert all(one[1] == other[0] for one, other in pairwise(spans))
    names = {each.get("type") for each in root.iter(f"{tei}fsDecl")}
    types = {each.get("type") for each in root.iter(f"{tei}fs")} - {None}
    assert types == names
    version = root.find(f".//{tei}fs[@{{http://www.w3.org/XML/1998/namespace}}id]//{tei}string")
    assert version is not None and version.text == "5"


def test_what_is_written_for_catma_is_read_back() -> None:
    files = {f"x{end}": content.encode() for end, content in write_catma(annotated(), ()).items()}
    again = read_catma(files, document())
    found = {(a.kind, a.label, a.group, a.start, a.end) for a in again}
    assert found == {(a.kind, a.label, a.group, a.start, a.end) for a in EVERY}
    with pytest.raises(LoadError, match="no annotations as CATMA"):
        read_catma({"x.xml": b"<TEI/>"}, document())
    with pytest.raises(LoadError, match=r"x\.xml"):
        read_catma({"x.xml": b"no xml"}, document())


PLACES = st.lists(st.tuples(st.integers(0, 59), st.integers(1, 9)), max_size=5)


@given(st.text("ab \n<&é𝔐", min_size=1, max_size=60), PLACES)
def test_catma_finds_any_stretch_of_any_text_again(
    text: str, places: list[tuple[int, int]]
) -> None:
    """Its places are UTF-16 units: 𝔐 is two."""
    spans = {(at, min(at + size, len(text))) for at, size in places if at < len(text)}
    tags = [Annotation(quote_at(text, *span), "tag", str(span), id=f"a{span}") for span in spans]
    layer = make_layer(LayerRecord("gold", "d1", text=text_digest(text)), tags)
    placed = PlacedLayer(layer.record, tuple(place_annotations(text, layer)))
    files = write_catma(AnnotatedText(document(text), layers=(placed,)), ())
    if spans:
        again = read_catma(
            {f"x{end}": file.encode() for end, file in files.items()}, document(text)
        )
        assert {(a.label, a.start, a.end) for a in again} == {(str(span), *span) for span in spans}


# Two stretches of one annotation, and one beside it, as CATMA 6 and 7 export them.
OF_CATMA = """<?xml version="1.0" encoding="UTF-8"?>
<TEI xml:lang="en" xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><encodingDesc>
<fsdDecl xml:id="CATMA_S" n="scheme 2020"><fsDecl xml:id="CATMA_T" n="2020" type="CATMA_T">
<fsDescr>speech</fsDescr><fDecl xml:id="CATMA_P" name="mood"/></fsDecl></fsdDecl></encodingDesc>
</teiHeader><text><body><ab type="catma">
<seg ana="#CATMA_1"><ptr target="catma://CATMA_D#char=0,19" type="inclusion"/></seg>
<ptr target="catma://CATMA_D#char=19,29" type="inclusion"/>
<seg ana="#CATMA_1 #CATMA_2"><ptr target="catma://CATMA_D#char=29,52" type="inclusion"/></seg>
</ab></body>
<fs xml:id="CATMA_1" type="CATMA_T"><f name="catma_markupauthor"><string>ann</string></f>
<f name="mood"><string>sad</string></f></fs>
<fs xml:id="CATMA_2" type="CATMA_T"/></text></TEI>"""


def test_a_place_of_catma_that_is_no_number_of_ours_is_refused() -> None:
    huge = OF_CATMA.replace("#char=0,19", f"#char=0,{'9' * 5_000}")
    with pytest.raises(LoadError, match="has no place"):
        read_catma({"x.xml": huge.encode()}, document())


def test_a_line_of_tokens_ends_at_its_end() -> None:
    """Other signs that Unicode takes for the end of a line are tokens, as in scanned books."""
    text = "A\u2028B ran. A stood."
    lines = ["\t".join(TOKEN_COLUMNS[:8])]
    words = (("A\u2028B", 0, 3), ("ran", 4, 7), (".", 7, 8))
    lines += [f"0\t0\t{n}\t{n}\t{w}\t_\t{s}\t{e}" for n, (w, s, e) in enumerate(words)]
    entities = "\t".join(ENTITY_COLUMNS) + "\n1\t0\t0\tPROP\tPER\tA B\n"
    files = {"x.tokens": "\r\n".join(lines).encode(), "x.entities": entities.encode()}
    [found] = read_booknlp(files, document(text))
    assert (found.start, found.end) == (0, 3)


def test_a_collection_of_catma_is_read_with_its_tags_and_stretches() -> None:
    found = read_catma({"x.xml": OF_CATMA.encode()}, document())
    assert [(a.label, a.group, a.creator, TEXT[a.start : a.end]) for a in found] == [
        ("speech", "CATMA_1", "ann", "“Poor Miss Taylor!”"),
        ("speech", "CATMA_1", "ann", "“I wish she were here.”"),
        ("speech", "", "", "“I wish she were here.”"),
    ]
    assert found[0].properties == {"mood": "sad"}


def test_tei_has_lists_references_and_speakers_and_all_of_the_text() -> None:
    note = Annotation(quote_at(TEXT, 1, 5), "note", "pity", "Poor & why?", id="n", creator="Ann")
    [content] = write_tei(annotated([*EVERY, note]), ()).values()
    root = fromstring(content.encode())
    tei, id = "{http://www.tei-c.org/ns/1.0}", "{http://www.w3.org/XML/1998/namespace}id"
    people = [each.get(id) for each in root.iter(f"{tei}person")]
    assert sorted(map(str, people)) == ["e.emma", "e.father", "e.taylor"]
    said = [(each.get("who"), "".join(each.itertext())) for each in root.iter(f"{tei}said")]
    assert said == [
        ("#e.father", "“Poor Miss Taylor!”"),
        ("#e.father", "“I wish she were here.”"),
    ]
    named = [(each.get("ref"), "".join(each.itertext())) for each in root.iter(f"{tei}persName")]
    assert ("#e.taylor", "Miss Taylor") in named
    body = root.find(f".//{tei}body")
    assert body is not None
    assert "".join("".join(body.itertext()).split()) == "".join(TEXT.split())
    [segment] = root.iter(f"{tei}seg")
    [annotation] = root.iter(f"{tei}annotation")
    assert segment.get("ana") == f"#{annotation.get(id)}"
    assert "".join(annotation.itertext()) == "byAnnpity. Poor & why?"


def test_a_message_repeats_a_bounded_part_of_what_was_asked_for() -> None:
    with pytest.raises(NotFound, match="Nothing is marked") as refused:
        write_annotations(annotated(), find_format("webannotation"), ["x" * 9000, *"abcdefghij"])
    assert len(str(refused.value)) < 400


def test_what_is_written_as_tei_is_read_back() -> None:
    note = Annotation(quote_at(TEXT, 1, 5), "note", "pity", "Poor & why?", id="n", creator="Ann")
    ship = marked("Miss Taylor", "sh.ip é#1", 1, type="vessel")
    every = [*EVERY, note, ship, marked("looked at", "nobody", kind="quotation")]
    [content] = write_tei(annotated(every), ()).values()
    again = read_tei({"x.tei.xml": content.encode()}, document())

    def values(annotations: Sequence[Annotation]) -> set[tuple[object, ...]]:
        return {
            (
                *(a.kind, a.label, a.body, a.creator, a.start, a.end),
                a.properties.get("type", "") if a.kind == "entity" else "",
                a.group,
            )
            for a in annotations
        }

    assert values(again) == values([*every[:9], replace(note, group=""), *every[10:]])


OF_TEI = """<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt>
<title>Emma by <name>Jane Austen</name></title></titleStmt></fileDesc></teiHeader>
<standOff><listPerson><person xml:id="MT"><persName><forename>Anne</forename> Taylor</persName>
</person><personGrp xml:id="all"><name>Everybody</name></personGrp></listPerson>
<listAnnotation><annotation xml:id="A1" target="#w1 #w2"><note>both words</note></annotation>
<annotation target="#gone"><note type="query">where?</note></annotation></listAnnotation>
<spanGrp><span from="#w1" to="#w3">a run</span></spanGrp></standOff>
<text><body><div><head>CHAPTER I</head>
<p><said who="#all #MT">"Poor <persName ref="#MT">Miss
   Taylor</persName>!"</said> he <seg ana="#irony">said</seg>.<note>A note on <name>Bath</name>
   which this edition has and the other one has not.</note>
   <q>"I wish <rs key="taylor" type="person">she</rs> <w xml:id="w1">were</w> <w
   xml:id="w2">here</w><pc xml:id="w3">.</pc>"</q></p>
<p>Mr. <del>Old <persName>Nick</persName></del>Woodhouse's daughter looked at
<placeName>Hart<lb/>field</placeName>.</p>
<sp who="#MT"><speaker>Miss Taylor.</speaker><p>I am here, <stage>aside</stage> sir.</p></sp>
</div></body><interp xml:id="irony">irony</interp></text></TEI>"""


def test_tei_of_others_is_read_into_another_edition() -> None:
    text = (
        "CHAPTER I\n\n“Poor Miss Taylor!” he said. “I wish she were here.”\n\n"
        "Mr. Woodhouse's daughter looked at Hart field.\n\nMiss Taylor: I am here, (aside) sir.\n\n"
        "There was an Old Nick once, and Nick again."
    )
    found = read_tei({"x.xml": OF_TEI.encode()}, document(text))
    rows = {
        (a.kind, a.label, a.group, text[a.start : a.end] if a.start >= 0 else a.quote.exact)
        for a in found
    }
    assert rows == {
        ("quotation", "Everybody", "all", "“Poor Miss Taylor!”"),
        ("entity", "Anne Taylor", "MT", "Miss Taylor"),
        ("tag", "irony", "", "said"),
        ("entity", "Bath", "", "Bath"),
        ("quotation", "", "", "“I wish she were here.”"),
        ("entity", "she", "taylor", "she"),
        ("entity", "Nick", "", "Nick"),
        ("entity", "Hart field", "", "Hart field"),
        ("quotation", "Anne Taylor", "MT", "I am here, (aside) sir."),
        ("note", "", "", "were"),
        ("note", "", "", "here"),
        ("tag", "a run", "", "were here."),
        ("query", "", "", ""),
    }
    types = {a.quote.exact: a.properties for a in found if a.kind == "entity"}
    assert types["she"] == types["Miss Taylor"] == {"type": "person"}
    assert found[0].properties == {"who": "#all #MT"}
    # What the other edition lacks has its words alone.
    assert {a.quote.exact for a in found if a.start < 0} == {"Bath", "Nick", ""}


def test_an_xml_file_that_is_no_tei_is_refused() -> None:
    for content, reason in (
        (b"<html/>", "first element is <html>"),
        (b"no xml", "can't be read as XML"),
        (OF_CATMA.encode(), "--format catma"),
        (
            b"<!DOCTYPE TEI [<!ENTITY a 'aaaaaaaaaa'>"
            + b"".join(
                f"<!ENTITY a{n} '{f'&a{n - 1 if n else chr(32)};' * 10}'>".replace(
                    "&a ;", "&a;"
                ).encode()
                for n in range(9)
            )
            + b"]><TEI><text><p>&a8;</p></text></TEI>",
            "entit",
        ),
    ):
        with pytest.raises(LoadError, match=reason):
            read_tei({"x.xml": content}, document())


def test_many_annotations_of_one_id_get_one_each() -> None:
    """As where each word of an edition points to one category: a file of 50,000 took an hour."""
    every = [Annotation(quote_at(TEXT, 1, 5), "tag", id=id) for id in ("x-3", *["x"] * 8_000)]
    layer = make_layer(LayerRecord("tags", "d1"), every)
    ids = {each.id for each in layer.annotations}
    assert ids == {"x", "x-2", "x-3", *(f"x-{number}" for number in range(4, 8_002))}


def test_a_small_tei_that_marks_much_is_refused() -> None:
    long = "long " * 2_000
    refused = "says of words has more than"
    for head, text, reason in (
        (f'<interp xml:id="i">{long}</interp>', '<seg ana="#i">a</seg>' * 3_000, refused),
        (
            f'<list><item xml:id="i">{long}</item></list>',
            '<rs ref="#i">a</rs>' * 3_000,
            refused,
        ),
        (
            f'<annotation target="{"#s " * 3_000}"><note>{long}</note></annotation>',
            '<seg xml:id="s">a</seg>',
            refused,
        ),
        ("", f'<del><seg ana="{"#i " * 11_000}">{long}</seg></del>', "characters that Emma lacks"),
    ):
        content = f"<TEI><standOff>{head}</standOff><text><body><p>{text}</p></body></text></TEI>"
        assert len(content) < 100_000
        with pytest.raises(LoadError, match=reason):
            read_tei({"x.xml": content.encode()}, document())


def test_a_note_that_the_text_lacks_leads_no_token_astray() -> None:
    words = [f"word{number}" for number in range(400)]
    note = ["letter", "of", "somebody"] * 100
    text = " ".join([*words[:200], "and a letter of somebody", *words[200:]])
    spans = align_tokens([*words[:100], *note, *words[100:]], text)
    found = [text[slice(*span)] if span else "" for span in spans]
    assert found[:100] == words[:100]
    assert found[400:] == words[100:]


def packed(files: Mapping[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return stream.getvalue()


def test_several_files_are_packed_and_unpacked() -> None:
    booknlp = find_format("booknlp")
    files = write_booknlp(annotated(), ())
    data = packed({f"Emma{end}": content.encode() for end, content in files.items()})
    again = unpack_files(data, "x.zip", booknlp, 10**7)
    assert {name: content.decode() for name, content in again.items()} == {
        f"Emma{end}": content for end, content in files.items()
    }
    assert groups(read_booknlp(again, document())) == groups(EVERY)
    assert unpack_files(b"plain", "x.tokens", booknlp, 10) == {"x.tokens": b"plain"}
    catma = packed({"in/c.xml": OF_CATMA.encode(), "__MACOSX/in/c.xml": b"", "in/.c.xml": b"?"})
    assert list(unpack_files(catma, "x.zip", find_format("catma"), 10**7)) == ["c.xml"]


def test_a_hostile_zip_of_annotations_is_refused(tmp_path: Path) -> None:
    booknlp = find_format("booknlp")
    bomb = packed({"x.tokens": b"0" * 30_000_000})
    assert len(bomb) < 50_000
    for data, reason in (
        (bomb, "unpacks to|too"),
        (packed({f"{n}.tokens": b"" for n in range(101)}), "has 101 files"),
        (packed({"a/x.tokens": b"1", "b/x.tokens": b"2"}), "two files named"),
        (packed({"x.exe": b""}), "no file of booknlp"),
        (b"PK\x03\x04" + b"0" * 50, "not a valid zip"),
    ):
        with pytest.raises(LoadError, match=reason):
            unpack_files(data, "x.zip", booknlp, 64_000_000)
    climbing = packed({"../../etc/x.tokens": b"t", "/x.entities": b"e", "..\\..\\x.quotes": b"q"})
    found = unpack_files(climbing, "x.zip", booknlp, 10**7)
    assert found == {"x.tokens": b"t", "x.entities": b"e", "x.quotes": b"q"}
    assert list(tmp_path.iterdir()) == []


def test_files_of_one_name_do_not_replace_each_other(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / f"{folder}.zip").write_bytes(packed({"x.tokens": folder.encode()}))
    files = [tmp_path / "a.zip", tmp_path / "b.zip"]
    with pytest.raises(LoadError, match=r"Two of the files are named 'x\.tokens'"):
        read_annotation_files(files, find_format("booknlp"), 10**6)


def test_an_answers_citations_are_web_annotations_of_the_words() -> None:
    at = TEXT.index("Mr. Woodhouse")
    hit = Hit(
        kind="chunk", id="c2", document="d1", title="Emma", text=TEXT[at:], start=at, end=len(TEXT),
        section="", aspect="", level=0, score=1.0, tokens=9, language="en",
    )  # fmt: skip
    other = replace(hit, document="d2", kind="summary", text="A summary.", start=0, end=40)
    answer = "It is her daughter [1]. Nobody else is meant [1, 2]. The end."
    quotes = [Quote(1, hit, ((0, 24),)), Quote(2, other, ())]
    content = citations_json("Who looks?", cite_quotes(quotes, "Who looks?", answer))
    assert (content["type"], content["total"], content["label"]) == (
        *("AnnotationCollection", 2, "Who looks?"),
    )
    first, second = content["first"]["items"]
    assert first["motivation"] == second["motivation"] == "linking"
    place, words = first["target"]["selector"]
    assert TEXT[place["start"] : place["end"]] == words["exact"] == "Mr. Woodhouse's daughter"
    assert [body["value"] for body in first["body"][:2]] == [
        "[1]",
        "It is her daughter [1]. Nobody else is meant [1, 2].",
    ]
    assert second["target"]["selector"] == [{"type": "TextPositionSelector", "start": 0, "end": 40}]
    # A file on several documents gives each document its own.
    data = json.dumps(content).encode()
    [only] = find_format("webannotation").read({"x": data}, document(), ignore)
    assert (only.kind, only.label, only.start) == ("citation", "[1]", at)
    assert len(read_annotations(data, "x", "d3")) == 2


def test_a_word_in_which_a_mention_begins_is_two_tokens() -> None:
    """So that "me" of "wi'me" is not widened: five clusters of LitBank came back otherwise."""
    text = "Drink wi'me, we'se here."
    me = Annotation(quote_at(text, 9, 11), "entity", "I", id="m", group="g")
    we = Annotation(quote_at(text, 13, 15), "entity", "we", id="w", group="h")
    layer = make_layer(LayerRecord("gold", "d1", text=text_digest(text)), [me, we])
    items = tuple(place_annotations(text, layer))
    marked_text = AnnotatedText(document(text), layers=(PlacedLayer(layer.record, items),))
    files = {f"x{end}": c.encode() for end, c in write_booknlp(marked_text, ()).items()}
    assert groups(read_booknlp(files, document(text))) == [[(9, 11)], [(13, 15)]]
