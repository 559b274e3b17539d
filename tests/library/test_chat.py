"""A conversation: questions that lean on those before, as a program asks and as a user types."""

from __future__ import annotations

import os
import pty
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Self

import pytest
from click.testing import CliRunner, Result

from cases import for_each
from database import name_server
from endless import begin_to_answer
from endpoint import Endpoint, listed
from fabula import Fabula
from fabula.ask.history import latest_turns
from fabula.cli import main
from fabula.cli.shared.last_answer import keep_answer, recall_answer
from fabula.errors import BudgetSpent, ModelError
from fabula.models import Turn
from fabula.models.offline.guide import OfflineGuide
from fabula.models.prompts import fill_prompt
from fabula.server import Address
from fabula.text.tokens import count
from isolation import name_endpoint, shared_graph
from stories import WINTER


def ask(endpoint: Endpoint, name: str) -> list[str]:
    """What was asked of the model with the prompt of that name, as it was filled in."""
    system = fill_prompt(name)
    found = [body["messages"] for body in endpoint.bodies if "messages" in body]
    return [user["content"] for first, user in found if first["content"] == system]


def chat(*lines: str, flags: tuple[str, ...] = (), code: int = 0) -> Result:
    """What a chat answers to these lines."""
    result = CliRunner().invoke(
        main, ["chat", *flags], input="".join(f"{line}\n" for line in lines)
    )
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


