"""Read demonstrations: examples of what a prompt asks, each with the reply to it.

A set of demonstrations is a TOML file: what the texts of a collection are, and for each question of
a graph some passages with the reply that they should get. Another domain needs another file, and no
other prompt. Edge et al. 2024 (arXiv 2404.16130, section 3.1.2) write theirs for each domain, and
Chepurova et al. 2025 (Wikontic) measure what is lost without any.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from fabula.errors import SettingsError, first_problem
from fabula.graph import fingerprint, sets

NONE = "none"
"""The name that leaves all demonstrations out: the model sees the form of the reply alone."""
USUAL = "narrative"
"""The set that comes with every graph that has demonstrations."""


@dataclass(frozen=True, slots=True)
class Demonstration:
    """Passages as a prompt shows them, and the reply that they should get.

    Attributes:
        passages: The texts of the passages.
        reply: The reply, as JSON.
        title: What it is an example of; '' for nothing in particular.
        task: What stands between the passages and the reply; '' for nothing.
    """

    passages: tuple[str, ...]
    reply: str
    title: str = ""
    task: str = ""

    def show(self, number: int) -> str:
        """Return the demonstration as a prompt has it, with its number."""
        title = f", {self.title}" if self.title else ""
        shown = [f"[{place}] {text}" for place, text in enumerate(self.passages, 1)]
        task = [self.task] if self.task else []
        first = f"Example {number}{title}. The passages:"
        return "\n\n".join([first, *shown, *task, "The reply:", self.reply])


@dataclass(frozen=True)
class Demonstrations:
    """The demonstrations of a graph, by the name of the question that they belong to.

    Attributes:
        text: What the passages are taken from, as "a narrative text".
        whole: What the passages matter to, as "the story".
        by_question: The demonstrations of each question; a question may have none.
    """

    text: str
    whole: str
    by_question: Mapping[str, tuple[Demonstration, ...]]

    @property
    def digest(self) -> str:
        """Equal for sets that put the same into prompts."""
        shown = {
            question: [demonstration.show(0) for demonstration in demonstrations]
            for question, demonstrations in self.by_question.items()
        }
        return fingerprint({"text": self.text, "whole": self.whole, "questions": shown})

    def values(
        self,
        question: str,
        schema: type[BaseModel],
        note: str = "",
        adapt: Callable[[str], str] = lambda reply: reply,
    ) -> dict[str, str]:
        """Return what the placeholders $form and $demonstrations of a system text stand for.

        Args:
            question: The question's name.
            schema: The shape of the reply; it is shown where there is no demonstration.
            note: A sentence about the demonstrations, which stands before the first.
            adapt: Changes each reply before it is shown.
        """
        shown = [
            Demonstration(
                demonstration.passages,
                adapt(demonstration.reply),
                demonstration.title,
                demonstration.task,
            ).show(number)
            for number, demonstration in enumerate(self.by_question.get(question, ()), 1)
        ]
        if not shown:
            return {"form": f"this form: {reply_form(schema)}", "demonstrations": ""}
        parts = "\n\n".join(["", *shown])
        before = f" {note}" if note else ""
        return {"form": "the form of the examples", "demonstrations": f"{before}{parts}"}


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, str_strip_whitespace=True)

    title: str = ""
    passages: list[str] = Field(min_length=1)
    task: str = ""
    reply: str = Field(min_length=1)


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, str_strip_whitespace=True)

    text: str = Field(min_length=1, max_length=120)
    whole: str = Field(min_length=1, max_length=120)


def read_demonstrations(
    name_or_path: str, package: str, questions: Mapping[str, type[BaseModel]]
) -> Demonstrations:
    """Read a set of demonstrations.

    Args:
        name_or_path: The name of a shipped set, the path of a TOML file, or "none" for the usual
            words without any demonstration.
        package: The package that holds the shipped sets.
        questions: The shapes of the replies, by the names of the questions. Each name is an array
            of tables in the file, which may be left out.

    Raises:
        SettingsError: There is no such set, the file does not fit, or a reply in it is not of the
            shape that its question asks for.
    """
    fields: dict[str, Any] = {name: (list[_Entry], []) for name in questions}
    schema = create_model("DemonstrationsFile", __base__=_File, **fields)
    source = USUAL if name_or_path == NONE else name_or_path
    file: Any = sets.read_set(source, package, "set of demonstrations", schema)
    by_question: dict[str, tuple[Demonstration, ...]] = {}
    for name, shape in questions.items():
        entries: Sequence[_Entry] = () if name_or_path == NONE else getattr(file, name)
        for number, entry in enumerate(entries, 1):
            _refuse_misshaped(entry.reply, shape, f"{source}: reply {number} of [[{name}]]")
        by_question[name] = tuple(
            Demonstration(tuple(entry.passages), entry.reply, entry.title, entry.task)
            for entry in entries
        )
    return Demonstrations(file.text, file.whole, by_question)


def _refuse_misshaped(reply: str, shape: type[BaseModel], where: str) -> None:
    try:
        shape.model_validate_json(reply)
    except ValidationError as error:
        raise SettingsError(
            f"{where} is not what its question asks for, as {reply_form(shape)}: "
            f"{first_problem(error)}."
        ) from error


def reply_form(schema: type[BaseModel]) -> str:
    """Return an outline of a reply as JSON: each list has one item, each text is three dots."""
    return json.dumps(_outline(schema), ensure_ascii=False)


def _outline(shape: Any) -> Any:
    """An example of a type, as far as replies have types."""
    if isinstance(shape, type) and issubclass(shape, BaseModel):
        return {name: _outline(field.annotation) for name, field in shape.model_fields.items()}
    if get_origin(shape) is list:
        return [_outline(get_args(shape)[0])]
    if get_origin(shape) is Literal:
        return " | ".join(map(str, get_args(shape)))
    if arguments := [part for part in get_args(shape) if part is not NoneType]:
        return _outline(arguments[0])
    return 1 if shape is int else "..."
