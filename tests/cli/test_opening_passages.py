"""Every number on the screen can be opened, in the order in which README and help print it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from commands import run
from database import name_server
from fabula import Fabula
from fabula.cli.commands.demo import QUESTION, STORY
from fabula.cli.shared.last_answer import recall_answer
from fabula.server import Address
from isolation import shared_graph

README = Path(__file__).parents[2] / "README.md"


@pytest.fixture(scope="module")
def filled(address: Address, tmp_path_factory: pytest.TempPathFactory) -> None:
    with (
        shared_graph(address, tmp_path_factory.mktemp("carol")),
        resources.as_file(resources.files("fabula.texts") / STORY) as story,
        Fabula(collection="demo") as fabula,
    ):
        fabula.ingest(story, graphs=["aspects"])


@pytest.fixture
def carol(filled: None, address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    name_server(monkeypatch, address)


def test_what_is_printed_can_be_opened(carol: None) -> None:
    for question in (QUESTION, "Who is Tiny Tim?"):
        shown = run("query", "--collection", "demo", question).stdout
        numbers = re.findall(r"(?m)^\[(\d+)\] ", shown)
        assert numbers == [str(number) for number in range(1, len(numbers) + 1)]
        assert len(numbers) >= 3
        assert "`fabula read 1` opens one" in shown
    # The hint of the demo, in the order in which it is printed.
    assert "[1] of the answer to 'Who is Tiny Tim?'" in run("read", "1").stderr
    shown = run("query", "-c", "demo", "Who is Tiny Tim?", "--show-context").stdout
    everything = sorted({int(number) for number in re.findall(r"(?m)^\[(\d+)\] ", shown)})
    assert everything == list(range(1, len(everything) + 1))
    for number in (everything[0], everything[-1]):
        assert f"[{number}] of the answer to" in run("read", str(number)).stderr
    beyond = run("read", f"[{len(everything) + 1}]", code=1).stderr
    assert f"Its passages are numbered 1 to {len(everything)}." in beyond


def test_who_reads_only_the_beginning_of_an_answer_can_open_what_it_cites(carol: None) -> None:
    reads, writes = os.pipe()
    os.close(reads)  # as `| head` does once it has enough
    command = [sys.executable, "-m", "fabula", "query", "--collection", "demo", QUESTION]
    assert subprocess.run(command, stdout=writes, check=False).returncode == 1
    os.close(writes)
    assert f"[1] of the answer to {QUESTION!r}" in run("read", "1").stderr


def test_passages_below_summaries_have_numbers_of_their_own(carol: None) -> None:
    """Three different passages were all numbered [1]."""
    shown = run("query", "-c", "demo", "Who is Scrooge's nephew?", "--aspect", "character").stdout
    numbers = re.findall(r"(?m)^\[(\d+)\] ", shown)
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]
    assert len(numbers) >= 3
    run("read", "3")


def test_the_readmes_questions_run_as_printed(carol: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FABULA_COLLECTION", "demo")
    text = README.read_text(encoding="utf-8")
    block = text[text.index('fabula query "Why does') :].partition("```")[0]
    lines = [line.partition(" # ")[0] for line in block.splitlines()]
    asked = [shlex.split(line)[1:] for line in lines if re.match("fabula (query|read) ", line)]
    assert ["read", "3"] in asked
    for arguments in asked:
        run(*arguments)


def test_a_question_about_something_else_is_not_answered(carol: None) -> None:
    shown = run("query", "-c", "demo", "What is the price of bitcoin?").stdout
    assert shown.startswith("The passages found do not answer this question.")
    assert "no passage has enough of the question's words" in shown
    with Fabula(collection="demo") as fabula:
        assert recall_answer(fabula.settings.home).citations == ()


def test_the_end_is_found_and_quotes_have_the_numbers_of_the_context(
    carol: None,
) -> None:
    with Fabula(collection="demo") as fabula:
        last = fabula.query("How does the story end?").quotes[0].hit
        assert "God bless Us, Every One!" in last.text
        quotes = fabula.query("Who was Jacob Marley?").quotes
        context = fabula.query("Who was Jacob Marley?").context
    assert [passage.number for passage in context] == list(range(1, len(context) + 1))
    assert [quote.hit.id for quote in quotes] == [each.hit.id for each in context[: len(quotes)]]


def test_the_first_mention_of_a_whole_name_is_among_the_three(carol: None) -> None:
    with Fabula(collection="demo") as fabula:
        quotes = fabula.query("Who was Jacob Marley?").quotes
    shown = [quote.hit.text for quote in quotes[:3]]
    assert any("In life I was your partner, Jacob Marley." in text for text in shown)


def test_a_follow_up_keeps_the_name(carol: None) -> None:
    with Fabula(collection="demo") as fabula:
        talk = fabula.chat()
        talk.ask("Who is Fezziwig?")
        stream = talk.stream("What did he say to them?")
        assert stream.sought == "What did Fezziwig say to them?"
        assert "Fezziwig" in stream.answer.quotes[0].hit.text
