"""Ask a chat model and read its reply into a value; ask again if it can't be read."""

from __future__ import annotations

import functools
import json
import logging
import re
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from fabula.errors import BadReply, TextRefused, first_problem
from fabula.models import Chat, Prompt, Reply
from fabula.models.clean import clean_json
from fabula.models.prompts import fill_prompt
from fabula.models.schemas import QueriesReply, RankingReply
from fabula.text import tokens

MAX_QUOTED_CHARACTERS = 1000
"""How much of an unusable reply is quoted to the model."""
MAX_REPAIRED_CHARACTERS, MAX_REPAIRED_BRACKETS = 50_000, 1_000
"""The longest broken JSON that is repaired: that takes a second, and grows with the square."""
MAX_PROSE_BRACKETS = 100
"""How many brackets of the sentences before JSON are passed over."""
FENCE = re.compile(r"```\w*\n(.*?)(?:```|\Z)", re.DOTALL)
_LABELS = """
summary zusammenfassung kurzfassung résumé synthèse resumen síntesis riassunto sintesi riepilogo
resumo sumário streszczenie podsumowanie резюме сводка итог краткое\\s+(?:содержание|изложение)
стислий\\s+виклад shrnutí souhrn zhrnutie samenvatting sammanfattning sammendrag resumé referat
yhteenveto tiivistelmä összefoglaló összefoglalás rezumat sažetak sažetek povzetek обобщение сажетак
περίληψη σύνοψη özet santrauka kokkuvõte kopsavilkums 要約 概要 要旨 まとめ 摘要 概述 总结 總結 요약
ملخص الملخص סיכום תקציר सारांश สรุป tóm\\s+tắt ringkasan
"""
"""What models write above a summary, in the languages of their texts, as regular expressions."""
HEADING = re.compile(
    rf"\A(?:#+ [^\n]*\n|\W*(?:{'|'.join(_LABELS.split())})[^\w\n]*?[:：\n]\W*)", re.IGNORECASE
)
BULLET = re.compile(r"^\s*(?:[-*•]|\d+[.)])\s+", re.MULTILINE)
SENTENCE_END = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s|\Z)|[。！？]")
CLAUSE_END = re.compile(r"(?=[;,]\s)|(?=[、，；])")
WORD_END = re.compile(r"(?=\s)")
MAX_CUT_REPLIES = 3
"""Replies that end at a limit of tokens, after which no other one is asked for."""
ECHOED_WORDS = 7
"""This many words in a row are copied from the prompt, and not there by chance."""
TAGS = re.compile(r"</?(?:question|conversation|passage|reply)s?>", re.IGNORECASE)
ECHO = "The reply repeats what was asked for. Reply with what the instructions ask for alone."
LOG = logging.getLogger("fabula")
Result = TypeVar("Result")
Schema = TypeVar("Schema", bound=BaseModel)


class CutReply(BadReply):
    """A reply that ended at a limit of tokens.

    Args:
        message: What happened.
        text: What there is of the reply.
    """

    def __init__(self, message: str, text: str) -> None:
        super().__init__(message)
        self.text = text


@dataclass(frozen=True, slots=True)
class Rejected:
    """A prompt whose reply could not be used.

    Attributes:
        prompt: What was asked.
        forget: Whether the cache forgets the reply, so that the prompt is asked again; else the
            reply stays, so that the next run goes another way at once.
    """

    prompt: Prompt
    forget: bool


Talk = Generator[Prompt | Rejected, str, Result]
"""Yields prompts, and is sent the texts of their replies, or thrown BadReply; returns a value."""


