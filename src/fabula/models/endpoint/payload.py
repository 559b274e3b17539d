"""Read an endpoint's JSON: choices, texts, token counts, and vectors."""

from __future__ import annotations

import base64
import json
import math
import re
from typing import Any, Literal

import numpy as np

from fabula.errors import BadReply
from fabula.text.document import Vectors

Json = dict[str, Any]
End = Literal["", "whole", "length", "filtered", "stopped", "failed"]
"""How a reply ended: '' while it has not, "length" at a limit of tokens, "stopped" before its end
by a server that blames neither its text nor itself."""
_USUAL = re.compile(
    r"(?:stop|eos|end|finish|complete|done|tool_?calls?|tool_?use|function_call|pause_turn)\w*"
    r"|unspecified"
)
"""Reasons by which servers end a whole reply."""
_ENDS: dict[End, re.Pattern[str]] = {
    # Those of OpenAI, Mistral, Anthropic, Gemini, Zhipu and others, behind gateways too.
    "length": re.compile(
        r"length|max_tokens|model_length|max_length|max_output_tokens|token_limit"
        r"|model_context_window_exceeded|maxpredictedtokensreached|contextlengthreached"
        r"|compaction|error_limit"
    ),
    "filtered": re.compile(
        r"(?!function_call).*filter.*|safety|recitation|blocklist|prohibited_content|spii|sensitive|refusal"
        r"|guardrail_intervened|error_toxic|(?:no_)?image(?:_\w+)?|escalation|model_armor"
    ),
    # Gemini's: "all other reasons that stopped the token generation", and "flagged for using an
    # unsupported language". Neither says that the text is bad; it may lack its end.
    "stopped": re.compile(r"other|language"),
    # `insufficient_system_resource` is DeepSeek's, `abort` vLLM's and SGLang's; Gemini writes
    # "function_call_filter: MALFORMED_FUNCTION_CALL", Bedrock `malformed_model_output`, Cohere
    # `USER_CANCEL`, LM Studio `modelUnloaded`.
    "failed": re.compile(
        r"error.*|.*_error|abort(?:ed)?|(?:user_?)?cancel(?:l?ed)?|failed|timeout|time_limit"
        r"|insufficient_system_resource|not_finished|interrupted|userstopped|(?:model)?unload(?:ed)?"
        r"|malformed\w*|function_call_filter|unexpected_tool_call|too_many_tool_calls"
        r"|missing_thought_signature"
    ),
}
MAX_TOKENS = 10_000_000
"""The most tokens of one call; a larger count is an error of the endpoint and is ignored."""


def choice(answer: Json) -> Json:
    """Return the first choice of an answer or event; an empty object if it has none."""
    choices = answer.get("choices")
    return object_or_empty(choices[0]) if isinstance(choices, list) and choices else {}


def messages(answer: Json) -> list[Json]:
    """Return the messages of all choices of a completion.

    One reply is asked for, but GitHub Copilot has its text in one choice, its calls in another.
    """
    choices = answer.get("choices")
    listed = map(object_or_empty, choices if isinstance(choices, list) else ())
    return [object_or_empty(each.get("message")) for each in listed]


def object_or_empty(value: object) -> Json:
    """Return a value that should be an object; an empty object if it is not one."""
    return value if isinstance(value, dict) else {}


def message_text(message: Json) -> str:
    """Return the text of a message; some endpoints send it in parts, thoughts among them."""
    content = message.get("content")
    if isinstance(content, list):
        content = "".join(map(_part_text, content))
    return text_or_empty(content)


def _part_text(part: object) -> str:
    if isinstance(part, str):
        return part
    fields = object_or_empty(part)
    is_thought = fields.get("thought") is True or fields.get("type") in (
        *("thinking", "reasoning", "reasoning_text", "redacted_thinking"),
    )
    return "" if is_thought else text_or_empty(fields.get("text"))


