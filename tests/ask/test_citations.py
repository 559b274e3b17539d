"""What is told of the citations of an answer: those of nothing, and that there are none."""

from __future__ import annotations

from dataclasses import replace

from cases import for_each
from fabula.ask.answer import Answer, find_citations
from fabula.config.settings import Settings
from fabula.export.markdown import markdown
from fabula.graph.hits import Passage, Quote
from fabula.graph.trace import Trace
from fabula.models import NO_ANSWER
from fabula.operations.shown_answer import show_answer
from fabula.service.page.answers import lay_out
from hits import hit

TEXTS = ("Fred laughed.", "Marley was dead.")
CONTEXT = tuple(
    Passage(number, hit(f"c{number}", text), text, ((0, len(text)),))
    for number, text in enumerate(TEXTS, 1)
)


def answer(text: str) -> Answer:
    return Answer("Who?", text, (), CONTEXT, find_citations(text, [1, 2]))


@for_each(
    ("text", "warning"),
    [
        ("Fred is the nephew [1]. He laughed [1, 2].", ""),
        ("Fred is the nephew [99].", "[99] is no passage of this answer."),
        ("Fred [1] laughed [0].", "[0] is no passage of this answer."),
        ("Fred [1; 7] laughed [3, 1].", "[7], [3] are no passages of this answer."),
        (
            "".join(f"[{number}]" for number in range(3, 10)),
            "[3], [4], [5], [6], [7] and 2 more are no passages of this answer.",
        ),
        (
            "Fred is the nephew.",
            "This answer cites no passage. The closest that it was given: [1] T; [2] T.",
        ),
        (NO_ANSWER, ""),
        ("", ""),
    ],
)
def test_what_cites_nothing_is_told(text: str, warning: str) -> None:
    assert answer(text).citation_warning == warning


def test_the_closest_passages_are_named_first_beside_an_answer_that_cites_none() -> None:
    cited = replace(answer("Fred laughed."), hits=(CONTEXT[1].hit,))
    warning = show_answer(cited, Settings(), Trace(), 0.1).shorten().warning
    assert warning.index("[2]") < warning.index("[1]")


def test_nothing_is_told_where_nothing_could_be_cited_or_no_model_wrote() -> None:
    assert replace(answer("Nothing was found."), context=()).citation_warning == ""
    extract = replace(answer("Fred laughed."), quotes=(Quote(1, CONTEXT[0].hit, ((0, 4),)),))
    assert extract.citation_warning == ""


def test_a_number_without_a_passage_is_marked_and_listed_everywhere() -> None:
    cited = answer("Fred laughed [1, 99]. Marley was dead [0].")
    assert cited.missing_citations == (99, 0)
    shown = show_answer(cited, Settings(), Trace(), 0.1)
    assert shown.missing_citations == (99, 0)
    assert shown.warning == shown.shorten().warning == "[99], [0] are no passages of this answer."
    [paragraph] = lay_out(replace(shown, offline=False), "tales").paragraphs
    assert [(run.text, run.cites, run.quotation) for run in paragraph if "[" in run.text] == [
        *(("[1]", 1, ""), ("[99]", 0, "missing citation"), ("[0]", 0, "missing citation")),
    ]
    text = markdown(cited, ())
    assert "Fred laughed [^1][99]. Marley was dead [0]." in text
    assert r"are no passages of this answer" in text
