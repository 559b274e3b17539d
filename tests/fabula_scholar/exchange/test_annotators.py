"""What brat, WebAnno and INCEpTION export, as their own programs and libraries write it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from fabula.errors import LoadError, SettingsError
from fabula.export.annotated_text import AnnotatedText, PlacedLayer
from fabula.export.annotation_formats import annotation_formats, write_annotations
from fabula.export.annotation_sandbox import AnchoredFile, read_and_anchor
from fabula.graph.annotations import (
    Annotation,
    LayerRecord,
    make_layer,
    place_annotations,
    text_digest,
)
from fabula.text.anchoring import quote_at
from fabula.text.document import Document

TEXT = "The 🦢 of Hollin. Marta Kettle sent 𝔎 to Hollin; she kept the lantern."
# The same as the tools had it, with other white space.
OWN = "The 🦢 of Hollin.\nMarta Kettle sent 𝔎 to Hollin; she  kept\nthe lantern."

# By dkpro-cassis 0.12, of OWN, with the namespaces of INCEpTION's types.
XMI = """<?xml version='1.0' encoding='UTF-8'?>
<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmlns:cas="http:///uima/cas.ecore"
 xmlns:type="http:///de/tudarmstadt/ukp/dkpro/core/api/segmentation/type.ecore"
 xmlns:type0="http:///de/tudarmstadt/ukp/dkpro/core/api/ner/type.ecore"
 xmlns:type1="http:///de/tudarmstadt/ukp/dkpro/core/api/coref/type.ecore" xmi:version="2.0">
<cas:NULL xmi:id="0"/><type:Token xmi:id="2" sofa="1" begin="0" end="3"/>
<type0:NamedEntity xmi:id="3" sofa="1" begin="18" end="30" value="PER"/>
<type0:NamedEntity xmi:id="4" sofa="1" begin="10" end="16" value="LOC" identifier="http://x/H"/>
<type0:NamedEntity xmi:id="5" sofa="1" begin="42" end="48" value="LOC"/>
<type1:CoreferenceLink xmi:id="6" sofa="1" begin="18" end="30" next="7" referenceType="name"/>
<type1:CoreferenceLink xmi:id="7" sofa="1" begin="50" end="53" referenceType="pronoun"/>
<type1:CoreferenceChain xmi:id="8" sofa="1" first="6"/>
<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text/plain"
 sofaString="The 🦢 of Hollin.&#10;Marta Kettle sent 𝔎 to Hollin; she  kept&#10;the lantern."/>
<cas:View sofa="1" members="2 3 4 5 6 7 8"/></xmi:XMI>"""
# Of the same CAS, without its types and views.
CAS_JSON = """{"%TYPES": {}, "%FEATURE_STRUCTURES": [
{"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaNum": 1, "sofaID": "_InitialView",
 "mimeType": "text/plain", "sofaString":
 "The 🦢 of Hollin.\\nMarta Kettle sent 𝔎 to Hollin; she  kept\\nthe lantern."},
{"%ID": 2, "%TYPE": "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token", "@sofa": 1,
 "begin": 0, "end": 3},
{"%ID": 3, "%TYPE": "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity", "@sofa": 1,
 "begin": 18, "end": 30, "value": "PER"},
{"%ID": 4, "%TYPE": "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity", "@sofa": 1,
 "begin": 10, "end": 16, "value": "LOC", "identifier": "http://x/H"},
{"%ID": 5, "%TYPE": "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity", "@sofa": 1,
 "begin": 42, "end": 48, "value": "LOC"},
{"%ID": 6, "%TYPE": "de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceLink", "@sofa": 1,
 "begin": 18, "end": 30, "@next": 7, "referenceType": "name"},
{"%ID": 7, "%TYPE": "de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceLink", "@sofa": 1,
 "begin": 50, "end": 53, "referenceType": "pronoun"},
{"%ID": 8, "%TYPE": "de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceChain", "@sofa": 1,
 "@first": 6}]}"""
# In the form of INCEpTION's own reference files (testSentenceWithEmoji and others).
TSV = """#FORMAT=WebAnno TSV 3.3
#T_SP=de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity|identifier|value
#T_CH=de.tudarmstadt.ukp.dkpro.core.api.coref.type.CoreferenceLink|referenceRelation|referenceType
#T_RL=webanno.custom.Relation|value|BT_de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity


