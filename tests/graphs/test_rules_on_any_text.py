"""What works without a model works on any text: no rule fails, whatever the words."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from fabula.build.make import make
from fabula.build.outcome import SilentProgress
from fabula.build.values import DocumentPlan, GraphPlan
from fabula.config.model_factory import ModelFactory
from fabula.config.recipes import make_recipes
from fabula.config.settings import OFFLINE, STATIC, Settings
from fabula.errors import LoadError
from fabula.graph import TEXT, Part
from fabula.graph.installed import graphs
from fabula.graph.method import Graph, Known
from fabula.load import load, read_text
from fabula.models.counted import Meter
from fabula.text.document import Document

# All graphs of a document that need no model, built in memory.


def build_by_rules(
    document: Document, models: ModelFactory, *, alone: bool = False, strict: bool = True
) -> dict[str, Part]:
    """Return the parts of a document, by the graphs' names.

    Args:
        document: The document.
        models: The models: offline.
        alone: Whether graphs are built without those that they use but do not need.
        strict: Whether a rule that fails ends the build.

    """
    used = [graph for graph in graphs().values() if _is_made_by_rules(graph)]
    recipes = make_recipes(models.settings, document.sha256, used)
    plans = tuple(
        GraphPlan(
            graph.name,
            models.table(graph.name),
            recipes[graph.name],
            graph.rests_on if alone else (*graph.rests_on, *graph.uses),
            Known(),
        )
        for graph in used
    )
    plan = DocumentPlan("added", document, recipes[TEXT], (), plans, {}, strict=strict)
    built = make(plan, models, SilentProgress(), Meter())
    return {part.owner.graph: part for part in built.parts}


def _is_made_by_rules(graph: Graph[Any]) -> bool:
    return bool(graph.build) and not graph.imports and not graph.needs_model


LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "pl", "ru", "nl", "cs", "zh", "")
PIECES = [
    # Words that rules look for, in any order; no list of them is complete without its marks.
    *["the Dormouse", "a harsh voice", "the old man", "Mr.", "Mrs. Bennet", "Tom", "Meg's", "I"],
    *["he", "she", "his", "said", "asked", "cried out", "was the brother of", "married", "and"],
    *["to", "of", "because", "However,", "Then", "on Monday", "in London", "slowly", "1843", "II."],
    *["sagte Gregor", "— Entrez", "dit", "powiedziała", "сказал Чичиков", "“Komm", "«Entra»"],
    *["TOM.", "MEG. (aside)", "ACT I", "SCENE II", "CHAPTER I", "* * *", "_so_", "[1]", "-- "],
    *["“", "”", "‘", "’", '"', "'", "«", "»", "„", "「", "」", "—", "–", "- ", "…", ".", ",", "!"],
    *["?", ":", ";", "(", "\n", "\n\n", "\n\n\n", "\t", " ", "\u00a0", "\u200b", "\u0301"],
    *["猫は言った。", "เขาพูด", "مرحبا. قال", "שלום", "😀👩\u200d👧", "ß", "İstanbul", "ﬁn", "ſo"],
    *["word " * 400, "x" * 3000, "“No,” ", "“" * 50, ". " * 200, "A. B. C. D. ", "\n\n“Yes.”" * 40],
]
WORDS = [
    *["the", "a", "his", "old", "zebra", "Zebra", "Tom", "Mr", "he", "I", "and", "to", "said"],
    *["slowly", "asked", "was", "brother", "of", "because", "voice", "where", "Monday"],
]
loose = st.lists(
    st.one_of(
        st.sampled_from(PIECES),
        st.sampled_from(PIECES).map(lambda piece: f" {piece} "),
        st.text(max_size=12),
    ),
    max_size=40,
).map("".join)
# A text may end after any word: what rules look for behind it is not there.
endings = st.builds(
    lambda quotation, words: quotation + " ".join(words),
    st.sampled_from(["", "“Come in,” ", "“Come in.” ", "“Come in!” ", "— Entrez, ", "«Entra» "]),
    st.lists(st.sampled_from(WORDS), max_size=5),
)
texts = st.one_of(endings, st.builds("{}\n\n{}".format, loose, endings))


@pytest.fixture(scope="module")
def models() -> Iterator[ModelFactory]:
    """Models of a program without any key."""
    with closing(ModelFactory(Settings(model=OFFLINE, embedding_model=STATIC))) as opened:
        yield opened


def read(text: str, language: str) -> Document:
    try:
        return read_text(text, source="a.txt", collection="c", language=language)
    except LoadError:
        assume(False)
        raise


@settings(max_examples=30)
@given(texts, st.sampled_from(LANGUAGES), st.booleans())
@example("“Come in,” the Dormouse", "en", False)
@example("“Come in!” the Dormouse", "en", True)
def test_no_rule_fails_on_any_text(
    models: ModelFactory, text: str, language: str, alone: bool
) -> None:
    build_by_rules(read(text, language), models, alone=alone)


SHIPPED = [
    Path(str(files("fabula").joinpath("texts/a-christmas-carol.txt"))),
    *sorted((Path(__file__).parents[1] / "data" / "plays").glob("*.xml")),
]


@pytest.mark.nightly
@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.stem)
@pytest.mark.parametrize("alone", [False, True])
def test_no_rule_fails_on_the_texts_at_hand(models: ModelFactory, file: Path, alone: bool) -> None:
    build_by_rules(load(file, "c", 10**7), models, alone=alone)


@pytest.mark.nightly
@pytest.mark.parametrize("end", range(1, 60))
def test_no_rule_fails_wherever_a_text_ends(models: ModelFactory, end: int) -> None:
    text = SHIPPED[0].read_text("utf-8")
    build_by_rules(read(text[end * 997 : end * 1994], "en"), models, alone=True)
