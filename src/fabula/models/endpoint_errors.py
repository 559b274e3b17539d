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

TEMPORARY_STATUSES = frozenset({408, 409, 429})
"""Statuses of errors that may be gone at the next try, like all from 500 up."""
NOT_ABOUT_REQUEST = frozenset({401, 402, 403, 405, 408, 409, 413, 429, 503, 504})
"""Statuses that are about the key, the account or the load, and never about a parameter."""
QUOTA = ("insufficient_quota", "billing_hard_limit_reached", "exceeded your current quota")
FILTERED = ("content_filter", "content_policy", "content management policy", "invalid_prompt")
CONTEXT = re.compile(
    r"context_length_exceeded|context (?:length|window|size)|maximum context|prompt is too long"
    r"|exceed_context_size|string_above_max_length"
    r"|physical batch size|(?:input|text|prompt|sequence|document)s? (?:\S+ ){0,3}"
    r"(?:is|are) too (?:long|large)"
    r"|must have less than \d+ tokens|too many (?:input )?tokens|max_tokens_per_request"
    r"|(?:max(?:imum)?|exceed\w*|limit\w*|longer|more|most|larger|greater|less|fewer|within)\b"
    r"[^.]{0,60}\b(?:\d+ )?(?:input )?tokens"
    r"|tokens?\b[^.]{0,60}\b(?:max(?:imum)?|exceed\w*|limit|longer|larger|greater)\b"
    r"|input length|sequence length|token limit",
    re.IGNORECASE,
)
"""How servers say that a text does not fit a model."""
TOO_MANY_TEXTS = re.compile(
    r"batch[\s_-]?size|(?:per|in (?:one|a|the|each)|input) batch|batch (?:is )?too (?:large|big)"
    r"|batch\w* (?:exceed|limit|length)|requests? can be in"
    r"|too many (?:inputs|texts|items|elements|documents|strings|embeddings|embedding requests)"
    r"|(?:at most|no more than|more than|larger than|max(?:imum)?(?: number)?(?: of)?|up to"
    r"|exceeds?|limit(?:ed)?(?: to| of| is)?)\W{0,3}\d*\s*"
    r"(?:input|text|item|element|document|string|sentence|embedding)s?\b"
    r"|(?:number|count|amount|length|size) of (?:the )?(?:input|text|item|element|document|string)"
    r"|array length|array too long|list should have at most|input\W{0,10}(?:array|list)\b",
    re.IGNORECASE,
)
"""How servers say that there are too many texts in a call for embeddings."""
SERVER_CONTEXT = re.compile(
    r"physical batch size|context (?:length|window|size)|input length"
    r"|too (?:large|long) to process",
    re.IGNORECASE,
)
"""How servers say that in an answer of status 500, as llama.cpp's, which is often about nothing."""
AZURE_ADDRESSES = (
    " At Azure it ends with /openai/v1, or with /openai/deployments/NAME?api-version=VERSION."
)
_LIMIT_NUMBER = re.compile(
    r"(?:than|most|max\w*|limit\w*|up to|exceed\w*|allowed|allows|is|of|be|to|(?<=\d )>|<=|≤|=)"
    r"[^\d.<>]{0,30}?(\d+)(?![\d.]*[kKmM]?\s*tokens)"
    r"|(\d+) (?:is the (?:max|limit)|(?:input|text|item|document)s? (?:max|at most))",
    re.IGNORECASE,
)
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = r"(\d+(?:\.\d+)?)(ms|s|m|h|d)"


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
    down_since: float | None = None
    """Since when the gateway can't be reached, by `time.monotonic`; None if it can."""
    cached: bool = False
    """Whether the last answer is a gateway's, from its cache."""

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

    """

    status: int
    message: str
    code: str = ""
    parameter: str | None = None
    details: str = ""

    @classmethod
    def of(cls, status: int, body: object) -> EndpointError:
        """Return the error of an answer's body: a text, or JSON in one of the forms in use."""
        details = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)
        if isinstance(body, list) and body:
            body = body[0]
        if isinstance(body, dict) and body.get("error"):
            body = body["error"]
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
        )

    @property
    def quota(self) -> bool:
        """Whether the account has no credit left, so that waiting does not help."""
        return self.status in (402, 403, 429) and self._mentions(QUOTA)

    @property
    def too_long(self) -> bool:
        """Whether the text does not fit the model."""
        if self.status not in (400, 413, 422, 500):
            return False
        pattern = SERVER_CONTEXT if self.status == 500 else CONTEXT
        return bool(pattern.search(f"{self.code} {self.message}")) and not self._is_about_reply

    @property
    def _is_about_reply(self) -> bool:
        """Whether it is the reply that may not be as long as was asked for."""
        text = f"{self.parameter or ''} {self.message}"
        is_about_context = re.search(r"context|prompt|input", self.message, re.IGNORECASE)
        return bool(re.search(r"max_(?:completion_)?tokens", text)) and not is_about_context

    @property
    def too_many_texts(self) -> bool:
        """Whether a call for embeddings has too many texts, by its message."""
        if self.status not in (400, 413, 422, 500) or self.too_long:
            return False
        return bool(TOO_MANY_TEXTS.search(f"{self.code} {self.message}")) or self.status == 413

    @property
    def about_texts(self) -> bool:
        """Whether a call for embeddings may succeed with fewer or shorter texts."""
        if self.quota or self.filtered:
            return False
        return self.status in (400, 413, 422) or self.too_long or self.too_many_texts

    def most_texts(self, count: int) -> int:
        """Return how many texts to send after a call with `count` was refused, at least 1.

        That is the limit that the message names, or half of what was sent.
        """
        numbers = [int(n) for pair in _LIMIT_NUMBER.findall(self.message) for n in pair if n]
        named = [number for number in numbers if 1 <= number < count]
        return max(named, default=max(1, count // 2))

    @property
    def malformed(self) -> bool:
        """Whether the model's reply was not the JSON asked for, as Groq says with status 400."""
        return self.code == "json_validate_failed"

    @property
    def filtered(self) -> bool:
        """Whether a content filter refused this text."""
        return self.status in (400, 422) and self._mentions(FILTERED)

    def _mentions(self, phrases: tuple[str, ...]) -> bool:
        text = f"{self.code} {self.message}".lower()
        return any(phrase in text for phrase in phrases)

    def about_request(self, model: str) -> bool:
        """Return whether the error may be about the request, and not the key, model or load."""
        if self.quota or self.too_long or self.filtered or self.status in NOT_ABOUT_REQUEST:
            return False
        if self.malformed:
            return False
        names_model = re.search(rf"(?<!\w){re.escape(model)}(?!\w)", self.message) is not None
        names_kind = re.search("model|deployment", self.code, re.IGNORECASE)
        unknown_model = self.status == 404 and bool(names_model or names_kind)
        return 400 <= self.status < 600 and not unknown_model

    @property
    def temporary(self) -> bool:
        """Whether the same request may succeed later."""
        is_lasting = self.quota or self.too_long or self.too_many_texts
        return (self.status in TEMPORARY_STATUSES or self.status >= 500) and not is_lasting

    def explain(self, url: str, role: NamedModel) -> str:
        """Return one line for the user: what happened, and what to do about it."""
        message = " ".join(self.message.split())[:300]
        message += "" if message.endswith((".", "!", "?")) else "."
        model, setting = role.model, role.setting
        if self.quota:
            return f"The account at {url} has no quota left: {message} Check its plan and billing."
        if self.too_long:
            advice = (
                "Lower FABULA_CHUNK_TOKENS."
                if setting == "FABULA_EMBEDDING_MODEL"
                else "Lower FABULA_CLUSTER_TOKENS or FABULA_CONTEXT_TOKENS."
            )
            return f"The text is too long for {model} at {url}: {message} {advice}"
        if self.filtered:
            return (
                f"The content filter of {url} refused a text for {model} ({self.status}): {message}"
            )
        if self.status == 401:
            azure = AZURE_ADDRESSES if "subscription key" in self.message else ""
            return f"{url} refused the key (401): check OPENAI_API_KEY.{azure}"
        if self.status == 403:
            return (
                f"{url} refuses access to {model} (403): {message} "
                f"Check OPENAI_API_KEY and {setting}."
            )
        if self.status == 404:
            return (
                f"{url} has no model {model!r} (404): {message} "
                f"Check {setting} and OPENAI_BASE_URL."
                f"{AZURE_ADDRESSES if message == 'Resource not found.' else ''}"
            )
        if self.status == 429:
            return f"{url} is called too often (429): {message}"
        if self.temporary:
            return f"{url} failed ({self.status}): {message}"
        if re.search(r"max_(?:completion_)?tokens", f"{self.parameter} {message}"):
            return (
                f"{url} refused the length of the reply of {model} ({self.status}): {message} "
                "Lower FABULA_DETAILS_PER_CALL, or turn FABULA_ASPECTS_WITH_SUMMARIES off."
            )
        return f"{url} refused the request to {model} ({self.status}): {message}"


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
    try:
        wait = float(value)
    except ValueError:
        pass
    else:
        return max(0.0, wait) if math.isfinite(wait) else None
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
        if reset is not None and re.fullmatch(r"-?\d+(\.\d+)?", value):
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
        # No limit lasts for thirty years, so that a larger number is a Unix time.
        return max(0.0, seconds - time.time() if seconds > 1e9 else seconds)
    if re.fullmatch(rf"(?:{_DURATION})+", value):
        seconds = sum(float(n) * _UNITS[unit] for n, unit in re.findall(_DURATION, value))
        return seconds if math.isfinite(seconds) else None
    try:
        return max(0.0, datetime.fromisoformat(value).timestamp() - time.time())
    except (ValueError, OverflowError, OSError):
        return None
