"""What a model repeats of its prompt is not searched with."""

from collections.abc import Iterator

import pytest

from cases import for_each
from fabula.errors import BadReply
from fabula.models import Prompt, Reply, Turn
from fabula.models.guide import PromptedGuide
from fabula.models.prompts import read_prompt


class Script:
    """A chat that gives these replies and keeps the prompts."""

    def __init__(self, *replies: Reply) -> None:
        self.replies, self.prompts = iter(replies), list[Prompt]()

    def complete(self, prompt: Prompt) -> Reply:
        self.prompts.append(prompt)
        return next(self.replies)

    def stream(self, prompt: Prompt) -> Iterator[Reply]:
        yield self.complete(prompt)

    def reject(self, prompt: Prompt, *, forget: bool) -> None:
        """Nothing is kept."""


HISTORY = [Turn("Who is Fred?", "Fred is Scrooge's nephew [1].")]
QUESTION = "Why does he call?"
ALONE = "Why does Fred call on Scrooge?"
ECHOES = {
    "its last line": read_prompt("stand_alone").splitlines()[-1],
    "an instruction, then the question": "Word this question so that somebody who has not read the "
    f"conversation understands it: {ALONE}",
    "its tags": f"<question>\n{ALONE}\n</question>",
    "the system message": read_prompt("stand_alone_system").splitlines()[0],
    "the conversation": f"Question: Who is Fred?\nAnswer: Fred is Scrooge's nephew.\n{ALONE}",
}


@for_each("echo", ECHOES.values(), ids=ECHOES)
def test_a_question_that_repeats_the_prompt_is_asked_for_again(echo: str) -> None:
    chat = Script(Reply(echo), Reply(ALONE))
    assert PromptedGuide(chat).stand_alone(QUESTION, HISTORY) == ALONE
    assert "repeats what was asked for" in chat.prompts[1].correction


def test_other_wordings_that_repeat_the_prompt_are_left_out() -> None:
    echo = "Put this question in 3 other ways that a search of the text could find"
    chat = Script(Reply(f'{{"queries": ["{echo}", "{ALONE}"]}}'))
    assert PromptedGuide(chat).rewrite(QUESTION, "queries") == [ALONE]
    chat = Script(Reply(f'{{"queries": ["{echo}"]}}'), Reply(f'{{"queries": ["{ALONE}"]}}'))
    assert PromptedGuide(chat).rewrite(QUESTION, "queries") == [ALONE]


def test_a_made_up_passage_that_repeats_the_prompt_is_asked_for_again() -> None:
    echo = "Write a short passage, as it could stand in a summary of the text, about Fred."
    chat = Script(Reply(echo), Reply("Fred calls to invite him."))
    assert PromptedGuide(chat).rewrite(QUESTION, "answer") == ["Fred calls to invite him."]


def test_a_question_may_be_about_what_the_instructions_speak_of() -> None:
    question = "Which passages of the text name the people that the conversation is about?"
    assert PromptedGuide(Script(Reply(question))).stand_alone(QUESTION, HISTORY) == question


def test_a_model_that_only_repeats_its_prompt_is_said_to() -> None:
    chat = Script(*[Reply(read_prompt("stand_alone"))] * 6)
    with pytest.raises(BadReply, match="repeats what was asked for"):
        PromptedGuide(chat).stand_alone(QUESTION, HISTORY)