def converse(request: Prompt, read: Callable[[str], Result], attempts: int = 6) -> Talk[Result]:
    """Return what `read` makes of a reply, having asked until one can be read.

    A reply that `read` refuses is quoted to the model with the reason, and asked for again. If a
    text stays too long for its limit, the whole sentences that there are have to do.

    Args:
        request: What to ask.
        read: Turns a reply's text into a value; it raises BadReply for one that can't be used.
        attempts: The most replies to ask for.

    Raises:
        BadReply: None of the replies could be read.
        TextRefused: The endpoint refuses this text; it is not asked again.
    """
    current, error_text = request, ""
    cut_replies: list[str] = []
    for _ in range(attempts):
        reply = ""
        try:
            reply = yield current
            return read(reply)
        except TextRefused:
            raise
        except BadReply as error:
            bad = error
        yield Rejected(request, forget=True)
        if isinstance(bad, CutReply):
            reply = bad.text
            cut_replies.append(reply)
            if len(cut_replies) == min(MAX_CUT_REPLIES, attempts):
                return _read_whole_sentences(cut_replies, request, read, bad)
        error_text = " ".join(str(bad).split())[:MAX_QUOTED_CHARACTERS]
        quoted = reply[:MAX_QUOTED_CHARACTERS] or "(nothing)"
        correction = fill_prompt("again", error=error_text, reply=quoted)
        current = replace(request, correction=f"\n\n{correction}")
    raise BadReply(f"No usable reply in {attempts} tries: {error_text}")


def converse_once(request: Prompt, read: Callable[[str], Result]) -> Talk[Result]:
    """Return what `read` makes of one reply.

    This is for requests that are made in another way after a bad reply. The bad reply stays in the
    cache, so that the next run goes the other way at once.

    Raises:
        BadReply: The reply could not be read.
    """
    try:
        return read((yield request))
    except BadReply:
        yield Rejected(request, forget=False)
        raise


def ask(chat: Chat, request: Prompt, read: Callable[[str], Result], attempts: int = 6) -> Result:
    """Ask a chat model as `converse` does; its calls may cost money."""
    return _answer(chat, converse(request, read, attempts))


def ask_once(chat: Chat, request: Prompt, read: Callable[[str], Result]) -> Result:
    """Ask a chat model as `converse_once` does; its call may cost money."""
    return _answer(chat, converse_once(request, read))


def _answer(chat: Chat, talk: Talk[Result]) -> Result:
    try:
        wanted = next(talk)
        while True:
            reply = ""
            error: BadReply | None = None
            if isinstance(wanted, Rejected):
                chat.reject(wanted.prompt, forget=wanted.forget)
            else:
                try:
                    reply = complete(chat, wanted)
                except BadReply as bad:
                    error = bad
            wanted = talk.send(reply) if error is None else talk.throw(error)
    except StopIteration as end:
        result: Result = end.value
        return result


def _read_whole_sentences(
    cut_replies: Sequence[str], request: Prompt, read: Callable[[str], Result], error: CutReply
) -> Result:
    """What `read` makes of the longest text that was cut, up to the end of its last sentence."""
    whole = max(map(_whole_sentences, cut_replies), key=len)
    if request.schema is not None or not whole:
        raise BadReply(f"No usable reply in {len(cut_replies)} tries: {error}") from error
    LOG.info("Only the whole sentences of a reply are used: %s", error)
    return read(whole)


def _whole_sentences(text: str) -> str:
    """The beginning of a text that was cut, up to the end of its last sentence."""
    # The last sentence may go on after what looks like its end: "3." before "3.5".
    ends = [match.end() for match in SENTENCE_END.finditer(text) if match.end() < len(text)]
    return text[: ends[-1]] if ends else ""


def complete(chat: Chat, request: Prompt, *, allow_cut: bool = False) -> str:
    """Ask a chat model, which may cost money, and return the text of its reply: `read_text`."""
    return read_text(chat.complete(request), allow_cut=allow_cut)


def read_text(reply: Reply, *, allow_cut: bool = False) -> str:
    """Return the text of a reply.

    Args:
        reply: The reply.
        allow_cut: Whether a text that ended at a limit of tokens will do.

    Raises:
        BadReply: The reply has no usable text.
        CutReply: It ended at a limit of tokens.
    """
    if reply.problem and reply.incomplete and reply.text:
        if allow_cut:
            return reply.text
        raise CutReply(reply.problem, reply.text)
    if reply.problem:
        raise BadReply(reply.problem)
    return reply.text