def reasoning_text(message: Json) -> str:
    """Return the thoughts of a message that its server has put in a field of their own."""
    for name in ("reasoning_content", "reasoning", "thinking"):
        if text := text_or_empty(message.get(name)):
            return text
    return ""


def tool_calls(message: Json, most: int) -> str:
    """Return the calls of tools in a message as JSON, {"calls": [...]}; '' if there is none.

    Arguments that are no JSON object stay as the text that they are, for the caller to refuse.

    Args:
        message: The message; the older form with one `function_call` is read, too.
        most: The most characters of arguments that are read as JSON.
    """
    calls = [
        {
            "tool": text_or_empty(each.get("name")),
            "arguments": _arguments(each.get("arguments"), most),
        }
        for each in _functions(message)
    ]
    return json.dumps({"calls": calls}, ensure_ascii=False) if calls else ""


def json_in_call(message: Json) -> str:
    """Return the arguments of a message's only call of a tool, though none was offered; or ''.

    LiteLLM and others ask models that know no form of replies for JSON by a tool, and some leave
    the reply there.
    """
    functions = _functions(message)
    if len(functions) != 1:
        return ""
    arguments = functions[0].get("arguments")
    if isinstance(arguments, dict):
        return json.dumps(arguments, ensure_ascii=False)
    return text_or_empty(arguments)


def _functions(message: Json) -> list[Json]:
    """The functions that a message calls."""
    listed = message.get("tool_calls")
    calls = map(object_or_empty, listed if isinstance(listed, list) else ())
    functions = [object_or_empty(call.get("function")) for call in calls]
    functions = functions or [object_or_empty(message.get("function_call"))]
    return [function for function in functions if function.get("name")]


def _arguments(value: object, most: int) -> object:
    if not isinstance(value, str):
        return value if value is not None else {}
    if not value.strip():
        return {}
    try:
        return json.loads(value) if len(value) <= most else value
    except (ValueError, RecursionError):
        return value


def delta(event: Json) -> Json:
    """Return what a streamed event adds to the message.

    An endpoint that ignores `stream` answers with one completion, which has a whole message.
    """
    first = choice(event)
    return object_or_empty(first.get("delta")) or object_or_empty(first.get("message"))


class Deltas:
    """Reads what each event of a stream adds to the message.

    Some servers end a stream with the whole message, after its pieces. It adds nothing.
    """

    def __init__(self) -> None:
        """Begin a stream."""
        self._has_pieces = False

    def read(self, event: Json) -> Json:
        """Return what the next event adds."""
        piece = object_or_empty(choice(event).get("delta"))
        if self._has_pieces:
            return piece
        self._has_pieces = bool(message_text(piece) or piece.get("tool_calls"))
        return delta(event)


def text_or_empty(value: object) -> str:
    """Return a value that should be a text; an empty text if it is not one."""
    return value if isinstance(value, str) else ""


def reply_end(choice: Json) -> End:
    """Return how a reply ended, by the reasons that servers give; an unknown one is a whole."""
    if not (reason := _end_reason(choice)):
        return ""
    return next((end for end, pattern in _ENDS.items() if pattern.fullmatch(reason)), "whole")


def odd_reason(choice: Json) -> str:
    """Return why a reply ended in the server's own words; '' for a usual reason."""
    reason = _end_reason(choice)
    is_odd = reply_end(choice) in ("whole", "stopped") and not _USUAL.fullmatch(reason)
    return reason[:60] if is_odd else ""


def _end_reason(choice: Json) -> str:
    """The reason for the end of a reply in lower case; '' while it has not ended."""
    reason = choice.get("finish_reason")
    if isinstance(reason, dict):
        # An old SGLang: {"type": "length", "length": 64}.
        reason = reason.get("type")
    name, _, inner = str(reason or "").lower().partition(":")
    # "content_filter: OTHER" is Gemini's reason behind OpenAI's.
    inner = inner.strip()
    name = inner if _ENDS["stopped"].fullmatch(inner) else name
    # DashScope writes "null" while the reply goes on.
    return {"null": "", "none": ""}.get(name, name.removeprefix("finish_reason_").strip())