#Text=The 🦢 of Hollin.
1-1\t0-3\tThe\t_\t_\t_\t_\t_\t_\t
1-2\t4-6\t🦢\t_\t_\t_\t_\t_\t_\t
1-3\t7-9\tof\t_\t_\t_\t_\t_\t_\t
1-4\t10-16\tHollin\thttp://x/H|*\tLOC|a\\|b\\tc\\nd\t_\t_\t_\t_\t
1-5\t16-17\t.\t_\t_\t_\t_\t_\t_\t

#Text=Marta Kettle sent 𝔎 to Hollin; she  kept
2-1\t18-23\tMarta\t*[1]\tPER[1]\t*->1-1\tname[2]\t_\t_\t
2-1.1\t18-20\tMa\t*\tSYL\t_\t_\t_\t_\t
2-2\t24-30\tKettle\t*[1]\tPER[1]\t_\t_\t_\t_\t
2-3\t31-35\tsent\t_\t_\t_\t_\t_\t_\t
2-4\t36-38\t𝔎\t_\t_\t_\t_\t_\t_\t
2-5\t39-41\tto\t_\t_\t_\t_\t_\t_\t
2-6\t42-48\tHollin\t*\tLOC\t_\t_\tlives\t2-1[1_0]\t
2-7\t48-49\t;\t_\t_\t_\t_\t_\t_\t
2-8\t50-53\tshe\t_\t_\t*->1-2\tpronoun\t_\t_\t
2-9\t55-59\tkept\t_\t_\t_\t_\t_\t_\t
"""
ANN = """T1\tPER 17 29\tMarta Kettle
T2\tLOC 40 46\tHollin
T3\tSend 30 34\tsent
T4\tThing 17 22;62 69\tMarta lantern
T5\tPER 48 51\tshe
E1\tSend:T3 Sender:T1 To:T2
R1\tlives Arg1:T1 Arg2:T2
A1\tNegation E1
A2\tConfidence E1 high
N1\tReference T2 Wikipedia:1\tHollin
#1\tAnnotatorNotes T1\tThe miller's.
#2\tAnnotatorNotes R1\tSurely?
*\tEquiv T1 T5
R2\tlives Arg1:T8 Arg2:T9
"""


def document(text: str = TEXT) -> Document:
    return Document("d1", "books", "kettle.txt", "Kettle", "", "en", text, (), "0" * 16)


def read(format: str, files: Mapping[str, str]) -> AnchoredFile:
    data = {name: text.encode() for name, text in files.items()}
    return read_and_anchor(data, format, document(), min(files))


def shown(found: AnchoredFile) -> list[tuple[str, str]]:
    """The labels and the words of the document that they are put on, in order."""
    placed = [(item.anchor, item.annotation.label) for item in found.items if item.anchor]
    placed.sort(key=lambda each: (each[0].start, each[0].end, each[1]))
    return [(label, TEXT[anchor.start : anchor.end]) for anchor, label in placed]


@pytest.mark.parametrize("files", [{"k.xmi": XMI, "TypeSystem.xml": "<x/>"}, {"k.json": CAS_JSON}])
def test_a_cas_is_read_with_chains_and_without_tokens(files: Mapping[str, str]) -> None:
    found = read("uima", files)
    assert shown(found) == [
        *(("LOC", "Hollin"), ("PER", "Marta Kettle"), ("name", "Marta Kettle")),
        *(("LOC", "Hollin"), ("pronoun", "she")),
    ]
    assert found.moved == 0
    by_id = {item.annotation.id: item.annotation for item in found.items}
    assert by_id["4"].properties == {
        "layer": "NamedEntity", "value": "LOC", "identifier": "http://x/H"
    }  # fmt: skip
    assert by_id["6"].group == by_id["7"].group == "chain-8"
    [remark] = found.remarks
    assert remark.endswith("what describes each token is left out (1 Token).")


def test_webanno_tsv_is_read_with_stacks_parts_of_tokens_and_chains() -> None:
    found = read("webanno-tsv", {"k.tsv": TSV})
    assert shown(found) == [
        *(("a|b\tc\nd", "Hollin"), ("http://x/H", "Hollin"), ("SYL", "Ma"), ("name", "Marta")),
        *(("PER", "Marta Kettle"), ("LOC", "Hollin"), ("pronoun", "she")),
    ]
    groups = {item.annotation.label: item.annotation.group for item in found.items}
    assert groups["name"] == groups["pronoun"] == "chain-1"
    assert found.remarks == ("k.tsv: 1 relation between annotations left out.",)


@pytest.mark.parametrize("own", [{"k.txt": OWN}, {}])
def test_brats_lines_about_a_tag_are_kept_with_it(own: Mapping[str, str]) -> None:
    found = read("brat", {"k.ann": ANN, **own})
    assert shown(found) == [
        *(("Thing", "Marta"), ("PER", "Marta Kettle"), ("Send", "sent")),
        *(("LOC", "Hollin"), ("PER", "she"), ("Thing", "lantern")),
    ]
    by_id = {item.annotation.id: item.annotation for item in found.items}
    assert by_id["T1"].body == "The miller's.\n\nSurely?"
    assert by_id["T1"].properties == {"lives": "Hollin"}
    assert by_id["T1"].group == by_id["T5"].group == "Equiv-T1"
    assert by_id["T2"].properties == {"Reference": "Wikipedia:1 Hollin"}
    assert by_id["T3"].properties == {
        "Sender": "Marta Kettle", "To": "Hollin", "Negation": "yes", "Confidence": "high"
    }  # fmt: skip
    assert "k.ann: 1 line about no tag left out." in found.remarks


def test_clippings_of_a_kindle_are_found_by_their_words() -> None:
    clippings = (
        ("Kettle (An, Author)", "Your Highlight on page 1 | Location 7-8", "Marta Kettle"),
        ("Kettle (An, Author)", "Your Highlight on page 1 | Location 7-9", "Marta Kettle sent 𝔎"),
        ("Other (Author)", "Your Highlight on page 2", "she kept"),
        ("Kettle (An, Author)", "Your Note on page 1 | Location 9", "To whom?"),
        ("Kettle (An, Author)", "Ihr Lesezeichen bei Position 11", ""),
        ("Kettle (An, Author)", "Ihre Notiz bei Position 40", "Where?"),
        ("Kettle (An, Author)", "您在位置 #20-21的标注", "kept the lantern"),
    )
    file = "".join(
        f"\ufeff{book}\r\n- {place} | Added on Sunday\r\n\r\n{words}\r\n==========\r\n"
        for book, place, words in clippings
    )
    found = read("kindle", {"My Clippings.txt": file})
    assert [
        (item.annotation.body, TEXT[item.anchor.start : item.anchor.end])
        for item in found.items
        if item.anchor
    ] == [("To whom?", "Marta Kettle sent 𝔎"), ("", "kept the lantern")]
    assert found.remarks == (
        "1 clipping of other books left out.",
        "1 note at no highlight left out.",
    )
    with pytest.raises(LoadError, match="None of the clippings is of Kettle"):
        read("kindle", {"My Clippings.txt": file.replace("Kettle (", "Kettledrum (")})


def test_places_of_another_text_are_not_believed() -> None:
    found = read("brat", {"k.ann": ANN, "k.txt": "x" * 7 + OWN})
    assert ("PER", "Marta Kettle") in shown(found)
    found = read("brat", {"k.ann": "T1\tPER 4 12\tthe geese", "k.txt": OWN})
    assert shown(found) == []


def test_broken_files_are_refused_in_words() -> None:
    cases = {
        "brat": ("k.ann", "T1 PER 0 5 Marta", "a line that is none of brat's"),
        "webanno-tsv": ("k.tsv", "#id=1\n#text=x", "not in the format WebAnno TSV 3"),
        "uima": ("k.xmi", "<a/>", "has no text of UIMA"),
    }
    for format, (name, text, problem) in cases.items():
        with pytest.raises(LoadError, match=problem):
            read(format, {name: text})


def test_a_format_that_is_only_read_says_what_is_written() -> None:
    with pytest.raises(SettingsError, match="in one of booknlp, catma, tei, webannotation"):
        write_annotations(AnnotatedText(document()), annotation_formats()["uima"], ())


def layer(annotations: Sequence[Annotation]) -> AnnotatedText:
    made = make_layer(LayerRecord("gold", "d1", text=text_digest(TEXT)), annotations)
    return AnnotatedText(
        document(), layers=(PlacedLayer(made.record, tuple(place_annotations(TEXT, made))),)
    )


def test_positions_are_written_and_recognised_in_both_units() -> None:
    formats = annotation_formats()
    at = TEXT.index("lantern")
    marked = [Annotation(quote_at(TEXT, at, at + 7), id="x")]
    for name, start in (("webannotation", at), ("webannotation-utf16", at + 2)):
        [written] = write_annotations(layer(marked), formats[name], ()).values()
        assert f'"start": {start}' in written
        # Whichever of the two it is taken for, the words are found, and the other unit is told.
        for reader in ("webannotation", name):
            found = read(reader, {"a.jsonld": written})
            assert shown(found) == [("", "lantern")]
            assert found.moved == 0
            is_told = reader == "webannotation" != name
            assert bool(found.remarks) == is_told