def read_queries(reply: str, count: int, instructions: str = "") -> tuple[str, ...]:
    """Return at most `count` questions of a reply, without those that repeat the instructions.

    Args:
        reply: A model's reply.
        count: The most questions.
        instructions: What the prompt says beside the texts that it is about.

    Raises:
        BadReply: There is no question left.
    """
    lines = [one_line(query) for query in read_as(reply, QueriesReply).queries]
    queries = tuple(dict.fromkeys(line for line in lines if line))
    if not queries:
        raise BadReply("There is no question in the reply.")
    if not (own := tuple(line for line in queries if not is_echo(line, instructions))):
        raise BadReply(ECHO)
    return own[:count]


def read_question(reply: str, instructions: str = "") -> str:
    """Return a reply that is a question, on one line.

    Args:
        reply: A model's reply.
        instructions: What the prompt says beside the texts that it is about.

    Raises:
        BadReply: It is empty, or repeats the instructions or a conversation.
    """
    question = one_line(re.sub(r"\A\W*question:", "", reply, flags=re.IGNORECASE))
    if not question:
        raise BadReply("There is no question in the reply.")
    if is_echo(question, instructions) or re.search(r"^\s*answer:", reply, re.IGNORECASE | re.M):
        raise BadReply(ECHO)
    return question


def is_echo(text: str, instructions: str) -> bool:
    """Return whether a text has a tag of ours, or words in a row from the instructions.

    Small models repeat what they were asked. Searched with, such a text finds what the instructions
    speak of, and not what the reader asked about.
    """
    if TAGS.search(text):
        return True
    known = _runs_of_words(instructions)
    return any(run in known for run in _runs_of_words(text))


def _runs_of_words(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"\w+", text.casefold())
    return set(zip(*(words[start:] for start in range(ECHOED_WORDS)), strict=False))


def read_ranking(reply: str, passages: int) -> tuple[int, ...]:
    """Return the ranked numbers of a reply, none twice, and possibly none at all.

    Raises:
        BadReply: A number is not from 1 to `passages`.
    """
    ranking = tuple(dict.fromkeys(read_as(reply, RankingReply).ranking))
    if invalid := [number for number in ranking if not 1 <= number <= passages]:
        raise BadReply(f"There is no passage {invalid[0]}: they are numbered 1 to {passages}.")
    return ranking


def read_choice(reply: str, options: int) -> int:
    """Return the number of the chosen option, from 1 to `options`; JSON or the number alone.

    Raises:
        BadReply: The reply is neither.
    """
    text = _strip_fence(reply)
    value = str(_object(text).get("choice", "")) if "{" in text else text
    number = re.fullmatch(r"\W*(?:option\W*)?(\d{1,9})\W*", value, re.IGNORECASE)
    if not number or not 1 <= int(number[1]) <= options:
        raise BadReply(f'Expected {{"choice": N}}, N being one of the options, 1 to {options}.')
    return int(number[1])


def read_summary(reply: str) -> str:
    """Return a summary as one paragraph, without code fence, heading or quotation marks.

    Raises:
        BadReply: There is no word in it.
    """
    text = _strip_fence(reply)
    if text.startswith("{"):
        values = [value for value in _object(text).values() if isinstance(value, str)]
        text = values[0] if values else ""
    text = one_line(HEADING.sub("", text))
    if text[:1] + text[-1:] in ('""', "“”") and not set(text[1:-1]) & set('"“”'):
        text = text[1:-1].strip()
    if not re.search(r"\w", text):
        raise BadReply("The summary is empty.")
    return text


def shorten(text: str, limit: int) -> str:
    """Return the beginning of `text` within `limit` tokens.

    It ends at the end of a sentence. If the first sentence is too long, it ends after a clause of
    it, and if the first clause is too long, after a word.
    """
    if tokens.count(text) <= limit:
        return text
    length = len(tokens.cut(text, limit))
    for boundary in (SENTENCE_END, CLAUSE_END, WORD_END):
        # Searched in the whole text, as "3." may be the beginning of "3.5".
        ends = [match.end() for match in boundary.finditer(text) if match.end() <= length]
        if ends and ends[-1]:
            return text[: ends[-1]].rstrip()
    return text[:length]


