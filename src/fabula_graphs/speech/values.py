"""The values of the graph of speech: quotations, and who says them to whom."""

from __future__ import annotations

from dataclasses import dataclass

MARKS, DASH, LABEL = "marks", "dash", "label"
"""How a text shows that somebody speaks: quotation marks, a dash, or a speaker's name before it."""
SPEECH, THOUGHT = "speech", "thought"
"""Whether a quotation is spoken, or only thought."""
TAG, VOCATIVE, TURNS, TALE = "tag", "vocative", "turns", "tale"
NAMED, READ = "label", "read"
"""What says who speaks: a verb of speech, how another speaker calls them, the turns of the
dialogue, the tale that goes on, a play's label, or a model's reading."""
NAME, NOUN, PRONOUN = "name", "noun", "pronoun"
"""How somebody is mentioned."""
SURE = 0.8
"""The confidence from which a speaker is sure."""
NARRATOR = "I"
"""The name of a narrator who speaks: as the text has it, in the words of its language."""


@dataclass(frozen=True, slots=True)
class Quotation:
    """A run of characters in which somebody speaks.

    Attributes:
        start: Its offset in the text, with its mark.
        end: The offset of its end, with its mark.
        form: How the text marks it: MARKS, DASH or LABEL.
        turn: Quotations of the same number follow each other in one paragraph, or carry one another
            on.
        depth: 0, or the number of quotations that it stands in.
        continues: Whether it carries on the quotation before it, whose paragraph ended unclosed.
        label: The speaker's name before a speech of a play; '' elsewhere.
    """

    start: int
    end: int
    form: str = MARKS
    turn: int = 0
    depth: int = 0
    continues: bool = False
    label: str = ""
    label_start: int = -1


@dataclass(frozen=True, slots=True)
class Spoken:
    """Who says a quotation, to whom, and what says so.

    Attributes:
        quotation: The quotation.
        speaker: The speaker's name as the text prints it; '' if nothing says who speaks.
        addressee: Whom they speak to, likewise.
        rule: What says who speaks; '' if nothing does.
        kind: SPEECH or THOUGHT.
        evidence: The range of the words that say so; (0, 0) if none do.
        mention: Where the speaker is named or meant in them; (0, 0) if nowhere.
        confidence: How likely the speaker is the right one, 0 to 1.
        quoted_by: Who speaks the quotation that it stands in, as the text prints it; '' in none.
        quoted_until: The end of the words that say who quotes.
    """

    quotation: Quotation
    speaker: str = ""
    addressee: str = ""
    rule: str = ""
    kind: str = SPEECH
    evidence: tuple[int, int] = (0, 0)
    mention: tuple[int, int] = (0, 0)
    confidence: float = 0.0
    quoted_by: str = ""
    quoted_until: int = 0

    @property
    def is_doubtful(self) -> bool:
        """Whether the speaker may well be another."""
        return bool(self.speaker) and self.confidence < SURE


@dataclass(frozen=True, slots=True)
class Placed:
    """A quotation with the chunk in which it begins, at an offset, and who says who speaks."""

    spoken: Spoken
    chunk: str
    offset: int
    by: str
