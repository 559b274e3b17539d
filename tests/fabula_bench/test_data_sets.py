"""Data sets of questions, read from files as they are released."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from cases import for_each
from fabula.errors import DataError
from fabula.load import read_text
from fabula_bench.data import SMOKE, describe_subset, read
from fabula_bench.model import BenchQuestion, DataSet, Text
from fabula_bench.plan import read_data
from fabula_bench.suite import DataOverrides, Suite, read_suite

DEV = "QuALITY.v1.0.1.htmlstripped.dev"
SUMMARIES = "third_party/wikipedia/summaries.csv"
DOCUMENTS = (
    "document_id,set,kind,story_url,story_file_size,wiki_url,wiki_title,story_word_count,"
    "story_start,story_end"
)
QUESTIONS = (
    "document_id,set,question,answer1,answer2,question_tokenized,answer1_tokenized,"
    "answer2_tokenized"
)
STORY = (
    "The fox    Reynard    , who had lied, ran to the hill.\n \n   He stayed there until spring."
)


@pytest.fixture(scope="module")
def shipped() -> dict[str, DataSet]:
    return {
        "quality": read("quality", SMOKE / "quality", "dev"),
        "squality": read("squality", SMOKE / "squality", "dev"),
        "narrativeqa": read("narrativeqa", SMOKE / "narrativeqa", "test"),
    }


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def put_lines(path: Path, items: Iterable[Mapping[str, Any]]) -> None:
    put(path, "".join(f"{json.dumps(item)}\n" for item in items))


def put_rows(path: Path, names: str, rows: Iterable[Mapping[str, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names.split(","), restval="")
        writer.writeheader()
        writer.writerows(rows)


def asked(id: str, **facts: Any) -> dict[str, Any]:
    options = ["the  hill", "the sea", "the town", "the wood"]
    return {
        "question": f"Where\n to ({id})?",
        "question_unique_id": id,
        "options": options,
        **facts,
    }


def article(*questions: Mapping[str, Any], **facts: Any) -> dict[str, Any]:
    known = {"article_id": "1", "title": "The Fox", "author": "A. Hunter", "article": STORY}
    return {**known, "questions": questions, **facts}


def novel_question(id: str, source: str = "Novel-7") -> dict[str, Any]:
    return {
        "id": id,
        "source": source,
        "question": "Who ran?",
        "answer": "Reynard.",
        "question_type": "Fact Retrieval",
        "evidence": ["Reynard ran to the hill."],
        "evidence_triple": ["(Reynard, ran to, the hill)"],
    }


def refused(name: str, folder: Path, part: str) -> str:
    with pytest.raises(DataError) as caught:
        read(name, folder, part)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "texts", "questions"),
    [("quality", 3, 38), ("squality", 4, 20), ("narrativeqa", 1, 12)],
)
def test_a_few_texts_and_questions_are_shipped(
    shipped: dict[str, DataSet], name: str, texts: int, questions: int
) -> None:
    found = shipped[name]
    assert (found.name, len(found.texts), len(found.questions)) == (name, texts, questions)
    assert len({question.id for question in found.questions}) == questions
    assert {question.text for question in found.questions} == {text.id for text in found.texts}
    assert all(question.answers and all(question.answers) for question in found.questions)
    assert all(text.title and text.language == "en" for text in found.texts)
    assert (SMOKE / name / "LICENCE.md").is_file()


def test_what_is_shipped_is_small() -> None:
    assert sum(path.stat().st_size for path in SMOKE.rglob("*") if path.is_file()) < 600_000


def test_texts_come_clean_so_that_ingesting_them_changes_nothing(
    shipped: dict[str, DataSet],
) -> None:
    for text in (text for found in shipped.values() for text in found.texts):
        assert read_text(text.text, source=text.id, collection="default").text == text.text
        assert not re.search(r"<!--|Transcriber's Note|pgdp\.net|Project Gutenberg|  ", text.text)
        assert not re.search(r"\w [,;:!?](?! ?\.)", text.text)


def test_every_file_read_is_hashed(shipped: dict[str, DataSet]) -> None:
    assert set(shipped["narrativeqa"].sha256) == {
        "documents.csv",
        "qaps.csv",
        "tmp/sleepy-hollow.content",
    }
    content = (SMOKE / "quality" / DEV).read_bytes()
    assert shipped["quality"].sha256 == {DEV: hashlib.sha256(content).hexdigest()}


def test_squality_asks_first_for_the_plot_and_has_four_answers(
    shipped: dict[str, DataSet],
) -> None:
    first, *others = shipped["squality"].questions[:5]
    assert (first.kind, {other.kind for other in others}) == ("plot", {"specific"})
    assert all(len(question.answers) == 4 for question in shipped["squality"].questions)


def test_squality_has_titles_and_authors_above_the_stories(shipped: dict[str, DataSet]) -> None:
    heads = [(text.title, text.author) for text in shipped["squality"].texts]
    assert ("Morgue Ship", "RAY BRADBURY") in heads
    assert ("Doorway to Kal-Jmar", "Stuart Fleming") in heads


def test_a_wrapped_story_of_squality_is_unwrapped_around_its_italics(tmp_path: Path) -> None:
    document = (
        "\n\n\n\nProduced by A. Reader and the Online\nDistributed Proofreading Team at "
        "http://www.pgdp.net\nTHE FOX\nBy A. HUNTER\nIt ran, and it was not\n   \n  seen again.\n"
        " \n  [Transcriber's Note: from a\n   \n  magazine.]\nWhen it was the\nculcha\n, it was "
        "late\nin the year.\n \n  Nobody came.\nEnd of Project Gutenberg's The Fox, by A. Hunter\n"
    )
    question = {"question_text": "What is the plot?", "question_number": 1, "responses": []}
    line = {"metadata": {"passage_id": "9"}, "document": document, "questions": [question]}
    put_lines(tmp_path / "test.jsonl", [line])
    [text] = read("squality", tmp_path, "test").texts
    assert (text.title, text.author) == ("THE FOX", "A. HUNTER")
    assert text.text == (
        "It ran, and it was not seen again.\n\nWhen it was the culcha, it was late in the year.\n\n"
        "Nobody came."
    )


def test_the_two_lines_of_an_article_of_quality_are_one_text(tmp_path: Path) -> None:
    lines = [
        article(asked("a", gold_label=1, difficult=1)),
        article(asked("x", gold_label=2, difficult=0), article_id="2"),
        article(asked("b", gold_label=4, difficult=None)),
    ]
    put_lines(tmp_path / DEV, lines)
    found = read("quality", tmp_path, "dev")
    assert [text.id for text in found.texts] == ["1", "2"]
    assert found.texts[0].text == (
        "The fox Reynard, who had lied, ran to the hill.\n\nHe stayed there until spring."
    )
    facts = [(q.id, q.text, q.right, q.answers, q.is_hard) for q in found.questions]
    assert facts == [
        ("a", "1", 0, ("the hill",), True),
        ("x", "2", 1, ("the sea",), False),
        ("b", "1", 3, ("the wood",), None),
    ]
    assert found.questions[0].question == "Where to (a)?"


def test_the_test_part_of_quality_has_no_right_option(tmp_path: Path) -> None:
    put_lines(tmp_path / "QuALITY.v1.0.1.htmlstripped.test", [article(asked("a"))])
    [question] = read("quality", tmp_path, "test").questions
    assert (question.right, question.answers, len(question.options)) == (None, (), 4)


def test_a_byte_order_mark_and_empty_lines_are_no_content(tmp_path: Path) -> None:
    line = json.dumps(article(asked("a", gold_label=1)))
    put(tmp_path / DEV, f"\ufeff\r\n{line}\r\n\r\n")
    assert len(read("quality", tmp_path, "dev").questions) == 1


def test_narrativeqa_keeps_two_answers_and_the_story_without_its_library(
    shipped: dict[str, DataSet],
) -> None:
    [story] = shipped["narrativeqa"].texts
    assert (story.title, story.author) == ("The Legend of Sleepy Hollow", "Washington Irving")
    assert story.text.startswith("THE LEGEND OF SLEEPY HOLLOW")
    assert "I don’t believe one-half of it myself" in story.text[-100:]
    assert all(len(question.answers) == 2 for question in shipped["narrativeqa"].questions)


def test_narrativeqa_can_be_asked_of_the_summaries() -> None:
    found = read("narrativeqa", SMOKE / "narrativeqa", "test-summaries")
    assert found.texts[0].text.startswith("Ichabod Crane, a lean")
    assert set(found.sha256) == {"documents.csv", "qaps.csv", SUMMARIES}


def test_a_film_script_begins_and_ends_at_its_marks(tmp_path: Path) -> None:
    menus = "<a href='/'>All Scripts</a> "
    script = "<b>THE FOX\nWritten by A. Hunter</b>\n\nEXT. HILL\n\nReynard runs.\n\n" * 30
    page = f"<html><body>{menus}<pre>Menu\n\n{script}THE\nEND\n\nBack</pre>{menus}</body></html>"
    put(tmp_path / "tmp" / "f.content", page)
    row = {"document_id": "f", "set": "valid", "kind": "movie", "wiki_title": "The Fox (film)"}
    marks = {"story_start": "THE FOX Written", "story_end": ". THE END"}
    put_rows(tmp_path / "documents.csv", DOCUMENTS, [row | marks])
    put_rows(tmp_path / "qaps.csv", QUESTIONS, [])
    [text] = read("narrativeqa", tmp_path, "valid").texts
    assert text.title == "The Fox (film)"
    assert text.text.startswith("THE FOX")
    assert text.text.split()[-2:] == ["THE", "END"]


def test_graphrag_bench_is_read_as_released(tmp_path: Path) -> None:
    context = "Reynard ran to the hill. " * 20
    corpus = [{"corpus_name": f"Novel-{number}", "context": context} for number in (7, 8)]
    put(tmp_path / "Datasets/Corpus/novel.json", json.dumps(corpus))
    twice = [novel_question("Novel-55f0c0e2"), novel_question("Novel-55f0c0e2")]
    twice[1]["evidence"] = "Reynard ran."
    put(tmp_path / "Datasets/Questions/novel_questions.json", json.dumps(twice))
    found = read("graphrag-bench", tmp_path, "novel")
    assert [text.id for text in found.texts] == ["Novel-7"], "texts that nobody asks about"
    assert [question.id for question in found.questions] == ["Novel-55f0c0e2", "Novel-55f0c0e2-2"]
    assert found.questions[0].kind == "Fact Retrieval"
    assert found.questions[0].evidence == ("Reynard ran to the hill.",)
    assert found.questions[1].evidence == ("Reynard ran.",)


@pytest.mark.parametrize("is_alone", [True, False])
def test_graphrag_bench_has_a_medical_part(tmp_path: Path, is_alone: bool) -> None:
    corpus: Any = {"corpus_name": "Medical", "context": "The skin has three layers. " * 20}
    put(tmp_path / "Datasets/Corpus/medical.json", json.dumps(corpus if is_alone else [corpus]))
    asked = [novel_question("Medical-73586ddc", "Medical")]
    put(tmp_path / "Datasets/Questions/medical_questions.json", json.dumps(asked))
    found = read("graphrag-bench", tmp_path, "medical")
    assert [text.id for text in found.texts] == ["Medical"]
    assert [question.id for question in found.questions] == ["Medical-73586ddc"]


def test_graphrag_bench_may_have_books_in_place_of_its_corpus(tmp_path: Path) -> None:
    book = (
        "The Project Gutenberg EBook of The Fox, by A. Hunter\n\nTitle: The Fox\n\n"
        "Author: A. Hunter\n\n*** START OF THIS PROJECT GUTENBERG EBOOK THE FOX ***\n\n"
        "The caf\xe9 by the hill was closed, and Reynard was not there.\n\n"
        "*** END OF THIS PROJECT GUTENBERG EBOOK THE FOX ***\n"
    )
    put(tmp_path / "novel_questions.json", json.dumps([novel_question("a")]))
    (tmp_path / "novels").mkdir()
    (tmp_path / "novels" / "7-8.txt").write_bytes(book.encode("latin-1"))
    [text] = read("graphrag-bench", tmp_path, "novel").texts
    assert (text.id, text.title, text.author) == ("Novel-7", "The Fox", "A. Hunter")
    assert text.text == "The café by the hill was closed, and Reynard was not there."


def test_graphrag_bench_needs_the_novel_of_every_question(tmp_path: Path) -> None:
    put(tmp_path / "Datasets/Corpus/novel.json", "[]")
    asks = [novel_question("a", "Novel-9")]
    put(tmp_path / "Datasets/Questions/novel_questions.json", json.dumps(asks))
    assert "novel_questions.json, item 1" in refused("graphrag-bench", tmp_path, "novel")
    put(tmp_path / "novel_questions.json", json.dumps(asks))
    assert "novels/9.txt is missing" in refused("graphrag-bench", tmp_path, "novel")


def test_a_data_set_of_ones_own_has_files_or_texts_as_documents(tmp_path: Path) -> None:
    put(tmp_path / "books" / "the-fox.md", "# The Fox\n\nReynard ran to the hill.")
    lines: list[dict[str, Any]] = [
        {"document": "books/the-fox.md", "question": "Who ran?", "answers": ["Reynard"]},
        {"document": "The hen stayed at home.", "question": "Who stayed?", "answers": ["the hen"]},
        {
            "document": "books/the-fox.md",
            "question": "Where to?",
            "answers": ["the hill"],
            "options": ["the sea", "the hill"],
        },
    ]
    put_lines(tmp_path / "mine.jsonl", lines)
    found = read("own", tmp_path, "mine")
    assert [text.title for text in found.texts][:1] == ["The Fox"]
    assert found.texts[1].text == "The hen stayed at home."
    assert [question.id for question in found.questions] == ["mine-1", "mine-2", "mine-3"]
    assert [question.right for question in found.questions] == [None, None, 1]
    assert set(found.sha256) == {"mine.jsonl", "books/the-fox.md"}


# Several parts, and the subset of Project Gutenberg


def put_quality(folder: Path) -> None:
    """A train and a dev part, each with a library's story and an article of a magazine."""
    for part, number in (("train", 1), ("dev", 3)):
        items = [
            article(
                asked(f"{number}-1", gold_label=1, difficult=1),
                asked(f"{number}-2", gold_label=1, difficult=0),
                article_id=str(number),
                source="Gutenberg",
            ),
            article(
                asked(f"{number}-3", gold_label=1, difficult=1),
                article_id=str(number + 1),
                source="Slate",
            ),
        ]
        put_lines(folder / f"QuALITY.v1.0.1.htmlstripped.{part}", items)


