"""What a program is given: names, types, and errors that say what is meant.

Where a line is `type: ignore`d, mypy has to find it wrong, too: an ignored line that is right is an
error of `make lint`.
"""

from __future__ import annotations

import html
import inspect
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from pydantic import ValidationError

import fabula
from cases import for_each
from fabula import (
    Answer,
    AnswerStream,
    App,
    Collection,
    Entry,
    Fabula,
    FabulaError,
    LoadError,
    Outcome,
    Passage,
    Query,
    Quote,
    Reading,
    Settings,
    SettingsError,
    Usage,
    errors,
)
from fabula.ask.notebook import list_documents
from fabula.ask.query import query_options
from fabula.build.outcome import Listener
from fabula.build.renew import Damage
from fabula.cli.shared.options import ASKING
from fabula.config.settings import setting_fields
from fabula.graph.explore import AnalystQuery
from fabula.graph.trace import Trace
from fabula.library.reading import Lines
from fabula.models.counted import Meter
from fabula.models.progress import Progress
from fabula.operations.kit import find_operation
from fabula.server import ProgressReport
from fabula.service.core.asking import Question
from fabula.store import Store
from fabula.text.document import Chunk, Document
from fabula_scholar.pictures.plotting import Plotted
from hits import hit

HOSTILE = '<script>alert(1)</script> \x1b[31m $x$ \\(y\\) & "quoted"\nand more ' + "of it " * 90


# Names


def test_all_errors_and_the_version_are_public() -> None:
    every = {
        name
        for name, member in inspect.getmembers(errors, inspect.isclass)
        if member.__module__ == errors.__name__
    }
    assert every <= set(dir(fabula))
    for name in dir(fabula):
        assert getattr(fabula, name) is not None
    everything: dict[str, object] = {}
    exec("from fabula import *", everything)
    assert everything.keys() - {"__builtins__"} == set(dir(fabula))
    assert issubclass(fabula.TooLarge, FabulaError)
    assert fabula.__version__ == version("fabula")


@pytest.mark.parametrize("of", [App, Collection, AnswerStream])
def test_all_that_a_program_is_given_is_public(of: type[Any]) -> None:
    members = [method for name, method in inspect.getmembers(of) if not name.startswith("_")]
    given = [member.fget if isinstance(member, property) else member for member in members]
    # Types of what no question needs are not imported where methods are annotated with them.
    types = {name: getattr(fabula, name) for name in dir(fabula)}
    types |= {"Listener": Listener, "Progress": Progress, "Store": Store, "Meter": Meter}
    types |= {"Trace": Trace, "AnalystQuery": AnalystQuery}
    types |= {"ProgressReport": ProgressReport, "Damage": Damage}
    hints = [get_type_hints(method, localns=types)["return"] for method in given]
    results = {each for hint in hints for each in _classes(hint)}
    # The graph itself, for who looks behind all this.
    assert {result.__name__ for result in results} - {"Store"} <= set(dir(fabula))


def _classes(hint: Any, above: tuple[Any, ...] = ()) -> Iterator[type[Any]]:
    """Fabula's classes in a type and in the fields of those, also of one that holds its like."""
    for arg in get_args(hint):
        yield from _classes(arg, above)
    if isinstance(hint, type) and hint.__module__.startswith("fabula.") and hint not in above:
        yield hint
        if is_dataclass(hint):
            known = {name: getattr(fabula, name) for name in dir(fabula)} | {"Store": Store}
            for arg in get_type_hints(hint, localns=known).values():
                yield from _classes(arg, (*above, hint))


# Arguments


def test_a_name_or_a_method_that_there_is_not_is_told() -> None:
    with pytest.raises(AttributeError, match="No fabula attribute Fabla"):
        fabula.Fabla  # type: ignore[attr-defined]  # noqa: B018
    with App() as app, pytest.raises(AttributeError, match="no attribute 'colection'"):
        app.colection("novels")  # type: ignore[attr-defined]


def test_a_collection_stays_the_one_that_it_was_opened_as() -> None:
    with App() as app, pytest.raises(AttributeError, match="has no setter"):
        app.collection("novels").name = "diaries"  # type: ignore[misc]


def test_a_setting_that_there_is_not_is_a_type_error() -> None:
    hint = r"no setting 'colection'. Did you mean collection\?"
    with pytest.raises(TypeError, match=hint):
        Fabula(colection="novels")
    with pytest.raises(TypeError, match=hint):
        App(colection="novels")


