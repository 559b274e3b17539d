"""An endpoint's error answers: whether they pass, how long they ask to wait, in plain words."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

PASSING = frozenset({408, 409, 429})
"""Statuses that may be gone at the next try, beside all from 500 up."""
NOT_ABOUT_REQUEST = frozenset({401, 402, 403, 405, 408, 409, 413, 429, 503, 504})
QUOTA = ("insufficient_quota", "billing_hard_limit_reached", "exceeded your current quota")
FILTERED = ("content_filter", "content_policy", "content management policy", "invalid_prompt")
CONTEXT = (
    "context_length_exceeded",
    "context length",
    "context window",
    "context size",
    "maximum context",
    "prompt is too long",
)
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_DURATION = r"(\d+(?:\.\d+)?)(ms|s|m|h|d)"


@dataclass(frozen=True, slots=True)
class Role:
    """A model and the setting that named it, for the messages."""

    model: str
    setting: str


@dataclass(slots=True)
class Tries:
    """How often one call failed, and how often it was refused for being one too many."""

    failed: int = 0
    refused: int = 0

    @property
    def faults(self) -> int:
        """Tries that were in vain."""
        return self.failed + self.refused


@dataclass(frozen=True, slots=True)
class Trouble:
    """What an endpoint answered instead of a reply; `parameter` is the one it names.

    `details` is all that it said, where the message is a part of that.
    """

    status: int
    message: str
    code: str = ""
    parameter: str | None = None
    details: str = ""

    @classmethod
    def of(cls, status: int, said: object) -> Trouble:
        """Of an error's body: a JSON value, in one of the forms that are about, or a text."""
        details = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
        if isinstance(said, list) and said:
            said = said[0]
        if isinstance(said, dict) and said.get("error"):
            said = said["error"]
        error = said if isinstance(said, dict) else {}
        message = error.get("message") or error.get("detail") or said
        if not isinstance(message, str):
            message = json.dumps(message, ensure_ascii=False)
        metadata = error.get("metadata")
        if isinstance(metadata, dict) and isinstance(metadata.get("raw"), str):
            # OpenRouter hands on what a provider said.
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
        """Whether the account is used up, which no waiting cures."""
        said = f"{self.code} {self.message}".lower()
        return self.status in (402, 403, 429) and any(sign in said for sign in QUOTA)

    @property
    def too_long(self) -> bool:
        """Whether the text does not fit the model."""
        said = f"{self.code} {self.message}".lower()
        return self.status in (400, 413, 422) and any(sign in said for sign in CONTEXT)

    @property
    def filtered(self) -> bool:
        """Whether this one text is refused for what it says."""
        said = f"{self.code} {self.message}".lower()
        return self.status in (400, 422) and any(sign in said for sign in FILTERED)

    def about_request(self, model: str) -> bool:
        """Whether it may be about what was sent: not the key, the model, or how busy it is."""
        if self.quota or self.too_long or self.filtered or self.status in NOT_ABOUT_REQUEST:
            return False
        named = re.search(rf"(?<!\w){re.escape(model)}(?!\w)", self.message)
        unknown_model = self.status == 404 and (bool(named) or "model" in self.code)
        return 400 <= self.status < 600 and not unknown_model

    @property
    def passing(self) -> bool:
        """Whether the same request may be answered later."""
        return (self.status in PASSING or self.status >= 500) and not self.quota

    def explained(self, url: str, role: Role) -> str:
        """One line for a person: what happened and what to do."""
        said = " ".join(self.message.split())[:300]
        said += "" if said.endswith((".", "!", "?")) else "."
        model, setting = role.model, role.setting
        if self.quota:
            return f"The account at {url} has no quota left: {said} Check its plan and billing."
        if self.too_long:
            return (
                f"The text is too long for {model} at {url}: {said} "
                "Lower FABULA_CLUSTER_TOKENS or FABULA_CONTEXT_TOKENS."
            )
        if self.filtered:
            return f"{url} withheld a text from {model} for what it says ({self.status}): {said}"
        if self.status == 401:
            return f"{url} refused the key (401): check OPENAI_API_KEY."
        if self.status == 403:
            return (
                f"{url} refuses access to {model} (403): {said} Check OPENAI_API_KEY and {setting}."
            )
        if self.status == 404:
            return (
                f"{url} has no model {model!r} (404): {said} Check {setting} and OPENAI_BASE_URL."
            )
        if self.status == 429:
            return f"{url} is called too often (429): {said}"
        if self.passing:
            return f"{url} failed ({self.status}): {said}"
        if re.search(r"max_(?:completion_)?tokens", f"{self.parameter} {said}"):
            return (
                f"{url} refused the length of the reply asked of {model} ({self.status}): {said} "
                "Lower FABULA_DETAILS_PER_CALL, or turn FABULA_ASPECTS_WITH_SUMMARIES off."
            )
        return f"{url} refused the request to {model} ({self.status}): {said}"


def wait_asked(headers: Mapping[str, str]) -> float | None:
    """Seconds that a refusal's headers ask to wait; None where they do not say."""
    milliseconds = headers.get("retry-after-ms")
    if milliseconds is not None:
        try:
            if math.isfinite(wait := float(milliseconds)):
                return max(0.0, wait / 1000)
        except ValueError:
            pass
    said = headers.get("retry-after")
    if said is None:
        return max((reset for left, reset in allowances(headers) if left < 1), default=None)
    try:
        wait = float(said)
    except ValueError:
        pass
    else:
        return max(0.0, wait) if math.isfinite(wait) else None
    try:
        return max(0.0, parsedate_to_datetime(said).timestamp() - time.time())
    except (ValueError, TypeError, IndexError, OverflowError, OSError):
        return None


def allowances(headers: Mapping[str, str]) -> list[tuple[float, float]]:
    """What is left of each limit that an answer's headers tell of, and the seconds to its reset.

    By any prefix and for requests, tokens or both: `x-ratelimit-remaining-requests` and
    `x-ratelimit-reset-requests`, `anthropic-ratelimit-tokens-remaining`, `ratelimit-remaining`.
    """
    found = []
    for name, said in headers.items():
        if "ratelimit" not in name or "remaining" not in name:
            continue
        reset = _seconds_until(headers.get(name.replace("remaining", "reset"), ""))
        if reset is not None and re.fullmatch(r"-?\d+(\.\d+)?", said):
            found.append((float(said), reset))
    return found


def _seconds_until(said: str) -> float | None:
    """Of `6m0s`, `120ms`, seconds, a Unix time or a date; None for anything else."""
    try:
        seconds = float(said)
    except ValueError:
        pass
    else:
        if not math.isfinite(seconds):
            return None
        # No limit lasts for thirty years, so that a larger number is a time.
        return max(0.0, seconds - time.time() if seconds > 1e9 else seconds)
    if re.fullmatch(rf"(?:{_DURATION})+", said):
        seconds = sum(float(many) * _UNITS[unit] for many, unit in re.findall(_DURATION, said))
        return seconds if math.isfinite(seconds) else None
    try:
        return max(0.0, datetime.fromisoformat(said).timestamp() - time.time())
    except (ValueError, OverflowError, OSError):
        return None