def describe_reason(model: str, reason: str) -> str:
    """Return a sentence on a reply that ended by a reason that is none of the usual ones."""
    about = " (an unsupported language)" if reason == "language" else ""
    return f"The server ended the reply of {model} with the reason {reason!r}{about}."


def join_events(events: list[Json]) -> Json:
    """Return the events of a stream as one completion."""
    read = Deltas().read
    deltas = [read(event) for event in events]
    message: Json = {"content": "".join(map(message_text, deltas))}
    for name in ("reasoning_content", "reasoning", "refusal"):
        if text := "".join(text_or_empty(each.get(name)) for each in deltas):
            message[name] = text
    if calls := _join_calls(deltas):
        message["tool_calls"] = calls
    last = next((choice(event) for event in reversed(events) if ends_reply(event)), {})
    joined: Json = {"choices": [{**last, "message": message}]}
    for event in events:
        if error := reported_error(event):
            return object_or_empty(error)
        if counts := token_counts(event):
            joined["usage"] = counts
    return joined if last else {"error": {"message": "Its stream ended before the reply did."}}


def _join_calls(deltas: list[Json]) -> list[Json]:
    """The calls of tools whose arguments come in the pieces of a stream, numbered by `index`."""
    calls: list[Json] = []
    # The call under way of each index, and its id.
    under_way: dict[str, tuple[str, Json]] = {}
    for added in deltas:
        pieces = added.get("tool_calls")
        for place, piece in enumerate(pieces if isinstance(pieces, list) else ()):
            fields = object_or_empty(piece)
            function = object_or_empty(fields.get("function"))
            key, id = str(fields.get("index", place)), text_or_empty(fields.get("id"))
            first, call = under_way.get(key, ("", None))
            # Some servers number all calls 0. Others give each piece of a call another id, but only
            # the first one has a name.
            is_next = id and first and id != first and function.get("name")
            if call is None or is_next:
                call = {"name": "", "arguments": ""}
                calls.append(call)
                first = id
            under_way[key] = (first or id, call)
            call["name"] = call["name"] or text_or_empty(function.get("name"))
            arguments = function.get("arguments")
            if isinstance(arguments, str) and isinstance(call["arguments"], str):
                call["arguments"] += arguments
            elif arguments is not None:
                call["arguments"] = arguments
    return [{"function": call} for call in calls]


def ends_reply(event: Json) -> bool:
    """Return whether a streamed event ends the reply."""
    return bool(reply_end(choice(event)))


def has_content(event: Json) -> bool:
    """Return whether a streamed event has text or ends the reply."""
    added = delta(event)
    return bool(message_text(added) or added.get("refusal")) or ends_reply(event)


def reported_error(answer: Json) -> object:
    """Return the error in an answer or event whose status is 200; None if it has none.

    It stands beside the choices, in place of them, or within the first.
    """
    if answer.get("error"):
        return answer
    if answer.get("object") == "error":
        return answer
    status = object_or_empty(answer.get("base_resp"))
    if status.get("status_code"):
        # MiniMax.
        number = status["status_code"]
        code = _MINIMAX_STATUSES.get(number, 500) if isinstance(number, int) else 500
        message = f"{text_or_empty(status.get('status_msg'))} ({str(number)[:20]})"
        return {"error": {"message": message, "code": code}}
    first = choice(answer)
    if first.get("error"):
        return first
    if reply_end(first) == "failed":
        reason = str(first["finish_reason"])[:100]
        return {"error": {"message": f"The reply ended by {reason!r}."}}
    has_result = any(name in answer for name in ("choices", "data", "results", "usage"))
    if not has_result and isinstance(answer.get("message") or answer.get("detail"), str):
        return answer
    return None