def read_as(reply: str, schema: type[Schema]) -> Schema:
    """Return a reply as `schema`, which has one field, a list.

    Broken JSON is repaired. A list alone, or lines with bullets, are accepted, too.

    Raises:
        BadReply: The reply does not have this shape.
    """
    text = _strip_fence(reply)
    [field] = schema.model_fields
    is_list_in_lines = BULLET.search(text) and "{" not in text and not text.startswith("[")
    if ("{" in text or "[" in text) and not is_list_in_lines:
        value = _unwrap(_json(text), (field,))
        fields = value if isinstance(value, dict) else {field: value}
    else:
        fields = {field: BULLET.sub("", text).splitlines()} if BULLET.search(text) else {}
    try:
        return schema.model_validate(fields)
    except ValidationError as error:
        raise BadReply(f'Expected {{"{field}": [...]}}, but {first_problem(error)}.') from error


def read_object(reply: str) -> dict[str, Any]:
    """Return the JSON object in a reply. Raises BadReply if there is none, or an empty one."""
    text = _strip_fence(reply)
    value = _object(text) if "{" in text else {}
    if not value:
        raise BadReply("Expected a JSON object.")
    return value


def read_lists(reply: str, names: Sequence[str]) -> dict[str, list[Any]]:
    """Return the lists with these names in a reply's JSON; one that is missing is empty.

    A list alone counts as the first.

    Raises:
        BadReply: None of the lists is there.
    """
    text = _strip_fence(reply)
    value = _unwrap(_json(text), names) if "{" in text or "[" in text else None
    fields = {names[0]: value} if isinstance(value, list) else value
    if not isinstance(fields, dict) or not any(isinstance(fields.get(n), list) for n in names):
        form = ", ".join(f'"{name}": [...]' for name in names)
        raise BadReply(f"Expected {{{form}}}.")
    lists = ((name, fields.get(name)) for name in names)
    return {name: items if isinstance(items, list) else [] for name, items in lists}


def _json(text: str) -> Any:
    """The JSON value of a reply, repaired if it is broken. Raises BadReply if it can't be."""
    # Python also refuses nesting that is too deep (RecursionError) and numbers that are too long
    # (ValueError). The value is cleaned after parsing, when escapes such as \u001b are characters.
    try:
        value = json.loads(text)
        if isinstance(value, str):
            # JSON as a text of JSON.
            value = json.loads(value)
        return clean_json(value)
    except (ValueError, RecursionError):
        pass
    begin = _begin_of_json(text)
    if (objects := _whole_objects(text[begin:])) is not None:
        return clean_json(objects)
    return _repair(text[begin:])


_DECODER = json.JSONDecoder(strict=False)
_PROSE_BRACKETS = re.compile(r"\{[^{}\[\]\"':]{0,80}\}|\[[^{}\[\]\"':]{0,80}\](?!\s*\Z)")
"""What stands in brackets within a sentence, as the number of a passage."""


def _begin_of_json(text: str) -> int:
    """Where the JSON of a reply begins that has prose before it, which may have brackets, too."""
    position = min(place for place in (text.find("{"), text.find("[")) if place >= 0)
    if not text[:position].strip():
        return position
    begin = position
    for _ in range(MAX_PROSE_BRACKETS):
        prose = _PROSE_BRACKETS.match(text, begin)
        if prose is None:
            break
        places = [place for place in (text.find(c, prose.end()) for c in "{[") if place >= 0]
        if not places:
            return position
        begin = min(places)
    return begin


def _whole_objects(text: str) -> Any:
    """The object that a text begins with; the lists of several ones are put together; or None."""
    objects: list[dict[str, Any]] = []
    while text.startswith("{"):
        try:
            value, end = _DECODER.raw_decode(text)
        except (ValueError, RecursionError):
            return None
        objects.append(value)
        text = text[end:].lstrip(" \t\r\n,;")
    return _join_objects(objects)


