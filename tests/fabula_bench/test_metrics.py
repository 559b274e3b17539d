"""What is measured without a model: known values, and what has nothing to measure."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import for_each
from fabula.errors import SettingsError
from fabula_bench.metrics import Judges, metric, missing, names
from fabula_bench.metrics.overlap import words
from fabula_bench.model import BenchQuestion, Result, Retrieved

NOBODY = Judges()
ANSWERED = ("exact_match", "token_f1", "rouge_l", "bleu_1", "bleu_4", "meteor")
GUIDE = (
    "It is a guide to action which ensures that the military always obeys the commands of the party"
)
HEEDED = "It is a guide to action that ensures that the military will forever heed Party commands"


def asked(
    *answers: str,
    question: str = "Who?",
    evidence: tuple[str, ...] = (),
    options: tuple[str, ...] = (),
    right: int | None = None,
    text: str = "t",
) -> BenchQuestion:
    return BenchQuestion("q", text, question, answers, options, right, evidence)


def result(answer: str = "", *context: str, choice: int | None = None, tokens: int = 0) -> Result:
    passages = [
        Retrieved(str(n), "chunk", "", 0, "", 0, 1, 0.5, text) for n, text in enumerate(context)
    ]
    return Result("fabula", "q", answer, choice, tuple(passages), (), tokens, 1, 10, 5, 0.1)


def score(
    name: str, question: BenchQuestion, told: Result, judges: Judges = NOBODY
) -> float | None:
    return metric(name).score(question, told, judges)


@for_each("name", names())
def test_every_metric_states_its_range_its_source_and_what_it_can_not_tell(name: str) -> None:
    measure = metric(name)
    assert measure.name == name and measure.lowest < measure.highest
    assert measure.source and measure.blind.endswith(".") and measure.needs


def test_an_unknown_metric_is_refused_with_the_nearest() -> None:
    with pytest.raises(SettingsError, match=r"no metric rouge-1\. Did you mean rouge_l\?"):
        metric("rouge-1")
    with pytest.raises(SettingsError, match="There are: accuracy, exact_match"):
        metric("zzz")


def test_a_metric_that_can_never_be_taken_says_why() -> None:
    assert missing(metric("meteor"), NOBODY) == ""
    told = missing(metric("answer_accuracy"), NOBODY)
    assert told.startswith("answer_accuracy needs an embedding model and a chat model that judges:")
    lacking = replace(metric("meteor"), library="no_such_library")
    assert "pip install 'fabula[bench]'" in missing(lacking, NOBODY)


@for_each("name", ["answer_accuracy", "answer_correctness"])
def test_without_who_judges_there_is_no_score(name: str) -> None:
    assert score(name, asked("Fred"), result("Fred")) is None


@for_each("name", ANSWERED)
def test_no_answer_is_a_miss_and_without_a_reference_there_is_no_score(name: str) -> None:
    assert score(name, asked("Fred"), result("")) == 0
    assert score(name, asked("Fred"), result(" [1][2] ")) == 0
    assert score(name, asked(), result("Fred")) is None
    assert score(name, asked(" "), result("Fred")) is None


@for_each("name", ["answer_coverage", "evidence_coverage", "duplicates"])
def test_no_context_is_a_miss(name: str) -> None:
    question = asked("Fred", evidence=("Fred came.",))
    assert score(name, question, result("Fred")) == (None if name == "duplicates" else 0)


@for_each(("choice", "expected"), [(2, 1.0), (0, 0.0), (None, 0.0)])
def test_accuracy_is_whether_the_right_option_was_chosen(
    choice: int | None, expected: float
) -> None:
    question = asked("C", options=("A", "B", "C", "D"), right=2)
    assert score("accuracy", question, result("C", choice=choice)) == expected


@for_each(
    ("answer", "reference", "exact", "f1"),
    [
        ("The Eiffel-Tower!", "eiffeltower", 1, 1),
        ("Harry Potter and the cat", "the cat Harry", 0, 2 / 3),
        ("cat cat", "cat", 0, 2 / 3),
        ("„Zażółć, gęślą…”", "zażółć gęślą", 1, 1),
        ("the", "a", 1, 1),
        ("the", "cat", 0, 0),
        ("Fred [1], the nephew [2, 3].", "Fred, the nephew.", 1, 1),
    ],
)
def test_exact_match_and_token_f1_normalise_as_squad_does(
    answer: str, reference: str, exact: float, f1: float
) -> None:
    assert score("exact_match", asked(reference), result(answer)) == exact
    assert score("token_f1", asked(reference), result(answer)) == pytest.approx(f1)


@for_each(
    ("answer", "reference", "expected"),
    [
        ("police kill the gunman", "police ended the gunman", 0.75),
        ("the gunman kill police", "police ended the gunman", 0.5),
        ("police kill the gunman", "police killed the gunman", 1.0),
        ("zażółć gęślą jaźń", "Zażółć gęślą!", 0.8),
    ],
)
def test_rouge_l_is_of_the_longest_common_subsequence(
    answer: str, reference: str, expected: float
) -> None:
    assert score("rouge_l", asked(reference), result(answer)) == pytest.approx(expected)


def test_rouge_l_is_the_librarys_where_letters_are_english() -> None:
    from rouge_score.rouge_scorer import RougeScorer

    theirs = RougeScorer(["rougeL"], use_stemmer=True).score(HEEDED, GUIDE)["rougeL"].fmeasure
    assert score("rouge_l", asked(HEEDED), result(GUIDE)) == pytest.approx(theirs)


def test_bleu_counts_a_word_as_often_as_the_reference_has_it() -> None:
    question = asked("The cat is on the mat.")
    assert score("bleu_1", question, result("the the the the the the the")) == pytest.approx(2 / 7)
    assert score("bleu_1", question, result("the cat")) == pytest.approx(2.718281828 ** (1 - 3))


def test_bleu_is_1_for_the_reference_however_short_and_0_for_other_words() -> None:
    for name in ("bleu_1", "bleu_4"):
        assert score(name, asked("Fred.", "his nephew"), result("fred")) == pytest.approx(1)
        assert score(name, asked("Fred"), result("Marley")) == 0


def test_meteor_is_nltks_but_for_synonyms() -> None:
    assert score("meteor", asked(HEEDED), result(GUIDE)) == pytest.approx(0.6944, abs=1e-4)
    assert score("meteor", asked("the cats"), result("the cat")) == pytest.approx(1 - 0.5 / 8)
    assert score("meteor", asked("jaźń"), result("Jaźń!")) == 0.5
    assert score("meteor", asked("kill"), result("murder")) == 0


@for_each("name", ANSWERED)
def test_the_reference_that_is_nearest_counts(name: str) -> None:
    answer = result("his nephew Fred came")
    alone = score(name, asked("his nephew Fred came"), answer)
    assert score(name, asked("Marley", "his nephew Fred came", ""), answer) == alone


@settings(max_examples=30)
@given(answer=st.text(max_size=40), reference=st.text(min_size=1, max_size=40))
def test_scores_keep_to_their_range_whatever_the_texts(answer: str, reference: str) -> None:
    for name in ANSWERED:
        measured = score(name, asked(reference), result(answer))
        assert measured is None or 0 <= measured <= 1


@for_each("name", ANSWERED)
def test_marks_alone_are_no_words(name: str) -> None:
    assert score(name, asked("Fred"), result("?!")) == 0
    assert score(name, asked("?!"), result("Fred")) == 0


def test_words_are_without_marks_in_any_script() -> None:
    assert words("Don't—„Zażółć” gęślą_jaźń, 12") == ["don", "t", "zażółć", "gęślą", "jaźń", "12"]


def test_answer_coverage_is_the_mean_over_the_references_without_the_questions_words() -> None:
    answers = ("Fred burned the letter", "Marley", "the letter")
    question = asked(*answers, question="Who burned the letter?")
    held = result("", "Fred was burning letters.", "He wept.")
    assert score("answer_coverage", question, held) == 0.5
    assert score("answer_coverage", question, result("", "Nobody.")) == 0
    assert score("answer_coverage", asked("who?", question="Who?"), held) is None


def test_stems_are_of_the_texts_language() -> None:
    question, polish = asked("zamkiem", text="pl"), Judges(languages={"pl": "pl"})
    held = result("", "Stali przed zamkami.")
    assert score("answer_coverage", question, held, polish) == 1
    assert score("answer_coverage", question, held) == 0


def test_evidence_coverage_is_the_mean_over_the_statements() -> None:
    evidence = ("Scrooge dismissed the clerk", "Fred brought a goose")
    question = asked(question="What did Scrooge do?", evidence=evidence)
    assert score("evidence_coverage", question, result("", "The clerk was dismissed.")) == 0.5


def test_all_evidence_needs_three_fifths_of_every_statement() -> None:
    evidence = ("alpha beta gamma delta epsilon", "alpha zeta")
    question = asked(question="What is zeta?", evidence=evidence)
    assert score("all_evidence", question, result("", "alpha beta gamma", "zeta")) == 1
    assert score("all_evidence", question, result("", "alpha beta zeta")) == 0
    assert score("all_evidence", question, result("", "alpha beta gamma delta")) == 0


def test_duplicates_are_sentences_that_were_said_before() -> None:
    twice = result("", "Marley was dead. Fred came.", "MARLEY  was dead. He wept.")
    assert score("duplicates", asked(), twice) == 0.25
    assert score("duplicates", asked(), result("", "Marley was dead. Fred came.")) == 0


def test_context_tokens_are_those_of_the_result() -> None:
    assert score("context_tokens", asked(), result("", "Marley was dead.", tokens=5)) == 5
