"""An endpoint's error answers: what they mean, whether to try again and how long to wait."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

from fabula.errors import ModelError
from fabula.models.endpoint.payload import finite_number

TEMPORARY_STATUSES = frozenset({408, 409, 424, 425, 429, 498})
"""Statuses of errors that may be gone at the next try, like all from 500 up. With 424 TGI and TEI
say that a batch failed, with 498 Groq that it has no room."""
NOT_ABOUT_REQUEST = frozenset({401, 402, 403, 405, 408, 409, 413, 424, 425, 429, 498, 503, 504})
"""Statuses that are about the key, the account or the load, and never about a parameter."""
PROXY_STATUSES = range(520, 531)
"""Those of Cloudflare, and Anthropic's 529: the request did not come to a model."""
PROXY_TIMEOUTS = frozenset({504, 524})
"""Those of a proxy that did not wait for a reply: nginx after 60 s, Cloudflare after 100 s."""
KINDS = {
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    "overloaded_error": 529,
    "insufficient_quota": 429,
    "rate_limit_exceeded": 429,
    "invalid_api_key": 401,
    "model_not_found": 404,
    "context_length_exceeded": 400,
    "content_filter": 400,
    "invalid_request_error": 400,
}
"""The statuses of errors that an endpoint names within an answer of status 200, by code or type."""
QUOTA = re.compile(
    r"insufficient[_ ](?:user[_ ])?(?:quota|balance|credits?|funds)"
    r"|exceeded[_ ](?:your )?current[_ ]quota|(?:subscription|monthly) quota (?:is )?exceeded"
    r"|exhausted their quota|individual quota reached|quota is not enough"
    r"|billing_(?:hard_limit_reached|not_active)|credit balance is too low"
    r"|balance is (?:insufficient|too low|not enough)|not[_ ]enough[_ ]balance|overdue[_ ]?balance"
    r"|(?:need|requires?) (?:a )?positive balance|out of credits|accountoverdue"
    r"|(?:requires? more|have any|used all available) credits|budget_exceeded"
    r"|budget has been exceeded|exceeded(?:token)?budget|spend(?:ing)? limit|arrearage"
    r"|account \S+ is suspended|reached your specified api usage limits"
    # Allowances of a day, a week or a month: Cloudflare, Cohere's trials, Z.AI, Kimi, Moonshot.
    r"|daily free allocation|(?:calls?|requests?) ?(?:/|per|a) ?month\b"
    r"|(?:weekly|monthly)[^.:]{0,20} (?:usage )?limit (?:is |was |has been )?(?:exhausted|reached)"
    r"|reached your (?:daily|weekly|monthly)[^.]{0,20} (?:usage )?limit|\bTPD rate limit"
    r"|usage limit reached|余额不足|欠费|额度不足|额度已用|[使调]用上限|限额将在.{0,40}重置",
    re.IGNORECASE,
)
"""How servers say that an account has no credit left, or no more of its budget or allowance. Some
do so with 400 or 401, or with the 429 that elsewhere asks for patience."""
DAILY = re.compile(r"per[ _-]?day|limit: 0\b", re.IGNORECASE)
"""What Gemini's quota is by where waiting does not help; it has the same words for each minute."""
KEY = re.compile(
    r"(?:invalid|incorrect|expired|missing|wrong) api[ _-]?key|expired[_ ]key"
    r"|api[ _-]?key (?:is )?(?:not valid|not found|(?:has )?expired|invalid)|api_key_invalid",
    re.IGNORECASE,
)
"""How servers refuse a key with 400 in the place of 401: Gemini, xAI, LiteLLM."""
UNKNOWN_MODEL = re.compile(
    r"(?:invalid|unknown|no such) model\b"
    r"(?!\s+(?:parameter|param|field|setting|output|response|reply|config))"
    r"|\bmodel (?:does )?not exist|not a valid model"
    r"|unknown_model|invalid_model|model_not_found"
    r"|model_decommissioned|has been decommissioned|end[ -]of[ -]life"
    r"|\bmodel\W{1,3}\S{1,100} (?:does not exist|(?:was )?not found)|model identifier is invalid"
    r"|does not work with the specified model|no models? (?:is |are )?loaded|model is not loaded",
    re.IGNORECASE,
)
"""How servers say with 400 that they have no model of that name, or none any more, where others say
404."""
UNKNOWN_PATH = re.compile(
    r"\A\W*(?:404:? )?(?:page )?not found\W*\Z|unexpected endpoint|\Ainvalid url\b|cannot post\b"
    r"|\bno (?:such )?route\b|\A(?:405:? )?method not allowed\W*\Z",
    re.IGNORECASE,
)
"""How servers say that they have no such call, as below an address without /v1. LM Studio does so
with 200."""
FILTERED = re.compile(
    r"content[ _-]?filter|content[_ ]?policy|content management policy|invalid_prompt"
    r"|content exists risk|data_?inspection_?failed|inappropriate content|considered high risk"
    r"|moderation block|requires moderation|input was flagged|violates? (?:our )?usage guidelines"
    r"|safety_check_type|new_sensitive|不安全或敏感",
    re.IGNORECASE,
)
"""How servers say that a filter refused a text. OpenRouter and xAI do so with 403."""
SENSITIVE = re.compile(r"(?<!['\"`])sensitive[_ ]?(?:content|information)", re.IGNORECASE)
"""How others say so, but not with 403, and not of a parameter of that name."""
MALFORMED = re.compile(
    r"json_validate_failed|tool_use_failed|output_parse_failed|error parsing tool call"
    r"|failed to (?:call a function|generate json)"
    r"|harmonyerror|unexpected tokens? (?:\d+ while|remaining in message header)"
    r"|failed to parse input at pos",
    re.IGNORECASE,
)
"""How servers say that they can't read what their own model wrote: Groq, Ollama, vLLM with gpt-oss,
llama.cpp. It is no refusal of the request, though some answer it with 400."""
CRASHED = re.compile(
    r"channel error|model has crashed|model (?:was )?unloaded|operation cancell?ed", re.IGNORECASE
)
"""How LM Studio says with 400 that the model is gone for a moment."""
LOADING = re.compile(r"\bloading\b", re.IGNORECASE)
BUSY = re.compile(
    r"overloaded|\bbusy\b|\bloading\b|no slots? available|pending requests|queue is full"
    r"|(?:no|at|over|out of) capacity|capacity (?:temporarily )?exceeded"
    r"|(?:high|heavy) (?:demand|load)"
    r"|too many (?:concurrent )?(?:requests|connections)|request limit reached|rate.?limit|throttl"
    r"|resource.?exhausted|繁忙|负载",
    re.IGNORECASE,
)
"""How servers say with 503 or 529 what others say with 429."""
NOT_LOADED = re.compile(
    r"(?:failed|unable) to load\b|(?:could not|cannot) load\b"
    r"|(?:error|failed|failure)\b[^:.;,]{0,30}(?<!is )(?<!still )(?<!currently )\bloading\b",
    re.IGNORECASE,
)
"""How servers say that loading has failed, so that it does not help to wait for its end."""
SHARED_CONTEXT = re.compile(r"context size has been exceeded", re.IGNORECASE)
"""How llama.cpp says that the calls under way together do not fit its context, each of which may
fit alone."""
NO_NUMBER = re.compile(r"unsupported value: (?:nan|[+-]?inf)", re.IGNORECASE)
"""How Ollama says that a model made no numbers of one of the texts to embed."""
CONTEXT = re.compile(
    r"context_length_exceeded|context (?:length|window|size)|maximum context|prompt is too long"
    r"|exceed_context_size|string_above_max_length"
    r"|physical batch size|(?:input|text|prompt|sequence|document)s? (?:\S+ ){0,3}"
    r"(?:is|are) too (?:long|large)"
    r"|must have less than \d+ tokens|too many (?:input )?tokens|max_tokens_per_request"
    r"|(?:max(?:imum)?|exceed\w*|limit\w*|longer|more|most|larger|greater|less|fewer|within)\b"
    r"[^.]{0,60}\b(?:\d+ )?(?:input )?tokens"
    r"|tokens?\b[^.]{0,60}\b(?:max(?:imum)?|exceed\w*|limit|longer|larger|greater)\b"
    r"|input length|(?:sequence|prompt|model) length|token limit|tokens \+ \W?max_new_tokens"
    r"|reduce the length of the (?:messages|prompt|input)|too large for model with"
    r"|(?:prompt|input|messages?|request) (?:is )?too (?:long|large)[:;,]|max_(?:seq|model)_len"
    r"|(?:total )?length of all messages|(?:prompt|input) token count|超长|超过最大长度|上下文长度"
    r"|exceeds? max(?:imum)? length|max_tokens must be at least 1, got -",
    re.IGNORECASE,
)
"""How servers say that a text does not fit a model."""
REPLY_LIMIT = re.compile(r"max_(?:completion_|new_)?tokens")
"""The names of the length of a reply."""
TOO_LARGE_FOR_MINUTE = re.compile(
    r"request too large for|(?:input or output|prompt) tokens must be reduced", re.IGNORECASE
)
"""How OpenAI says with 429 that one request is larger than what an account may send in a minute."""
TOO_MANY_TEXTS = re.compile(
    r"batch[\s_-]?size|(?:per|in (?:one|a|the|each)|input) batch|batch (?:is )?too (?:large|big)"
    r"|batch\w* (?:exceed|limit|length)|requests? can be in"
    r"|too many (?:inputs|texts|items|elements|documents|strings|embeddings|embedding requests)"
    r"|(?:at most|no more than|more than|larger than|max(?:imum)?(?: number)?(?: of)?|up to"
    r"|exceeds?|limit(?:ed)?(?: to| of| is)?)\W{0,3}\d*\s*"
    r"(?:input|text|item|element|document|string|sentence|embedding)s?\b"
    r"|(?:number|count|amount|length|size) of (?:the )?(?:input|text|item|element|document|string)"
    r"|array length|array too long|list should have at most|input\W{0,10}(?:array|list)\b"
    r"|instances?(?:\(s\))? (?:is|are) allowed|too many instances",
    re.IGNORECASE,
)
"""How servers say that there are too many texts in a call for embeddings."""
SERVER_CONTEXT = re.compile(
    r"physical batch size|context (?:length|window|size)|input length|maximum model length"
    r"|too (?:large|long) to process",
    re.IGNORECASE,
)
"""How servers say that in an answer of status 500, as llama.cpp's, which is often about nothing."""
AZURE_ADDRESSES = (
    " At Azure it ends with /openai/v1, or with /openai/deployments/NAME?api-version=VERSION."
)
_LIMIT_NUMBER = re.compile(
    r"(?:than|most|max\w*|limit\w*|up to|exceed\w*|allowed|allows|is|of|be|to|(?<=\d )>|<=|≤|=)"
    r"[^\d.<>]{0,30}?(\d{1,9}+)(?![\d.]*[kKmM]?\s*tokens)"
    r"|\b(\d{1,9}) (?:is the (?:max|limit)|(?:input|text|item|document)s? (?:max|at most)"
    r"|instances?(?:\(s\))? (?:is|are) allowed)",
    re.IGNORECASE,
)
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = r"(\d+(?:\.\d+)?)(ms|s|m|h|d)"
MAX_SEARCHED = 10_000
"""How many characters of an error's message are searched for a wait."""
_ASKED_WAIT = re.compile(
    r"\b(?:try again|retry(?:ing)?|wait|retrydelay|expected available|resets?)"
    r"(?:\s+(?:in|after|for|about|at least)){0,2}\W{0,5}"
    r"((?:\d{1,6}(?:\.\d+)?\s?"
    r"(?:ms|milliseconds?|s|sec(?:ond)?s?|m|min(?:ute)?s?|h(?:ours?)?|d(?:ays?)?)(?:\b|(?=\d))\s?)+)"
    r"(?![\w-])",
    re.IGNORECASE,
)
"""How a message says when to try again: "in 17.3s", "in 1h2m3s", "after 60 seconds". The number
follows at once, as a message may also have a request id in it."""
_ASKED_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s?(ms|milli|s|m|h|d)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model and the setting that names it, for messages."""

    model: str
    setting: str


@dataclass(slots=True)
class Tries:
    """The failed tries of one call."""

    failed: int = 0
    refused: int = 0
    """Those that were answered with 429, too many requests."""
    shared: int = 0
    """Those of the refused that did not fit a context which calls share."""

    @property
    def faults(self) -> int:
        """All failed tries."""
        return self.failed + self.refused


@dataclass(frozen=True, slots=True)
class EndpointError:
    """An error as an endpoint reports it.

    Attributes:
        status: The HTTP status.
        message: The error's message.
        code: The error's own code, as `insufficient_quota`.
        parameter: The request's parameter that the error names, if it names one.
        details: The whole body of the answer, of which the message is a part.
        kind: The error's type, as `invalid_request_error`.
        wait: The seconds that the body asks to wait; None if it does not say.
    """

    status: int
    message: str
    code: str = ""
    parameter: str | None = None
    details: str = ""
    kind: str = ""
    wait: float | None = None

    @classmethod
    def of(cls, status: int, body: object) -> EndpointError:
        """Return the error of an answer's body: a text, or JSON in one of the forms in use."""
        details = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
        body = _first(_parse_text(body))
        if isinstance(body, dict) and (error := body.get("error") or body.get("errors")):
            # xAI has the code beside the message, Cloudflare a list of errors.
            body = {**body, "message": error} if isinstance(error, str) else _first(error)
        error = body if isinstance(body, dict) else {}
        message = error.get("message") or error.get("detail") or body
        if not isinstance(message, str):
            message = json.dumps(message, ensure_ascii=False)
        metadata = error.get("metadata")
        if isinstance(metadata, dict) and isinstance(metadata.get("raw"), str):
            # OpenRouter passes on the error of the provider that it called.
            message = f"{message}: {metadata['raw']}"
        code, parameter = error.get("code"), error.get("param")
        return cls(
            status,
            message,
            str(code or "")[:100],
            parameter if isinstance(parameter, str) else None,
            details,
            str(error.get("type") or "")[:100],
            _wait_in_body(error, message),
        )

    @property
    def quota(self) -> bool:
        """Whether the account has no credit left, so that waiting does not help."""
        if self.status == 402:
            return True
        if self.status not in (400, 401, 403, 412, 429) or not self._mentions(QUOTA):
            return False
        # Gemini has these words for the quota of a minute, too, and then says when it is refilled.
        return self.wait is None or bool(DAILY.search(self.details))

    @property
    def too_long(self) -> bool:
        """Whether the text does not fit the model."""
        if self.status == 429:
            return bool(TOO_LARGE_FOR_MINUTE.search(self.message))
        if self.status not in (400, 413, 422, 500):
            return False
        pattern = SERVER_CONTEXT if self.status == 500 else CONTEXT
        return bool(pattern.search(f"{self.code} {self.message}")) and not self._is_about_reply

    @property
    def shared_context(self) -> bool:
        """Whether a text may fit the server's context once no other call is under way."""
        return self.status == 500 and bool(SHARED_CONTEXT.search(self.message))

    @property
    def _is_about_reply(self) -> bool:
        """Whether it is the reply that may not be as long as was asked for."""
        text = f"{self.parameter or ''} {self.message}"
        is_about_context = re.search(r"context|prompt|input|got -", self.message, re.IGNORECASE)
        return bool(REPLY_LIMIT.search(text)) and not is_about_context

    @property
    def too_many_texts(self) -> bool:
        """Whether a call for embeddings has too many texts, by its message."""
        if self.status not in (400, 413, 422, 500) or self.too_long:
            return False
        return bool(TOO_MANY_TEXTS.search(f"{self.code} {self.message}")) or self.status == 413

    @property
    def about_texts(self) -> bool:
        """Whether a call for embeddings may succeed with fewer or shorter texts."""
        if self.quota or self.filtered or self.unauthorized or self.unknown_model or self.crashed:
            return False
        return self.status in (400, 413, 422) or (
            self.too_long or self.too_many_texts or self.no_numbers
        )

    def most_texts(self, count: int) -> int:
        """Return how many texts to send after a call with `count` was refused, at least 1.

        That is the limit that the message names, or half of what was sent.
        """
        numbers = [int(n) for pair in _LIMIT_NUMBER.findall(self.message) for n in pair if n]
        named = [number for number in numbers if 1 <= number < count]
        return max(named, default=max(1, count // 2))

    @property
    def no_numbers(self) -> bool:
        """Whether a model for embeddings made no numbers of one of the texts."""
        return self.status >= 500 and bool(NO_NUMBER.search(self.message))

    @property
    def malformed(self) -> bool:
        """Whether the server can't read what its model replied, as Groq says with status 400."""
        return self._mentions(MALFORMED)

    @property
    def filtered(self) -> bool:
        """Whether a content filter refused this text."""
        if self.status == 451:
            return True
        if self.status not in (400, 403, 422):
            return False
        # A key may have no access to sensitive information.
        is_sensitive = self.status != 403 and self._mentions(SENSITIVE)
        return is_sensitive or self._mentions(FILTERED)

    @property
    def unauthorized(self) -> bool:
        """Whether the key was refused."""
        return self.status == 401 or (self.status in (400, 403) and bool(KEY.search(self.details)))

    @property
    def unknown_model(self) -> bool:
        """Whether the endpoint has no such model, where it says so with another status than 404."""
        return self.status in (400, 410, 422) and self._mentions(UNKNOWN_MODEL)

    @property
    def unknown_path(self) -> bool:
        """Whether the endpoint has no such call, so that its address is probably another one."""
        return self.status in (404, 405, 500) and bool(UNKNOWN_PATH.search(self.message))

    @property
    def crashed(self) -> bool:
        """Whether the model is gone for a moment, where the server says so with status 400."""
        return self.status == 400 and bool(CRASHED.search(self.message))

    @property
    def busy(self) -> bool:
        """Whether the server can't take the call now, so that fewer calls or patience may help."""
        if self.status == 429:
            return True
        if self.status not in (503, 529) or NOT_LOADED.search(self.message):
            return False
        return bool(BUSY.search(self.message))

    @property
    def loading(self) -> bool:
        """Whether the server is still loading the model."""
        return self.busy and bool(LOADING.search(self.message))

    def _mentions(self, phrases: re.Pattern[str]) -> bool:
        return bool(phrases.search(f"{self.code} {self.kind} {self.message}"))

    def about_request(self, model: str) -> bool:
        """Return whether the error may be about the request, and not the key, model or load."""
        if self.quota or self.too_long or self.filtered or self.status in NOT_ABOUT_REQUEST:
            return False
        if self.malformed or self.unauthorized or self.unknown_model or self.crashed:
            return False
        if self.unknown_path:
            return False
        names_model = re.search(rf"(?<!\w){re.escape(model)}(?!\w)", self.message) is not None
        names_kind = re.search("model|deployment", self.code, re.IGNORECASE)
        unknown_model = self.status == 404 and bool(names_model or names_kind)
        is_proxy = self.status in PROXY_STATUSES
        return 400 <= self.status < 600 and not (unknown_model or is_proxy or self.no_numbers)

    @property
    def temporary(self) -> bool:
        """Whether the same request may succeed later."""
        is_lasting = self.quota or self.too_long or self.too_many_texts or self.no_numbers
        is_lasting = is_lasting or self.unknown_path
        is_passing = self.status in TEMPORARY_STATUSES or self.status >= 500 or self.crashed
        return is_passing and not is_lasting

    def refuses_size(self, role: NamedModel) -> bool:
        """Return whether a call is too large, as a proxy says of a body, and not of its texts."""
        return self.status == 413 and role.setting != "FABULA_EMBEDDING_MODEL"

    def _explain_account(self, url: str, message: str) -> str:
        """The line for an account without credit, or a key that is refused."""
        if self.quota:
            return f"The account at {url} has no quota left: {message} Check its plan and billing."
        azure = AZURE_ADDRESSES if "subscription key" in self.message else ""
        return f"{url} refused the key ({self.status}): check OPENAI_API_KEY.{azure}"

    def _explain_missing(self, url: str, role: NamedModel, message: str) -> str:
        """The line for a call or a model that the endpoint does not have."""
        if self.unknown_path:
            return (
                f"{url} has no such call ({self.status}): {message} Check OPENAI_BASE_URL, which "
                f"often ends with /v1, and {role.setting}."
            )
        azure = AZURE_ADDRESSES if message == "Resource not found." else ""
        return (
            f"{url} has no model {role.model!r} ({self.status}): {message} "
            f"Check {role.setting} and OPENAI_BASE_URL.{azure}"
        )

    def explain(self, url: str, role: NamedModel) -> str:
        """Return one line for the user: what happened, and what to do about it."""
        message = " ".join(self.message.split())[:300]
        message += "" if message.endswith((".", "!", "?")) else "."
        model, setting = role.model, role.setting
        if self.quota or self.unauthorized:
            return self._explain_account(url, message)
        if self.too_long or self.refuses_size(role):
            advice = (
                "Lower FABULA_CHUNK_TOKENS."
                if setting == "FABULA_EMBEDDING_MODEL"
                else "Lower aspects.cluster_tokens or context_tokens."
            )
            return f"The text is too long for {model} at {url}: {message} {advice}"
        if self.filtered:
            return (
                f"The content filter of {url} refused a text for {model} ({self.status}): {message}"
            )
        if self.no_numbers:
            return (
                f"{model} at {url} made no vector of a text ({self.status}): {message} Update the "
                f"server, or name another model in {setting}."
            )
        if self.status == 403:
            return (
                f"{url} refuses access to {model} (403): {message} "
                f"Check OPENAI_API_KEY and {setting}."
            )
        if self.unknown_path or self.status == 404 or self.unknown_model:
            return self._explain_missing(url, role, message)
        if self.status == 429:
            return f"{url} is called too often (429): {message}"
        if self.temporary:
            return f"{url} failed ({self.status}): {message}"
        if REPLY_LIMIT.search(f"{self.parameter} {message}"):
            return (
                f"{url} refused the length of the reply of {model} ({self.status}): {message} "
                "Lower aspects.details_per_call, or turn aspects.aspects_with_summaries off."
            )
        return f"{url} refused the request to {model} ({self.status}): {message}"


def _parse_text(body: object) -> object:
    """The JSON value of a body that is its text; any other body as it is."""
    if isinstance(body, str) and body.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(body)
        except (ValueError, RecursionError):
            return body
    return body


def _first(value: object) -> object:
    """The first of a list, as Gemini and Cloudflare have their errors in one; else the value."""
    return value[0] if isinstance(value, list) and value else value


def _wait_in_body(error: Mapping[str, object], message: str) -> float | None:
    """The seconds that an error's body asks to wait; None if it does not say."""
    # Hugging Face has a time to load, OpenRouter headers, Gemini details, OpenAI a message.
    estimate = finite_number(error.get("estimated_time"))
    if estimate is not None:
        return max(0.0, estimate)
    metadata = error.get("metadata")
    headers = metadata.get("headers") if isinstance(metadata, dict) else None
    if isinstance(headers, dict):
        wait = requested_wait({str(name).lower(): str(value) for name, value in headers.items()})
        if wait is not None:
            return wait
    details = error.get("details")
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        if isinstance(delay, str) and (wait := _seconds_until(delay)) is not None:
            return wait
    # A message about a reply that can't be read quotes it, and with it the words of a book.
    if MALFORMED.search(f"{error.get('code')} {error.get('type')} {message}"):
        return None
    if match := _ASKED_WAIT.search(message[:MAX_SEARCHED]):
        parts = _ASKED_DURATION.findall(match[1])
        wait = sum(float(number) * _UNITS[_unit(name)] for number, name in parts)
        return wait if math.isfinite(wait) else None
    return None


def _unit(name: str) -> str:
    name = name.lower()
    return "ms" if name == "milli" else name


NO_VECTORS = EndpointError(400, "It answered without a single vector.", parameter="encoding_format")
"""What an answer without vectors says where they were asked for in base64."""


class ErrorResponse(Exception):
    """An answer of an endpoint that is an error; it never leaves `fabula.models`.

    Attributes:
        error: The error.
        headers: The answer's headers, which may say how long to wait.
        in_body: Whether the answer's status was that of a good one.
    """

    def __init__(
        self, error: EndpointError, headers: Mapping[str, str], *, in_body: bool = False
    ) -> None:
        super().__init__(error.message)
        self.error, self.headers, self.in_body = error, headers, in_body


class EmptyStream(ModelError):
    """A stream that ended properly and had nothing in it, as some servers answer any error."""


def error_reported(exception: BaseException) -> EndpointError | None:
    """Return the error that an endpoint answered a call with, for which `exception` was raised."""
    cause: BaseException | None = exception
    while cause is not None:
        if isinstance(cause, ErrorResponse):
            return cause.error
        cause = cause.__cause__
    return None


def requested_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a refusal's headers ask to wait; None if they do not say."""
    milliseconds = headers.get("retry-after-ms")
    if milliseconds is not None:
        try:
            if math.isfinite(wait := float(milliseconds)):
                return max(0.0, wait / 1000)
        except ValueError:
            pass
    value = headers.get("retry-after")
    if value is None:
        return max((reset for left, reset in allowances(headers) if left < 1), default=None)
    # The standard has seconds or a date. Some servers send "60s", or a Unix time.
    seconds = _seconds_until(value.strip())
    if seconds is not None:
        return seconds
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, IndexError, OverflowError, OSError):
        return None


def allowances(headers: Mapping[str, str]) -> list[tuple[float, float]]:
    """Return what is left of each limit in an answer's headers, and the seconds until its reset.

    Headers of any prefix are read, for requests, tokens or both: `x-ratelimit-remaining-requests`
    with `x-ratelimit-reset-requests`, `anthropic-ratelimit-tokens-remaining`,
    `ratelimit-remaining`.
    """
    limits = []
    for name, value in headers.items():
        if "ratelimit" not in name or "remaining" not in name:
            continue
        reset = _seconds_until(headers.get(name.replace("remaining", "reset"), ""))
        # Azure's -1 stands for a limit that there is not.
        if reset is not None and value != "-1" and re.fullmatch(r"-?\d+(\.\d+)?", value):
            limits.append((float(value), reset))
    return limits


def _seconds_until(value: str) -> float | None:
    """The seconds until `6m0s`, `120ms`, `3` (seconds), a Unix time or a date; None for others."""
    try:
        seconds = float(value)
    except ValueError:
        pass
    else:
        if not math.isfinite(seconds):
            return None
        # No limit lasts for thirty years, so that a larger number is a Unix time. OpenRouter's is
        # in milliseconds.
        seconds = seconds / 1000 if seconds > 1e11 else seconds
        return max(0.0, seconds - time.time() if seconds > 1e9 else seconds)
    if re.fullmatch(rf"(?:{_DURATION})+", value):
        seconds = sum(float(n) * _UNITS[unit] for n, unit in re.findall(_DURATION, value))
        return seconds if math.isfinite(seconds) else None
    try:
        return max(0.0, datetime.fromisoformat(value).timestamp() - time.time())
    except (ValueError, OverflowError, OSError):
        return None