def _join_objects(objects: Sequence[Any]) -> dict[str, Any] | None:
    """One object with the lists of all; None if they do not have the same ones."""
    if len(objects) == 1 and isinstance(objects[0], dict):
        return objects[0]
    joined: dict[str, Any] = {}
    for each in objects:
        if not isinstance(each, dict) or (joined and each.keys() != joined.keys()):
            return None
        for name, items in each.items():
            if not isinstance(items, list):
                return None
            joined[name] = [*joined.get(name, ()), *items]
    return joined or None


def _unwrap(value: Any, names: Sequence[str]) -> Any:
    """The object with some of the names, if it alone is in a list or in another object."""
    # Models put their reply below the name of its schema, or into a list.
    if isinstance(value, list) and value and all(_has_only(each, names) for each in value):
        return _join_objects(value) or value
    if isinstance(value, dict) and not any(name in value for name in names):
        inner = [each for each in value.values() if isinstance(each, dict)]
        fitting = [each for each in inner if any(name in each for name in names)]
        return fitting[0] if len(fitting) == 1 else value
    return value


def _has_only(value: Any, names: Sequence[str]) -> bool:
    return isinstance(value, dict) and bool(value) and value.keys() <= {*names}


def _repair(broken: str) -> Any:
    """The value of broken JSON. Raises BadReply if there is none, or if its last text was cut."""
    import json_repair

    if (
        len(broken) > MAX_REPAIRED_CHARACTERS
        or broken.count("{") + broken.count("[") > MAX_REPAIRED_BRACKETS
    ):
        raise BadReply("The reply is not valid JSON, and too long to be repaired.") from None
    if _ends_within_text(broken):
        raise BadReply("The JSON of the reply ends within a text: it is not whole.")
    try:
        return clean_json(json_repair.loads(broken))
    except (ValueError, RecursionError) as error:
        raise BadReply(f"The reply is not valid JSON: {error}.") from error


def _ends_within_text(broken: str) -> bool:
    """Whether JSON was cut within one of its texts, half of which must not count as the whole."""
    try:
        _DECODER.raw_decode(broken)
    except json.JSONDecodeError as error:
        is_open = error.msg.startswith("Unterminated string")
        return is_open and not broken.rstrip().endswith(("}", "]", "`"))
    except (ValueError, RecursionError):
        pass
    return False


def _object(text: str) -> dict[str, Any]:
    value = _json(text)
    if isinstance(value, list) and len(value) == 1:
        [value] = value
    return value if isinstance(value, dict) else {}


def _strip_fence(reply: str) -> str:
    fences = [fence.strip() for fence in FENCE.findall(reply)]
    # Of several, the one with JSON: a model may first show code, or repeat a passage.
    with_json = [fence for fence in fences if fence[:1] in ("{", "[")]
    return next(iter(with_json or fences), reply).strip()


