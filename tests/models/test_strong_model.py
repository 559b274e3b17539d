"""The strong model beside a small one, by its maker's names."""

from __future__ import annotations

from cases import for_each
from fabula.models.strong_model import strong_model


@for_each(
    ("model", "strong"),
    [
        ("gpt-4.1-mini", "gpt-4.1"),
        ("gpt-4.1-nano-2025-04-14", "gpt-4.1"),
        ("gpt-4o-mini", "gpt-4o"),
        ("gpt-5-mini", "gpt-5"),
        ("openai/gpt-4.1-mini", "openai/gpt-4.1"),
        ("gemini-2.5-flash-lite", "gemini-2.5-pro"),
        ("claude-haiku-4-5-20251001", "claude-sonnet-4-5"),
        ("mistral-small-latest", "mistral-large-latest"),
        ("ministral-8b-latest", "mistral-large-latest"),
        ("mistralai/ministral-8b-latest", "mistralai/mistral-large-latest"),
    ],
)
def test_a_small_model_has_a_strong_one_beside_it(model: str, strong: str) -> None:
    assert strong_model(model) == strong


@for_each(
    "model", ["gpt-4.1", "llama3.1", "deepseek-chat", "my-mini", "offline", "gemini-2.0-flash"]
)
def test_a_strong_or_unknown_model_stays(model: str) -> None:
    assert strong_model(model) == model
