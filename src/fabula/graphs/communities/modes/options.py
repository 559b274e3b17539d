"""The settings of the modes over reports, each class the table of a mode, as `[drift]`."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fabula.graph.options import FrozenOptions

Scope = Literal["document", "collection"]
"""Whose communities are asked: those of each document, or the collection's own."""


class ReportOptions(FrozenOptions):
    """Options of all modes over reports."""

    scope: Scope = Field(
        "document", description="reports of each document, or the collection's own"
    )
    point_tokens: int = Field(
        12_000,
        ge=1,
        le=200_000,
        description="maximum tokens of what was found that the answer is written from",
    )
    words: int = Field(2000, ge=20, le=10_000, description="maximum words of the answer")


class ReadingOptions(ReportOptions):
    """Options of all modes that read reports in batches."""

    batch_tokens: int = Field(
        12_000, ge=1, le=200_000, description="maximum tokens of the reports that one call reads"
    )
    map_words: int = Field(
        1000, ge=50, le=10_000, description="words of what one call finds in its reports"
    )
    calls: int = Field(
        50,
        ge=1,
        le=10_000,
        description="maximum calls that read reports; if these are too few for all of them, those "
        "that are nearest to the question are read",
    )


class GlobalOptions(ReadingOptions):
    """The table `[global]`."""

    level: int = Field(
        2, ge=0, le=99, description="level of the reports: 0 is the coarsest, with the fewest"
    )


class DriftOptions(ReportOptions):
    """The table `[drift]`."""

    level: int = Field(2, ge=0, le=99, description="level of the reports: 0 is the coarsest")
    reports: int = Field(20, ge=1, le=1000, description="reports that the first calls read")
    folds: int = Field(5, ge=1, le=100, description="calls that read them, side by side")
    rounds: int = Field(3, ge=1, le=20, description="rounds of follow-up questions")
    calls: int = Field(
        20, ge=0, le=100, description="follow-up questions in all rounds, one call each"
    )
    reply_words: int = Field(
        300, ge=20, le=5000, description="words of the answer to a follow-up question"
    )


class DynamicOptions(ReadingOptions):
    """The table `[dynamic]`."""

    deepest: int = Field(
        2, ge=0, le=99, description="level down to which all reports are rated while none helps"
    )
    ratings: int = Field(
        300,
        ge=1,
        le=100_000,
        description="maximum calls that rate a report each; those nearest to the question first",
    )
