"""Take a thinking model's thoughts out of its replies, whole or streamed.

A server with a reasoning parser sends thoughts in a field of their own. Without one they stand in
the reply itself, between the tags that the model was trained with. Chat templates may write the
opening tag, so that the reply has the closing one alone: then all before it was thought.
"""

from __future__ import annotations

import json
import re

from fabula.models.clean import change_texts

_NAMES = (
    r"(?:\w{1,10}[:_])?(?:think(?:ing)?|thoughts?|reasoning|reflection|scratchpad|antthinking"
    r"|internal_monologue)"
)
"""The names of tags in angle brackets, as in <think>, <thinking> and <seed:think>."""
_OPEN = (
    rf"<{_NAMES}(?:\s[^<>]*)?>|<details\s[^<>]*reasoning[^<>]*>|<\|think(?:ing)?\|>"
    r"|(?-i:\[THINK\])|◁think▷|<\|begin_of_thought\|>|<\|START_THINKING\|>|<unused94>"
)
_CLOSE = (
    rf"</{_NAMES}\s*>|<\|/think(?:ing)?\|>|(?-i:\[/THINK\])|◁/think▷|<\|end_of_thought\|>"
    r"|<\|END_THINKING\|>|<unused95>|<channel\|>|(?-i:\[BEGIN FINAL RESPONSE\])"
)
_CLOSE_DETAILS = r"</details>"
_HEADER = r"<\|start\|>|<\|channel\|?>|<\|im_start\|>|<\|start_header_id\|>|<\|begin\|>"
"""What begins the header of a message in OpenAI's harmony format and in Gemma's, or that of a turn
where a server leaves the tokens of its template in the reply."""
_MESSAGE = r"<\|message\|>|<\|end_header_id\|>|<\|content\|>"
_DROP = (
    r"<\|(?:end|return|call|begin_of_solution|end_of_solution|START_RESPONSE|END_RESPONSE"
    r"|START_TEXT|END_TEXT|begin_of_box|end_of_box|flush)\|>"
    r"|(?-i:\[END FINAL RESPONSE\]|</s>)"
)
_END_OF_TURN = (
    r"<\|(?:im_end|eot_id|eom_id|end_of_text|endoftext|end_of_turn)\|>|<end_of_turn>"
    r"|<｜end▁of▁sentence｜>"
)
"""What ends a model's turn. Where a server does not stop there, the model goes on with a turn of
the user that it makes up."""
_WRAPPER = r"</?(?:answer|response|output)>"
"""Tags that some models put around their reply after thinking."""
_MARK = re.compile(
    f"(?P<open>{_OPEN})|(?P<close>{_CLOSE})|(?P<details>{_CLOSE_DETAILS})|(?P<header>{_HEADER})"
    f"|(?P<message>{_MESSAGE})|(?P<drop>{_DROP})|(?P<turn>{_END_OF_TURN})|(?P<wrapper>{_WRAPPER})",
    re.IGNORECASE,
)
_PARTIAL = re.compile(
    r"(?:<[|/]{0,2}(?:[A-Za-z][^<>]{0,120})?|<｜[a-z▁]{0,16}｜?|\[/?(?:[A-Z][A-Z ]{0,21})?"
    r"|◁/?[think]{0,5})\Z"
)
"""The end of a text that may be the beginning of a mark."""
_GEMMA_HEADER = re.compile(r"\A\s*(?P<name>\w+)[ \t]*\n")
_STRIPPED_HARMONY = re.compile(
    r"\A\s*analysis(?=[A-Z\"'(\n]).*?(?:assistant\s*final|\Z)", re.DOTALL
)
"""Harmony whose special tokens a server left out: "analysisWe need ... assistantfinalMarley"."""
_PROCESS = re.compile(
    r"\A\s*(?:Here's|Here is) my thought process:.*?(?:(?:Here's|Here is) my response:|\Z)",
    re.DOTALL,
)
"""The sentences between which Granite thinks."""
_HARMONY_REPLY = ("final", "commentary to=user")
_ENDING = {"close": "thought", "details": "details", "drop": "any", "turn": "any"}
"""The states that marks end, by the kinds of marks."""
OPENINGS = (
    *("okay", "ok,", "ok.", "ok so", "alright", "all right,", "hmm", "hm,", "let me", "let's"),
    *("let us", "we need", "we have to", "we are asked", "we are given", "we're", "we must"),
    *("we should", "the user", "user asks", "user wants", "i need", "i should", "i'll", "i will"),
    *("i'm ", "i am ", "i have to", "i must", "i think", "so,", "so the", "so i ", "so we"),
    *("first,", "first off", "to answer", "to solve", "to summarize", "to summarise"),
    *("the question", "the task", "the instruction", "the prompt", "looking at", "got it"),
    *("right,", "wait", "now,", "now i", "now let", "thinking", "thought", "reasoning"),
    *(
        "here's my",
        "here is my",
        "here are my reasoning",
        "here's a think",
        "here is a think",
        "analysis",
        "analyze",
    ),
    *("analyse", "analyzing", "understand the", "**think", "**anal", "**understand", "step 1"),
    *("1. **", "1.  **", "# think", "## think", "好的", "嗯", "首先", "用户", "我们", "我需要"),
    *("让我", "现在", "好，", "хорошо", "итак", "okej", "d'accord", "bon,", "gut,", "vale,"),
)
"""How models begin to think, in small letters. A stream that begins like this is held back until
it is certain that no closing tag follows. If it is an answer after all, it is only shown later."""