_EMPTY_WORDS = {
    "": """none|null|nil|n/a|n.a.|na|unknown|unspecified|unclear|undefined|not stated|not given
        not mentioned|not specified|not applicable|not available|no information|-|?""",
    "ar": "لا يوجد|لا شيء|غير معروف|غير مذكور|غير محدد",
    "bg": "няма|неизвестно|неизвестен|не е посочено",
    "ca": "cap|desconegut|no especificat|no s'indica",
    "cs": "žádný|žádná|žádné|neznámý|neznámé|neuvedeno|nic",
    "da": "ingen|intet|ukendt|ikke angivet|ikke nævnt",
    "de": """kein|keine|keiner|keines|keine angabe|k. a.|k.a.|nichts|unbekannt|nicht genannt
        nicht angegeben|nicht erwähnt|entfällt""",
    "el": "κανένα|κανένας|καμία|άγνωστο|άγνωστος|δεν αναφέρεται",
    "en": "nothing|nowhere",
    "eo": "neniu|nenio|nekonata",
    "es": """ninguno|ninguna|nada|desconocido|desconocida|no especificado|no se menciona
        no se indica|no aplica|sin especificar""",
    "et": "puudub|pole|teadmata|ei ole mainitud",
    "fi": "ei mitään|ei mainittu|ei tiedossa|tuntematon|puuttuu",
    "fr": """aucun|aucune|néant|rien|inconnu|inconnue|non précisé|non précisée|non spécifié
        non mentionné|pas mentionné|sans objet""",
    "he": "אין|לא ידוע|לא צוין|ללא",
    "hr": "nema|ništa|nepoznato|nije navedeno",
    "hu": "nincs|semmi|ismeretlen|nem említett|nincs megadva",
    "it": """nessuno|nessuna|niente|nulla|sconosciuto|sconosciuta|non specificato|non indicato
        non menzionato""",
    "ja": "なし|無し|無|不明|該当なし|記載なし|言及なし|特になし|ない",
    "ko": "없음|없다|알 수 없음|미상|해당 없음|언급 없음",
    "la": "nullus|nulla|nullum|nihil|ignotum",
    "lt": "nėra|niekas|nežinoma|nenurodyta",
    "lv": "nav|nekas|nezināms|nav minēts",
    "nl": "geen|niets|onbekend|niet vermeld|niet genoemd|n.v.t.",
    "no": "ingen|ingenting|ukjent|ikke nevnt|ikke oppgitt",
    "pl": """brak|brak danych|brak informacji|żaden|żadna|żadne|nieznany|nieznana|nieznane
        nie podano|nie określono|nie dotyczy|nie wspomniano|nic""",
    "pt": """nenhum|nenhuma|nada|desconhecido|desconhecida|não especificado|não mencionado
        não informado|não consta""",
    "ro": "niciunul|niciuna|nimic|necunoscut|nespecificat|nemenționat",
    "ru": """нет|нету|ничего|отсутствует|неизвестно|неизвестен|не указано|не указан|не указана
        не упоминается|не упомянуто|нет данных|не определено""",
    "sk": "žiadny|žiadna|žiadne|neznámy|neznáme|neuvedené|nič",
    "sl": "noben|nič|neznano|ni navedeno",
    "sr": "нема|ништа|непознато|није наведено|nema|ništa|nepoznato",
    "sv": "ingen|inget|inga|okänd|okänt|ej angivet|inte angivet|nämns inte",
    "tr": "yok|hiçbiri|bilinmiyor|belirtilmemiş",
    "uk": "немає|нема|нічого|невідомо|невідомий|не вказано|не згадано",
    "vi": "không có|không rõ|không đề cập",
    "zh": "无|無|没有|沒有|未知|不明|未提及|未说明|未說明|不详|不詳|暂无",
}
"""How replies say that a text does not give a value, in English and in the texts' languages."""


def is_empty_value(value: str, language: str) -> bool:
    """Return whether a reply's value says that there is none, as "none", "brak" or "なし".

    Words of English always count, those of other languages only in texts of that language: Nada is
    a name in an English novel, and nothing in a Spanish one.

    Args:
        value: The value, on one line.
        language: The ISO 639-1 code of the text; '' for an unknown one, where all words count.
    """
    plain = " ".join(value.casefold().split()).strip("\"'“”„«»()[]")
    code = _LANGUAGE_PART.match(language.casefold())
    return not plain or plain.rstrip(".。") in _empty_words(code[0] if code else "")


_LANGUAGE_PART = re.compile(r"[a-z]+")


@functools.cache
def _empty_words(language: str) -> frozenset[str]:
    codes = ("", {"nb": "no", "nn": "no"}.get(language, language)) if language else _EMPTY_WORDS
    texts = (_EMPTY_WORDS.get(code, "") for code in codes)
    words = (word for text in texts for word in re.split(r"[|\n]", text))
    return frozenset(word.strip().casefold().rstrip(".") for word in words if word.strip())


def one_line(text: str) -> str:
    """Return a text with each run of white space replaced by one space."""
    return " ".join(text.split())


def plain_name(name: str) -> str:
    """Return the words of a name, case folded and without punctuation, to compare it by."""
    return " ".join(re.split(r"[\W_]+", name.casefold())).strip()
