"""Model replies, read into values or refused, and asked again a bounded number of times."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from fabula.errors import BadReply, TextRefused, first_problem
from fabula.models import Chat, Prompt
from fabula.models.clean import clean_json
from fabula.models.prompts import prompt
from fabula.models.schemas import QueriesReply, RankingReply
from fabula.text import tokens

QUOTED = 1000
"""Characters of a bad reply that the model is shown again."""
REPAIRED, NESTED = 50_000, 1_000
"""Characters and brackets of broken JSON; repairing takes a second then, and their squares."""
FENCE = re.compile(r"```\w*\n(.*?)(?:```|\Z)", re.DOTALL)
HEADING = re.compile(r"\A(?:#+ [^\n]*\n|\W*summary\W*?[:\n]\W*)", re.IGNORECASE)
BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+", re.MULTILINE)
SENTENCE_END = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s|\Z)|[。！？]")
CLAUSE_END = re.compile(r"(?=[;,]\s)|(?=[、，；])")
WORD_END = re.compile(r"(?=\s)")
Result = TypeVar("Result")
Schema = TypeVar("Schema", bound=BaseModel)


def ask(chat: Chat, asked: Prompt, read: Callable[[str], Result], attempts: int = 6) -> Result:
    """What `read` makes of the chat's reply; a reply it refuses is quoted and asked again.

    Raises BadReply when none of `attempts` replies could be read, and TextRefused at once.
    """
    again, refused = asked, ""
    for _ in range(attempts):
        reply = ""
        try:
            reply = said(chat, again)
            return read(reply)
        except TextRefused:
            raise
        except BadReply as error:
            refused = " ".join(str(error).split())[:QUOTED]
            chat.reject(asked, forget=True)
            trouble = prompt("again", error=refused, reply=reply[:QUOTED] or "(nothing)")
            again = replace(asked, correction=f"\n\n{trouble}")
    raise BadReply(f"No usable reply in {attempts} tries: {refused}")


def ask_once(chat: Chat, asked: Prompt, read: Callable[[str], Result]) -> Result:
    """What `read` makes of the chat's reply. Raises BadReply where it refuses it.

    For what is asked in another way then: the reply is kept, as it will be refused again.
    """
    try:
        return read(said(chat, asked))
    except BadReply:
        chat.reject(asked, forget=False)
        raise


def said(chat: Chat, asked: Prompt) -> str:
    """The text of the chat's reply. Raises BadReply where there is none to use."""
    reply = chat.complete(asked)
    if reply.trouble:
        raise BadReply(reply.trouble)
    return reply.text


def read_queries(reply: str, count: int) -> tuple[str, ...]:
    """At most `count` questions. Raises BadReply when there is none."""
    queries = [one_line(query) for query in read_as(reply, QueriesReply).queries]
    found = tuple(dict.fromkeys(query for query in queries if query))
    if not found:
        raise BadReply("There is no question in the reply.")
    return found[:count]


def read_question(reply: str) -> str:
    """The question that a reply is, on one line. Raises BadReply where there is none."""
    question = one_line(re.sub(r"\A\W*question:", "", reply, flags=re.IGNORECASE))
    if not question:
        raise BadReply("There is no question in the reply.")
    return question


def read_ranking(reply: str, passages: int) -> tuple[int, ...]:
    """Numbers from 1 to `passages`, none twice; maybe none. Raises BadReply for another number."""
    ranking = tuple(dict.fromkeys(read_as(reply, RankingReply).ranking))
    if strange := [number for number in ranking if not 1 <= number <= passages]:
        raise BadReply(f"Passage {strange[0]} is none of the {passages}.")
    return ranking


def read_choice(reply: str, options: int) -> int:
    """The number of an option, 1 to `options`; JSON, or the number alone.

    Raises BadReply for anything else.
    """
    text = _unfenced(reply)
    told = str(_object(text).get("choice", "")) if "{" in text else text
    number = re.fullmatch(r"\W*(?:option\W*)?(\d{1,9})\W*", told, re.IGNORECASE)
    if not number or not 1 <= int(number[1]) <= options:
        raise BadReply(f'Expected {{"choice": N}}, N being one of the options, 1 to {options}.')
    return int(number[1])