class ThoughtFilter:
    """Passes on a streamed reply without its thoughts.

    Attributes:
        has_thoughts: Whether there were thoughts until now.
        is_leaked: Whether thoughts were passed on, because their closing tag came alone, and after
            a beginning that did not look like thoughts.
    """

    def __init__(self, *, hold: bool = False) -> None:
        """Begin a reply.

        Args:
            hold: Pass nothing on before the end, as the closing tag may come alone.
        """
        self.has_thoughts = self.is_leaked = False
        self._hold = hold
        self._is_live = False
        """Whether the reply is passed on as it comes."""
        self._has_passed_on = False
        self._held = ""
        self._rest = ""
        self._state = "reply"
        """Where the text stands: in the "reply", a "thought", "details" or a "header", or "over":
        behind the end of the model's turn."""
        self._header = ""
        self._json: list[str] | None = None
        """The pieces of a reply that begins as JSON, which is looked at as a whole."""

    def feed(self, piece: str) -> str:
        """Return what can be passed on after the next piece of the reply."""
        if self._json is None and self._is_untouched and piece.lstrip().startswith("{"):
            self._json = []
        if self._json is not None:
            self._json.append(piece)
            return ""
        return self._feed(piece)

    @property
    def _is_untouched(self) -> bool:
        is_empty = not (self._held.strip() or self._rest or self.has_thoughts)
        return is_empty and self._state == "reply" and not self._is_live

    def _feed(self, piece: str) -> str:
        text, self._rest = self._rest + piece, ""
        passed_on, position = "", 0
        for mark in _MARK.finditer(text):
            if mark.lastgroup == "wrapper" and not self.has_thoughts:
                continue
            passed_on += self._add(text[position : mark.start()])
            self._apply(mark)
            position = mark.end()
        tail = text[position:]
        partial = _PARTIAL.search(tail)
        if partial:
            tail, self._rest = tail[: partial.start()], tail[partial.start() :]
        return passed_on + self._add(tail)

    def finish(self) -> str:
        """Return the rest of the reply, after its last piece."""
        if self._json is not None:
            text, self.has_thoughts = split_thoughts("".join(self._json))
            return text
        rest, self._rest = self._rest, ""
        passed_on = self._add(rest)
        if self._is_live:
            return passed_on
        held, self._held = self._held, ""
        text = _PROCESS.sub("", _STRIPPED_HARMONY.sub("", held))
        if text != held:
            self.has_thoughts = True
        return text.lstrip() if self.has_thoughts else text

    def _apply(self, mark: re.Match[str]) -> None:
        """Take in a mark."""
        kind, state = mark.lastgroup, self._state
        has_reply = bool(self._held.strip()) or self._has_passed_on
        if state == "over" or (kind == "turn" and state == "reply" and has_reply):
            self._state = "over"
        elif kind == "header":
            self._state, self._header = "header", ""
        elif kind == "message":
            self._begin("reply" if state != "header" or self._header_is_reply() else "thought")
        elif kind == "open" and state == "reply":
            self._begin("details" if mark[0].startswith("<details") else "thought")
        elif kind == "close" and state == "reply":
            self._end_thoughts_without_beginning()
        elif _ENDING.get(kind or "") in (state, "any") or (state == "header" and kind != "wrapper"):
            self._begin("reply")

    def _header_is_reply(self) -> bool:
        """Whether the message after a header of the harmony format is the reply."""
        name = self._header.strip().casefold()
        is_final = name.endswith(_HARMONY_REPLY)
        return is_final or name.partition("<")[0].strip() in ("", "assistant", "final")

    def _begin(self, state: str) -> None:
        self.has_thoughts = self.has_thoughts or state != "reply"
        self._state = state

    def _end_thoughts_without_beginning(self) -> None:
        self.has_thoughts = True
        if self._has_passed_on:
            self.is_leaked = True
        self._held = ""

    def _add(self, text: str) -> str:
        """Take in text without marks, and return what can be passed on."""
        if self._state == "header":
            self._header += text
            if gemma := _GEMMA_HEADER.match(self._header):
                # Gemma ends the name of a channel with the line.
                name, rest = gemma["name"].casefold(), self._header[gemma.end() :]
                is_reply = name in ("final", "response", "assistant")
                self._begin("reply" if is_reply else "thought")
                return self._add(rest)
            return ""
        if self._state != "reply" or not text:
            return ""
        if self._is_live:
            if not self._has_passed_on:
                text = text.lstrip()
            self._has_passed_on = self._has_passed_on or bool(text)
            return text
        self._held += text
        if self._hold or self._may_be_thought():
            return ""
        self._is_live = True
        text, self._held = self._held, ""
        if self.has_thoughts:
            text = text.lstrip()
        self._has_passed_on = bool(text)
        return text

    def _may_be_thought(self) -> bool:
        """Whether what is held back may be the beginning of thoughts without an opening tag."""
        beginning = self._held.lstrip().casefold()
        if not beginning:
            return True
        if self.has_thoughts:
            # Its thoughts came before.
            return False
        return any(
            beginning.startswith(opening) or opening.startswith(beginning) for opening in OPENINGS
        )


def without_thoughts(text: str) -> str:
    """Return a whole reply without a thinking model's thoughts; '' if it has nothing else."""
    return split_thoughts(text)[0]


def split_thoughts(text: str) -> tuple[str, bool]:
    """Return a whole reply without its thoughts, and whether there were any."""
    if not (_MARK.search(text) or _STRIPPED_HARMONY.match(text) or _PROCESS.match(text)):
        return text, False
    in_json = _clean_json_strings(text)
    if in_json is not None:
        return in_json, in_json != text
    thoughts = ThoughtFilter(hold=True)
    reply = thoughts._feed(text) + thoughts.finish()
    return reply, thoughts.has_thoughts


def _clean_json_strings(text: str) -> str | None:
    """Return JSON without the thoughts in its strings; None if the text is no JSON."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not _MARK.search(text):
        return text
    try:
        return json.dumps(change_texts(value, without_thoughts), ensure_ascii=False)
    except RecursionError:
        return None
