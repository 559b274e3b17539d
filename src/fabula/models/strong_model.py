"""Name the strong model beside a small one, by how makers name their models."""

from __future__ import annotations

import re

STRONG = "strong"
"""Stands for the strong model of the family that another model belongs to."""

# By the names of models and not by addresses: a gateway has the models of several makers, with a
# prefix such as `openai/`. A date at the end is left out, as the two have different ones.
_FAMILIES = (
    (r"((?:.*/)?gpt-\d[\d.]*o?)-(?:mini|nano)(?:-\d{4}-\d\d-\d\d)?", r"\1"),
    (r"((?:.*/)?gemini-(?:1\.5|2\.5))-flash(?:-lite|-8b)?(?:-\d+)?", r"\1-pro"),
    (r"((?:.*/)?claude)-haiku(-\d[\d.]*(?:-\d)?)(?:-\d{8})?", r"\1-sonnet\2"),
    (r"((?:.*/)?mistral)-(?:small|medium)(-latest|-\d+)", r"\1-large-latest"),
    (r"((?:.*/)?)ministral-\d+b-latest", r"\1mistral-large-latest"),
)


def strong_model(model: str) -> str:
    """Return the strong model of a model's family; the model itself if it or its family is unknown.

    Choosing the aspects of a cluster is a judgement, made once for each cluster. The method asks a
    model for it that is as advanced as possible.

    Args:
        model: The name of a chat model, as `gpt-4.1-mini`.
    """
    for pattern, strong in _FAMILIES:
        if match := re.fullmatch(pattern, model):
            return match.expand(strong)
    return model