def quality_suite(**data: Any) -> Suite:
    overrides = DataOverrides(**{"set": "quality", "part": "dev", **data})
    return overrides.apply(read_suite("sweep-top-k"))


def test_several_parts_are_read_as_one(tmp_path: Path) -> None:
    put_quality(tmp_path)
    both = read("quality", tmp_path, "train+dev")
    assert [text.id for text in both.texts] == ["1", "2", "3", "4"]
    assert [question.id for question in both.questions] == [
        "1-1",
        "1-2",
        "1-3",
        "3-1",
        "3-2",
        "3-3",
    ]
    assert len(both.sha256) == 2
    assert "test is missing" in refused("quality", tmp_path, "all")
    assert "parts are train, dev, test, all" in refused("quality", tmp_path, "train+devel")


def test_gutenberg_s_texts_are_chosen_by_their_source(tmp_path: Path) -> None:
    put_quality(tmp_path)
    data = read_data(quality_suite(only="gutenberg"), tmp_path)
    assert [text.id for text in data.texts] == ["3"]
    assert [question.id for question in data.questions] == ["3-1", "3-2"]
    assert data.subset == (
        "Project Gutenberg's texts of quality, dev: 1 texts with 2 questions. They are not the "
        "counts of the aspect graph's publication, which has 259 texts with 4,923 questions. It "
        "took texts of all parts, and this is dev: see --part all."
    )
    hard = read_data(quality_suite(only="gutenberg", hard=True, part="train+dev"), tmp_path)
    assert [question.id for question in hard.questions] == ["1-1", "3-1"]
    assert "2 texts with 2 hard questions" in hard.subset
    assert "259 texts with 2,606 hard questions" in hard.subset
    assert read_data(quality_suite(), tmp_path).subset == ""