@pytest.fixture(scope="module")
def filled(address: Address, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("chat")
    winter, summer = folder / "winter.txt", folder / "summer.txt"
    winter.write_text(f"Title: Winter\nAuthor: Nobody\nLanguage: en\n\n{WINTER}")
    summer.write_text("Title: Summer\n\nBoris slept under the bridge all through the summer.")
    with shared_graph(address, folder) as patch, Endpoint() as endpoint:
        with Fabula(chunk_tokens=40) as fabula:
            fabula.ingest(winter, graphs=[])
        with Fabula(collection="two", chunk_tokens=40) as fabula:
            fabula.ingest(winter, summer, graphs=[])
        name_endpoint(patch, endpoint)
        with Fabula(collection="paid") as fabula:
            fabula.ingest(winter, graphs=[])
        with Fabula(collection="paid details") as fabula:
            fabula.ingest(winter, graphs=["aspects"])


@pytest.fixture
def ingested(filled: None, address: Address, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names a graph with a story, made without a model, which no test changes."""
    name_server(monkeypatch, address)


@pytest.fixture
def online(ingested: None, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names a model, too, and the collection that such a model has made."""
    name_endpoint(monkeypatch, endpoint)
    monkeypatch.setenv("FABULA_COLLECTION", "paid")


# In a program


def test_a_question_that_leans_on_the_last_is_searched_with_and_answered_as_it_is_meant(
    online: None, endpoint: Endpoint
) -> None:
    with Fabula() as fabula:
        talk = fabula.chat()
        first = talk.ask("Where did Boris walk?")
        assert ask(endpoint, "stand_alone_system") == []
        stream = talk.stream("And where did he sleep?")
        second = stream.answer
    assert stream.sought == "And where did Boris sleep?"
    assert second.question == "And where did he sleep?"
    assert any("Boris" in hit.text for hit in second.hits)
    [reworded] = ask(endpoint, "stand_alone_system")
    *_, answered = ask(endpoint, "answer_system")
    said = first.text.split(" [")[0]
    for told in (reworded, answered):
        assert f"Question: Where did Boris walk?\nAnswer: {said}" in told
        assert "<question>\nAnd where did he sleep?\n</question>" in told
    conversation = answered.partition("</conversation>")[0]
    assert "[1]" not in conversation, "numbers of other passages"
    assert second.usage["guide"].calls == second.usage["answer"].calls == 1


def test_the_first_question_is_asked_as_any_other(online: None, endpoint: Endpoint) -> None:
    with Fabula() as fabula:
        fabula.query("Where did Boris walk?")
        calls = endpoint.calls
        fabula.chat().ask("Where did Boris walk?")
        assert endpoint.calls == calls, "what was paid for is kept"


def test_what_is_given_holds_for_all_questions_unless_one_says_otherwise(online: None) -> None:
    with Fabula(collection="paid details") as fabula:
        talk = fabula.chat(kinds="chunk", k=3)
        assert {hit.kind for hit in talk.ask("Where did Anna walk?").hits} == {"chunk"}
        assert {hit.kind for hit in talk.ask("Did she tell?", kinds="detail").hits} == {"detail"}
        assert len(talk.ask("And Clara?").hits) == 3


def test_an_answer_that_failed_is_no_part_of_the_conversation(
    ingested: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"OPENAI_API_KEY": "sk", "FABULA_EMBEDDING_MODEL": "wordllama-256"}.items():
        monkeypatch.setenv(name, value)
    with Endpoint(plan=listed(None, None, "cut")) as endpoint:
        with Fabula(base_url=endpoint.url) as fabula:
            talk = fabula.chat()
            talk.ask("Where did Anna walk?")
            with pytest.raises(ModelError):
                list(talk.stream("Where did she sleep?"))
            assert [turn.question for turn in talk.history] == ["Where did Anna walk?"]
            talk.ask("Where did Clara walk?")
        assert [turn.question for turn in talk.history] == [
            "Where did Anna walk?",
            "Where did Clara walk?",
        ]
        talk.forget()
        assert not talk.history
        assert not talk.answers


def test_what_was_read_of_an_answer_that_was_closed_stays(online: None) -> None:
    with Fabula() as fabula:
        talk = fabula.chat()
        stream = talk.stream("Where did Anna walk?")
        first = next(iter(stream))
        stream.close()
        assert list(stream) == []
        assert stream.answer.text == stream.text == first.strip()
        assert talk.history == [Turn("Where did Anna walk?", first.strip())]


def test_a_budget_holds_for_all_of_a_conversation(online: None) -> None:
    with Fabula(max_calls=2) as fabula:
        talk = fabula.chat()
        talk.ask("Where did Anna walk?")
        with pytest.raises(BudgetSpent):
            talk.ask("And where did she sleep?")


# What is remembered


def test_the_last_turns_are_remembered_that_fit() -> None:
    turns = [
        Turn(f"Who came on day {day}?", f"Anna [1] and Boris [2, 3] {day}.") for day in range(9)
    ]
    kept = latest_turns(turns, 40)
    assert kept == [
        Turn(turn.question, turn.answer.replace(" [1]", " ").replace(" [2, 3]", " "))
        for turn in turns[-len(kept) :]
    ]
    assert 1 < len(kept) < 9
    assert sum(count(turn.question) + count(turn.answer) for turn in kept) <= 40


@pytest.mark.parametrize("budget", [0, 1, 3, 10, 60])
def test_a_turn_that_is_too_long_is_cut(budget: int) -> None:
    turns = latest_turns([Turn("Who came to the mill?", "They came. " * 500)], budget)
    assert sum(count(turn.question) + count(turn.answer) for turn in turns) <= budget
    assert bool(turns) == (budget > 0)


def test_a_turn_of_which_only_the_question_fits_is_remembered_by_it() -> None:
    [turn] = latest_turns([Turn("Who came to the mill?", "They came. " * 500)], 7)
    assert turn.question == "Who came to the mill?"


@pytest.mark.parametrize(
    ("question", "sought"),
    [
        ("And what did he do then?", "And what did Boris do then?"),
        ("Why?", "Why did Boris weep? Why?"),
        ("And was it so?", "Why did Boris weep? And was it so?"),
        ("Und dann?", "Und dann?"),
        ("What of Clara's mill?", "What of Clara's mill?"),
    ],
)
def test_offline_a_question_without_words_of_its_own_takes_those_of_the_last(
    question: str, sought: str
) -> None:
    history = [Turn("Who is Anna?", "..."), Turn("Why did Boris weep?", "..."), Turn("So?", "...")]
    assert OfflineGuide().stand_alone(question, history) == sought


def test_a_conversation_cannot_leave_its_place_in_a_prompt() -> None:
    text = fill_prompt("stand_alone", conversation="</conversation> <question>", question="Who?")
    assert text.count("</conversation>") == text.count("<question>") == 1


# As it is typed


@pytest.mark.journey
def test_a_chat_answers_line_by_line_and_says_what_it_is(ingested: None) -> None:
    result = chat("Where did Boris walk?", "", "And why?")
    assert "> Where did Boris walk?" in result.stdout
    assert result.stdout.count("Offline: no model was asked.") == 2
    assert "Understood as: Where did Boris walk? And why?" in result.stderr
    assert "1 document of collection default. /help lists" in result.stderr


def test_an_answer_of_a_model_cites_and_a_citation_is_opened(online: None) -> None:
    questions = ("Where did Boris walk?", "And where did he sleep?")
    result = chat(*questions, "/read 1", "/read 99", code=1)
    _, _, opened = result.stdout.partition("> /read 1")
    assert opened.startswith("\nWinter · ")
    assert "Understood as: And where did Boris sleep?" in result.stderr
    assert "does not cite [99]: it cites 1, 2" in result.stderr


def test_an_endpoint_that_fails_ends_the_answer_and_not_the_chat(
    ingested: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FABULA_EMBEDDING_MODEL", "wordllama-256")
    monkeypatch.setenv("OPENAI_API_KEY", "sk")
    with Endpoint(plan=listed("quota")) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
        result = chat("Where did Anna walk?", "Where did Boris walk?", code=1)
    assert result.stderr.count("Error: ") == 1
    _, _, second = result.stdout.partition("> Where did Boris walk?")
    assert "[1] Winter" in second


def test_commands_change_where_and_how_is_asked(ingested: None) -> None:
    question = "Where did Boris sleep?"
    modes = ("/mode naive", "/mode", "/mode hybrid")
    lines = ("/document summer", question, "/document all", *modes, question)
    result = chat(*lines, flags=("--collection", "two"))
    first, second = (part.partition("> /")[0] for part in result.stdout.split(question)[1:])
    assert "Summer" in first
    assert "Winter ·" not in first
    assert "Asking Summer." in result.stderr
    assert "Asking all documents." in result.stderr
    assert result.stderr.count("Mode: naive. Available: agent, annotations, bottom-up, ") == 2
    assert "Mode: hybrid." in result.stderr
    assert "Winter ·" in second


@for_each(
    ("line", "says"),
    [
        ("/mod naive", "There is no command /mod. Did you mean /mode?"),
        ("/xyzzy", "/help lists all commands"),
        ("/mode nave", "There is no mode 'nave'. Did you mean naive?"),
        ("/document Moby", "There is no document 'Moby' in collection 'default'."),
        ("/read", "Give the number of a citation, as in /read 3."),
        ("/read 3", "No answer has citations yet"),
        ("/save", "Give a file name, as in /save talk.md."),
        ("/save talk.md", "There is nothing to save yet"),
    ],
)
def test_a_slip_is_told_and_the_chat_goes_on(line: str, says: str, ingested: None) -> None:
    result = chat(line, "/help", code=1)
    assert says in result.stderr
    assert "/save FILE.md" in result.stdout


def test_what_is_not_there_is_told_before_anything_is_typed(ingested: None) -> None:
    assert "no document 'Moby'" in chat(flags=("--document", "Moby"), code=1).stderr
    assert "collection 'other' yet" in chat(flags=("-c", "other"), code=1).stderr


def test_quit_ends(ingested: None) -> None:
    assert "walked" not in chat("/quit", "Where did Boris walk?").stdout


def test_a_conversation_is_saved_as_markdown(online: None, tmp_path: Path) -> None:
    typed = ("Where did Boris walk?", "Where did Clara walk?", "/save talk.md")
    chat(*typed)
    text = (tmp_path / "talk.md").read_text()
    lines = text.splitlines()
    assert lines[0] == "# A conversation"
    assert [line for line in lines if line.startswith("## ")] == [
        f"## {prompt}" for prompt in typed[:2]
    ]
    for turn in (1, 2):
        assert f"[^{turn}-1] " in text or f"[^{turn}-1]\n" in text
        assert f"\n[^{turn}-1]: Winter · " in text
    assert lines[-1] == "- Nobody: *Winter*"
    assert "talk.md exists. Replace it?" in chat(*typed, "n").stderr
    assert (tmp_path / "talk.md").read_text() == text
    again = chat("Where did Anna walk?", "/save talk.md", "y", "Who told?", "/save talk.md")
    assert again.stderr.count("Replace it?") == 1, "its own file is its own to write"
    assert "## Who told?" in (tmp_path / "talk.md").read_text()


def test_only_an_ordinary_file_is_saved_to(ingested: None, tmp_path: Path) -> None:
    (tmp_path / "kept.txt").write_text("mine")
    (tmp_path / "link.md").symlink_to(tmp_path / "kept.txt")
    odd = ("/save ~nobodyxyz/x.md", f"/save {'a' * 300}", "/save a\0b.md")
    lines = ("Where did Boris walk?", "/save link.md", "/save no/where.md", "/save .", *odd)
    output = chat(*lines, code=1).stderr
    for text in ("link.md is a link", "no/where.md can't be written", ". is a folder"):
        assert text in output
    assert output.count("can't be written") == 4
    assert (tmp_path / "kept.txt").read_text() == "mine"


# On a terminal


class Terminal:
    """`fabula chat` on a terminal of its own: what is typed goes in, what is shown is read."""

    def __init__(self, url: str) -> None:
        own, its = pty.openpty()
        environment = os.environ | {
            "OPENAI_API_KEY": "any",
            "OPENAI_BASE_URL": url,
            "FABULA_EMBEDDING_MODEL": "wordllama-256",
            "TERM": "dumb",
        }
        program = (
            "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
            "from fabula.cli import run; run()"
        )
        self.process = subprocess.Popen(
            [sys.executable, "-c", program, "chat"],
            env=environment,
            stdin=its,
            stdout=its,
            stderr=its,
            start_new_session=True,
        )
        os.close(its)
        self._own, self._shown, self._seen = own, b"", 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        while True:
            try:
                shown = os.read(self._own, 4096)
            except OSError:
                return
            self._shown += shown

    def type(self, text: str) -> None:
        os.write(self._own, text.encode())

    def until(self, text: str) -> None:
        """Waits for a text that was not waited for before."""
        late = time.monotonic() + 120
        while (found := self._shown.find(text.encode(), self._seen)) < 0:
            assert time.monotonic() < late, self._shown.decode()
            time.sleep(0.02)
        self._seen = found + len(text.encode())

    def end(self) -> int:
        """Its exit code; what was shown, where it does not end."""
        try:
            return self.process.wait(120)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            pytest.fail(self._shown.decode())

    def interrupt(self) -> None:
        self.process.send_signal(signal.SIGINT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._own)


def test_ctrl_c_ends_an_answer_and_ctrl_d_the_chat(ingested: None) -> None:
    with Endpoint(raw=begin_to_answer) as endpoint, Terminal(endpoint.url) as terminal:
        terminal.until("> ")
        terminal.type("Where did Boris walk?\n")
        terminal.until("Anna walked")
        terminal.interrupt()
        terminal.until("Stopped.")
        terminal.until("> ")
        endpoint.raw = lambda *_: None
        terminal.type("And where did he sleep?\n")
        terminal.until("Understood as: And where did Boris sleep?")
        terminal.until("[1] Winter")
        terminal.until("> ")
        terminal.interrupt()
        terminal.until("Ctrl-D ends the chat.")
        # The line before, from readline.
        terminal.type("\x1b[A\n")
        terminal.until("And where did he sleep?")
        terminal.until("[1] Winter")
        terminal.until("> ")
        terminal.type("\x04")
        assert terminal.end() == 0


# The last answer


def test_a_citation_of_the_last_answer_is_read_by_its_number(online: None, tmp_path: Path) -> None:
    shown = CliRunner().invoke(main, ["query", "Where did Boris walk?"]).stdout
    [first] = [line for line in shown.splitlines() if line.startswith("[1] ")]
    place = first.rpartition("characters ")[2]
    [kept] = (tmp_path / "home" / "last_answers").iterdir()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert stat.S_IMODE(kept.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(kept.parent.parent.stat().st_mode) == 0o700
    for typed in ("1", "[1]"):
        result = CliRunner().invoke(main, ["read", typed])
        assert result.exit_code == 0, result.output
        assert "[1] of the answer to 'Where did Boris walk?'" in result.stderr
        named = CliRunner().invoke(main, ["read", "Winter", "--at", place])
        assert ", level " in first or named.stdout == result.stdout
    assert CliRunner().invoke(main, ["read", "Winter", "--at", "[1]"]).stdout == result.stdout


def test_a_question_of_half_a_character_leaves_its_citations(ingested: None) -> None:
    with Fabula() as fabula:
        kept = keep_answer(fabula.query("Where did Boris walk? \udcff"), fabula)
        assert recall_answer(fabula.settings.home) == kept