def read_summary(reply: str) -> str:
    """The summary as one paragraph, without fence, heading or quotes around it.

    Raises BadReply when there is no word in it.
    """
    text = _unfenced(reply)
    if text.startswith("{"):
        values = [value for value in _object(text).values() if isinstance(value, str)]
        text = values[0] if values else ""
    text = one_line(HEADING.sub("", text))
    if text[:1] + text[-1:] in ('""', "“”") and not set(text[1:-1]) & set('"“”'):
        text = text[1:-1].strip()
    if not re.search(r"\w", text):
        raise BadReply("The summary is empty.")
    return text


def shortened(text: str, limit: int) -> str:
    """`text` within `limit` tokens: whole sentences; of too long a first one, whole clauses.

    Where there is not even a clause, whole words.
    """
    if tokens.count(text) <= limit:
        return text
    within = len(tokens.cut(text, limit))
    for boundary in (SENTENCE_END, CLAUSE_END, WORD_END):
        # What follows is looked at too: "3." may be the beginning of "3.5".
        ends = [match.end() for match in boundary.finditer(text) if match.end() <= within]
        if ends and ends[-1]:
            return text[: ends[-1]].rstrip()
    return text[:within]


def read_as(reply: str, schema: type[Schema]) -> Schema:
    """The reply as `schema`, which has one field, a list. Raises BadReply where it is not that.

    JSON is repaired where it is broken; a list alone, or lines with bullets, will do too.
    """
    text = _unfenced(reply)
    [field] = schema.model_fields
    if "{" in text or "[" in text:
        value = _json(text)
        given = value if isinstance(value, dict) else {field: value}
    else:
        given = {field: BULLET.sub("", text).splitlines()} if BULLET.search(text) else {}
    try:
        return schema.model_validate(given)
    except ValidationError as error:
        raise BadReply(f'Expected {{"{field}": [...]}}, but {first_problem(error)}.') from error


def read_object(reply: str) -> dict[str, Any]:
    """The object that a reply's JSON is. Raises BadReply where it is none."""
    text = _unfenced(reply)
    found = _object(text) if "{" in text else {}
    if not found:
        raise BadReply("Expected a JSON object.")
    return found


def read_lists(reply: str, names: Sequence[str]) -> dict[str, list[Any]]:
    """The lists of these names in a reply's JSON; one that is not there is empty.

    A list alone is the first. Raises BadReply where none of them is there.
    """
    text = _unfenced(reply)
    value = _json(text) if "{" in text or "[" in text else None
    given = {names[0]: value} if isinstance(value, list) else value
    if not isinstance(given, dict) or not any(isinstance(given.get(name), list) for name in names):
        form = ", ".join(f'"{name}": [...]' for name in names)
        raise BadReply(f"Expected {{{form}}}.")
    lists = ((name, given.get(name)) for name in names)
    return {name: found if isinstance(found, list) else [] for name, found in lists}


def _json(text: str) -> Any:
    # Besides what is no JSON, Python refuses too deep a nesting and too long a number.
    # What it has escaped, as ESC or half a surrogate pair, is in its texts only now.
    try:
        return clean_json(json.loads(text))
    except (ValueError, RecursionError):
        import json_repair

        begin = min(place for place in (text.find("{"), text.find("[")) if place >= 0)
        broken = text[begin:]
        if len(broken) > REPAIRED or broken.count("{") + broken.count("[") > NESTED:
            raise BadReply("That is no JSON, and too long to be repaired.") from None
        try:
            return clean_json(json_repair.loads(broken))
        except (ValueError, RecursionError) as error:
            raise BadReply(f"That is no JSON: {error}.") from error


def _object(text: str) -> dict[str, Any]:
    value = _json(text)
    return value if isinstance(value, dict) else {}


def _unfenced(reply: str) -> str:
    fence = FENCE.search(reply)
    return (fence[1] if fence else reply).strip()


def one_line(text: str) -> str:
    """Return a text with each run of white space as one space."""
    return " ".join(text.split())


def plain_name(name: str) -> str:
    """Return a name's words alone, case folded, so that equal names compare equal."""
    return " ".join(re.split(r"[\W_]+", name.casefold())).strip()