def test_settings_come_by_name_or_as_one_value() -> None:
    with pytest.raises(TypeError, match="as collection='novels'"):
        Fabula("novels")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not both"):
        Fabula(Settings.read(), collection="novels")
    with pytest.raises(SettingsError, match="collection = 3: input should be a valid string"):
        Fabula(collection=3)
    with pytest.raises(SettingsError, match="'none', 'queries' or 'answer'"):
        Fabula(rewrite="parent")
    with Fabula(top_k=3, levels=2, graphs=["aspects"]) as fabula:
        assert (fabula.settings.top_k, fabula.settings.table("aspects").levels) == (3, 2)


def test_an_option_of_a_question_is_declared_once_and_is_the_same_everywhere() -> None:
    options = query_options()
    assert [*options] == [field.name for field in fields(Query)][1:]
    known = setting_fields()
    for name, option in options.items():
        assert option.description, name
        if option.setting:
            setting = known[option.setting]
            assert setting.annotation == get_args(option.annotation)[0], name
            assert (setting.default, setting.description) == (option.default, option.description)
    assert {option.setting for option in options.values()} - {""} <= {*ASKING}
    assert Question.model_fields.keys() - options.keys() == {"question", "conversation", "note"}
    assert {*find_operation("search").check({"question": "Who?"})} - {*options} == {
        *("question", "asker")
    }
    # Their bounds are those of the library, or closer ones.
    assert options.keys() - Question.model_fields.keys() == set()
    for given in ({"k": 0}, {"context_tokens": 15}, {"rewrite": "parent"}):
        with pytest.raises(ValidationError):
            Question(question="Who?", **given)


def test_an_option_that_no_question_has_is_a_type_error() -> None:
    with Fabula() as fabula:
        with pytest.raises(TypeError, match=r"no option 'aspect'. Did you mean aspects\?"):
            fabula.query("Who?", aspect="character")
        with pytest.raises(TypeError, match=r"no option 'top_k'. Its options are mode, k, "):
            fabula.stream("Who?", top_k=3)


def test_one_aspect_or_kind_needs_no_list_and_none_is_not_given() -> None:
    query = Query.of("Who?", Settings(), aspects="character", kinds="summary", mode=None, k="7")
    assert (query.aspects, query.kinds) == (("character",), ("summary",))
    assert (query.mode, query.k) == ("hybrid", 7)