def test_gutenberg_s_books_of_narrativeqa_need_no_film_scripts(tmp_path: Path) -> None:
    rows = [
        {"document_id": id, "set": "test", "kind": kind, "wiki_title": id}
        for id, kind in (("book", "gutenberg"), ("film", "movie"))
    ]
    put_rows(tmp_path / "documents.csv", DOCUMENTS, rows)
    questions = [
        {"document_id": id, "set": "test", "question": "Who?", "answer1": "He.", "answer2": "Him."}
        for id in ("book", "film")
    ]
    put_rows(tmp_path / "qaps.csv", QUESTIONS, questions)
    put(tmp_path / "tmp" / "book.content", STORY)
    data = read("narrativeqa", tmp_path, "test", "gutenberg")
    assert [text.id for text in data.texts] == ["book"]
    assert [question.id for question in data.questions] == ["book-1"]
    assert "706 texts with 21,894 questions" in describe_subset(data, "test", hard=False)
    assert "film.content is missing" in refused("narrativeqa", tmp_path, "test")


def test_a_data_set_that_marks_no_library_is_not_cut() -> None:
    with pytest.raises(DataError, match=r"doesn't say .*: quality, narrativeqa\."):
        read("squality", SMOKE / "squality", "dev", "gutenberg")


@for_each(
    ("questions", "part", "says"),
    [
        (4923, "all", "These are the counts of the aspect graph's publication."),
        (4900, "all", "It chose the narratives among them by hand, and has no list of them."),
        (4900, "dev", "It took texts of all parts, and this is dev: see --part all."),
    ],
)
def test_published_counts_stand_beside_those_of_the_data(
    questions: int, part: str, says: str
) -> None:
    texts = tuple(Text(str(number), "", "", "en", "Words.") for number in range(259))
    asked = tuple(
        BenchQuestion(str(number), str(number % 259), "Who?", ("He.",))
        for number in range(questions)
    )
    sentence = describe_subset(DataSet("quality", texts, asked, {}), part, hard=False)
    assert sentence.startswith("Project Gutenberg's texts of quality, ")
    assert f"259 texts with {questions:,} questions" in sentence
    assert sentence.endswith(says)


def test_questions_without_a_reference_answer_are_counted() -> None:
    texts = (Text("1", "", "", "en", "Words."),)
    data = DataSet("quality", texts, (BenchQuestion("1-1", "1", "Who?"),), {})
    sentence = describe_subset(data, "train+dev+test", hard=False)
    assert "1 questions have no reference answer" in sentence
    assert "--part all" not in sentence
