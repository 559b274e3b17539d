"""How many tokens a chat model takes in a call: by its name, or as its server says."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

FILE = Path(__file__).with_name("windows.toml")
MIN_WINDOW = 512
"""What a server says of a smaller window is no window."""
MAX_WINDOW = 100_000_000
KEYS = ("max_model_len", "n_ctx", "loaded_context_length", "context_length", "context_window")
"""How servers name a window in the list of their models, the most certain first: vLLM and SGLang,
llama.cpp, LM Studio, then OpenRouter, Together and others. What a model was trained for, as
llama.cpp's `n_ctx_train`, is not what the server has room for."""
_REFUSAL = re.compile(
    r"\bn_ctx\W{1,4}(\d+)"
    r"|context (?:length|window|size)[^.\d]{0,40}(\d[\d,]*)"
    r"|(\d[\d,]*)(?: |-)token context|with (\d[\d,]*) maximum context"
    r"|(?:maximum|max) (?:prompt|model|allowed input|sequence) length (?:is|of) (\d[\d,]*)"
    r"|(\d{3,}) maximum\b|maximum number of tokens allowed \((\d+)\)"
    r"|model token limit: (\d+)|token count of \d+ exceeds the limit of (\d+)"
    r"|model only supports up to (\d[\d,]*)|configured limit of (\d[\d,]*) tokens"
    r"|context limit: [\d+ ]+> (\d+)"
    r"|max_new_tokens\W{1,3}must be <= (\d+)|max_(?:seq|model)_len\W{1,3}(\d+)",
    re.IGNORECASE,
)
"""How a refusal names the window: llama.cpp, OpenAI and vLLM, LM Studio, Mistral, xAI and newer
vLLM, Anthropic, Gemini, Kimi, GitHub Copilot, OpenAI of GPT-5, Anthropic of prompt and reply, TGI,
Atlas."""


def known_window(model: str) -> int | None:
    """Return the window of a model that its maker serves, by its name; None for others.

    A name may have the provider before it, as openai/gpt-4.1-mini.
    """
    name = model.rpartition("/")[2].lower()
    fitting = [
        known for known in _windows() if re.fullmatch(re.escape(known) + r"(?:[-.:].*)?", name)
    ]
    return _windows()[max(fitting, key=len)] if fitting else None


def stated_window(models: object, model: str) -> int | None:
    """Return the window that a server's list of models states; None if it states none.

    Args:
        models: The answer to GET /models.
        model: The model's name.
    """
    # Together's list stands alone.
    listed = models.get("data") if isinstance(models, dict) else models
    for entry in listed if isinstance(listed, list) else []:
        if not isinstance(entry, dict) or entry.get("id") != model:
            continue
        meta = entry.get("meta")
        for source in (entry, meta if isinstance(meta, dict) else {}):
            for key in KEYS:
                if window := _plausible(source.get(key)):
                    return window
    return None


def window_in_refusal(message: str) -> int | None:
    """Return the window that a server names when it refuses a prompt; None if it names none."""
    for match in _REFUSAL.finditer(message):
        number = next(group for group in match.groups() if group)
        if window := _plausible(int(number.replace(",", ""))):
            return window
    return None


def _plausible(value: object) -> int | None:
    if isinstance(value, int) and MIN_WINDOW <= value <= MAX_WINDOW:
        return value
    return None


@cache
def _windows() -> Mapping[str, int]:
    windows: dict[str, int] = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return windows