@for_each(
    ("given", "problem"),
    [
        ({"k": "five"}, "k: input should be a valid integer"),
        ({"k": 0}, "k: input should be greater than or equal to 1"),
        ({"k": 2.5}, "k: input should be a valid integer"),
        ({"context_tokens": 0}, "context_tokens: input should be greater"),
        ({"rewrite": True}, "rewrite: input should be 'none', 'queries' or 'answer'"),
        ({"context": "words"}, "context: input should be 'auto', 'passages' or 'sentences'"),
        ({"levels": 2}, "levels: input should be a valid tuple"),
        ({"levels": "2-3-4"}, "levels: input should be a valid tuple"),
        ({"levels": (5, 2)}, r"levels \(5, 2\): the lowest comes first"),
        ({"aspects": [3]}, "aspects.0: input should be a valid string"),
        ({"document": 5}, "document: input should be an instance of Sequence"),
        ({"knobs": "width=3"}, "knobs: input should be a valid dictionary"),
        ({"mode": 3}, "mode: input should be a valid string"),
    ],
)
def test_a_value_that_no_question_can_have_is_told(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(SettingsError, match=f"A question's {problem}"):
        Query.of("Who?", Settings(), **given)


def test_what_is_given_as_another_type_says_what_is_wanted(tmp_path: Path) -> None:
    with App() as app:
        with pytest.raises(TypeError, match="name of a collection is a str, not 3"):
            app.collection(3)  # type: ignore[arg-type]
        novels = app.collection("novels")
        with pytest.raises(TypeError, match=r"not a list\. .* as `ingest\(\*paths\)`"):
            novels.ingest(["a.txt", "b.txt"])  # type: ignore[arg-type]
        with pytest.raises(TypeError, match=r"not a str but .*: `ingest` reads files"):
            novels.ingest_text(tmp_path, source="x")  # type: ignore[arg-type]
        with pytest.raises(LoadError, match="The text has no source: say where it is from"):
            novels.ingest_text("It was cold.", source="")
        with pytest.raises(TypeError, match="a str or a Query, not None"):
            novels.query(None)  # type: ignore[arg-type]


# What is shown


def test_settings_show_what_was_given_and_never_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEO4J_PASSWORD", "hunter2")
    monkeypatch.setenv("NEO4J_URI", "bolt://ann:hunter2@graph")
    with App(api_key="sk-secret", base_url="http://ann:hunter2@host/v1", top_k=3) as app:
        shown = f"{app!r} {app.settings} {app.collection()!r} {app.models!r}"
    assert "top_k=3" in shown
    assert "base_url='http://host/v1'" in shown
    assert not re.search("secret|hunter2|api_key|password|answer_tokens", shown)


def _values() -> Iterator[Any]:
    """One of each, all of whose texts are long and hostile."""
    passage = Passage(1, replace(hit("a", HOSTILE), title=HOSTILE, section=HOSTILE), HOSTILE, ())
    quote = Quote(1, passage.hit, ((0, 8), (9, 25)))
    facts: dict[str, Any] = {"collection": "c", "author": HOSTILE, "language": "en", "sha256": "0"}
    entry = Entry("d", title=HOSTILE, source=HOSTILE, tokens=9, created_at="", updated_at="",
                  graphs={}, **facts)  # fmt: skip
    document = Document("d", title=HOSTILE, source=HOSTILE, text=HOSTILE, sections=(), **facts)
    error = LoadError("x.txt can't be read.")
    yield Answer(HOSTILE, HOSTILE, (passage.hit,), (passage,), (1,))
    yield Answer(HOSTILE, HOSTILE, (passage.hit,), (passage,), (1,), quotes=(quote,))
    yield Reading(entry, (Lines(HOSTILE, 0, HOSTILE, ((0, 8),)),), ())
    yield from (passage.hit, passage, quote, entry, document, Usage(calls=3))
    yield Chunk("c", 3, HOSTILE, 0, 9, HOSTILE, 4)
    yield Outcome(HOSTILE, "added", title=HOSTILE, counts={"chunk": 3}, seconds=1.0)
    yield Outcome("x.txt", "failed", error=error)
    yield AnswerStream(HOSTILE, (), (), iter(()), Meter())


@for_each("value", [*_values()], ids=lambda one: type(one).__name__)
def test_a_value_is_shown_on_one_line(value: Any) -> None:
    assert re.fullmatch(r"[ -~…·]{8,220}", repr(value))


@pytest.mark.parametrize("value", [value for value in _values() if hasattr(value, "_repr_html_")])
def test_a_notebook_shows_texts_and_runs_none(value: Any) -> None:
    shown = value._repr_html_()
    assert "&lt;script&gt;" in shown
    assert "&amp; &quot;quoted&quot;<br>and more" in shown
    tags = {"b", "blockquote", "br", "details", "div", "p", "span", "summary"}
    assert set(re.findall(r"</?([^ >]*)", shown)) <= tags
    # Jupyter reads mathematics between two of these, in a text that no tag interrupts.
    for word in re.split(r"<[^>]*>", shown):
        assert not re.search(r"[$].*[$]|\\.", html.unescape(word), re.DOTALL)
    assert "color" not in shown


def test_an_answer_is_shown_with_what_it_cites() -> None:
    passages = [Passage(n, hit(str(n), f"The mill {n}."), f"The mill {n}.", ()) for n in (1, 2, 3)]
    hits = tuple(passage.hit for passage in passages)
    shown = Answer("Who?", "Martha [3, 1].", hits, tuple(passages), (3, 1))._repr_html_()
    assert re.findall(r"<blockquote>(.*?)</blockquote>", shown) == ["The mill 1.", "The mill 3."]
    quoted = replace(hits[1], text="Snow fell. Martha slept.")
    quotes = (Quote(2, quoted, ((11, 24),)),)
    shown = Answer("Who?", "", hits, tuple(passages), (), quotes=quotes)._repr_html_()
    assert "<blockquote>Snow fell. <b>Martha slept.</b></blockquote>" in shown


def test_documents_are_a_table() -> None:
    [entry] = [value for value in _values() if isinstance(value, Entry)]
    shown = list_documents([entry], 1_201)
    assert "<script" not in shown
    assert shown.count("<tr>") == 2
    assert "and 1,200 more" in shown


def test_a_picture_is_shown_and_a_page_is_named(tmp_path: Path) -> None:
    picture = tmp_path / "<b>.svg"
    picture.write_text("<svg/>")
    shown = Plotted(picture, 7, (), True)._repr_html_()
    assert 'src="data:image/svg+xml;base64,PHN2Zy8+"' in shown
    assert "&lt;b&gt;.svg: 7 passages" in shown
    assert Plotted(Path("a.html"), 7, (), True)._repr_html_() == "<p>a.html: 7 passages</p>"