_MINIMAX_STATUSES = {1002: 429, 1004: 401, 1008: 402, 1026: 400, 1027: 400, 1039: 400, 2013: 400}


def token_counts(answer: Json) -> Json:
    """Return the field with the token counts of an answer or event; empty if it has none.

    Moonshot ends a stream with it in the choice, Groq in a field of its own.
    """
    places = (answer, choice(answer), object_or_empty(answer.get("x_groq")))
    return next(filter(None, (object_or_empty(place.get("usage")) for place in places)), {})


def usage(answer: Json) -> tuple[int, int]:
    """Return the tokens of the prompt and of the reply; 0 where they are not reported.

    The tokens of thoughts are a part of the reply's, also where a server counts them only in the
    total.
    """
    counts = token_counts(answer)
    sent, received = map(
        token_count, (counts.get("prompt_tokens"), counts.get("completion_tokens"))
    )
    return sent, received + _thoughts_apart(answer)


def _thoughts_apart(answer: Json) -> int:
    """The tokens of thoughts that only the total counts, as Gemini's and xAI's interfaces do."""
    counts = token_counts(answer)
    if not token_count(counts.get("prompt_tokens")):
        return 0
    received = token_count(counts.get("completion_tokens"))
    total = token_count(counts.get("total_tokens"))
    return max(0, total - tokens_read(answer) - received)


def thought_tokens(answer: Json) -> int:
    """Return the tokens that a model has spent on thoughts; 0 if they are not reported."""
    details = object_or_empty(token_counts(answer).get("completion_tokens_details"))
    return max(token_count(details.get("reasoning_tokens")), _thoughts_apart(answer))


def cached_tokens(answer: Json) -> int:
    """Return the prompt's tokens that were in the endpoint's prefix cache; 0 if not reported."""
    details = object_or_empty(token_counts(answer).get("prompt_tokens_details"))
    return min(token_count(details.get("cached_tokens")), usage(answer)[0])


def tokens_read(answer: Json) -> int:
    """Return how many tokens of the prompt the model has read; 0 if that is not reported.

    Servers that count what was in their cache apart have it in another field.
    """
    counts = token_counts(answer)
    sent = token_count(counts.get("prompt_tokens"))
    apart = ("cache_read_input_tokens", "cache_creation_input_tokens", "prompt_cache_hit_tokens")
    return sent and sent + sum(token_count(counts.get(name)) for name in apart)


def token_count(value: object) -> int:
    """Return a number of tokens; 0 for a value that can't be one."""
    number = finite_number(value)
    return int(number) if number is not None and 0 <= number <= MAX_TOKENS else 0


def finite_number(value: object) -> float | None:
    """Return a finite number; None for anything else, as `true`, "3" or NaN."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def whole_json(text: str) -> str:
    """Return a text that is whole JSON and nothing else, without white space; '' for any other."""
    text = text.strip()
    fenced = re.fullmatch(r"```\w*\n(.*?)\n?```", text, re.DOTALL)
    try:
        value = json.loads(fenced[1] if fenced else text)
    except (ValueError, RecursionError):
        return ""
    return text if isinstance(value, dict | list) and value else ""


def unit_rows(data: object, count: int) -> Vectors:
    """Return the vectors of an answer: float32, shape (count, dimensions), rows of unit length.

    Args:
        data: The answer's list of {index, embedding}. An embedding is a list of numbers, or base64
            of little-endian float32.
        count: The number of texts that were sent; the rows are in their order.

    Raises:
        BadReply: There is not one finite vector, not of length 0, for each text.
    """
    if not isinstance(data, list):
        data = []
    if len(data) != count:
        raise BadReply(f"The embedding model returned {len(data)} vectors for {count} texts.")
    indices = _indices(data)
    if indices is None:
        raise BadReply("The embedding model's vectors do not have the indices of the texts.")
    try:
        rows = _rows([object_or_empty(item).get("embedding") for item in data])
    except (TypeError, ValueError, OverflowError) as error:
        raise BadReply(
            f"The embedding model's vectors can't be read: {str(error)[:100]}."
        ) from error
    sizes = {row.size for row in rows}
    if len(sizes) != 1 or 0 in sizes:
        raise BadReply(f"The embedding model's vectors have {sorted(sizes)[:5]} dimensions.")
    by_index = dict(zip(indices, rows, strict=True))
    vectors = np.stack([by_index[index] for index in range(count)])
    # Numbers beyond float32 have become infinite, and are refused here.
    with np.errstate(all="ignore"):
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not (lengths > 0).all():
            raise BadReply(
                "The embedding model returned a vector of length 0, or with NaN, null or infinity "
                "in it. Restart or update the server, or name another FABULA_EMBEDDING_MODEL."
            )
        unit: Vectors = (vectors / lengths).astype(np.float32)
    if not np.isfinite(unit).all():
        raise BadReply("The embedding model returned a vector with NaN or infinity in it.")
    return unit


def _indices(data: list[object]) -> list[int] | None:
    """The texts that vectors belong to; None if their numbers can't be understood."""
    count = len(data)
    indices = [object_or_empty(item).get("index") for item in data]
    if indices == [None] * count or indices == [0] * count:
        # Some servers number none, or compute each text by itself.
        return [*range(count)]
    numbers = [index for index in indices if type(index) is int]
    first = min(numbers, default=0)
    if first not in (0, 1) or {*numbers} != {*range(first, first + count)} or len(numbers) != count:
        return None
    return [number - first for number in numbers]


def _rows(embeddings: list[object]) -> list[Vectors]:
    """Vectors of any length, float32."""
    packed = [base64.b64decode(e, validate=True) for e in embeddings if isinstance(e, str)]
    if len(packed) == len(embeddings):
        type = "<f8" if _is_double(packed) else "<f4"
        with np.errstate(all="ignore"):
            return [np.frombuffer(row, dtype=type).astype(np.float32) for row in packed]
    return [_row(embedding) for embedding in embeddings]


def _row(embedding: object) -> Vectors:
    if isinstance(embedding, str):
        decoded = base64.b64decode(embedding, validate=True)
        return np.frombuffer(decoded, dtype="<f4").astype(np.float32)
    if not isinstance(embedding, list):
        raise ValueError("an embedding is not a list of numbers")
    if None in embedding:
        # What JSON has in the place of NaN.
        embedding = [math.nan if number is None else number for number in embedding]
    numbers = np.asarray(embedding)
    if numbers.dtype.kind not in "if":
        raise ValueError("an embedding has items that are not numbers")
    if numbers.ndim > 1 and len(numbers) > 1:
        raise ValueError("an embedding has a vector for each token: the server has no pooling")
    with np.errstate(all="ignore"):
        return numbers.astype(np.float32).reshape(-1)


MAX_COMPONENT, MIN_LARGEST_COMPONENT = 1e3, 0.01
"""Between these is the largest number of any embedding."""
MIN_DOUBLE_BYTES = 64
"""Shorter vectors are not looked at: a few numbers may be anything."""


def _is_double(packed: list[bytes]) -> bool:
    """Whether vectors are float64, as servers in Python may send, and not OpenAI's float32."""
    if not all(len(row) % 8 == 0 and len(row) >= MIN_DOUBLE_BYTES for row in packed):
        return False
    # Lower halves of float64, as float32, have any magnitude, or are all 0 if precision was low.
    joined = b"".join(packed)
    with np.errstate(all="ignore"):
        halves = np.abs(np.frombuffer(joined, dtype="<f4"))
        doubles = np.abs(np.frombuffer(joined, dtype="<f8"))
        is_odd = not (halves <= MAX_COMPONENT).all() or not halves[::2].any()
        return bool(is_odd and MIN_LARGEST_COMPONENT <= doubles.max() <= MAX_COMPONENT)
