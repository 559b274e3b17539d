"""Prose and verse as files have them, and what is read from a text."""

from fabula.load import read_text
from fabula.text.document import Document

PROSE = """\
It was the best of times, it was the worst of times, it was the age
of wisdom, it was the age of foolishness, it was the epoch of belief,
it was the epoch of incredulity, it was the season of Light, it was
the season of Darkness, it was the spring of hope.
"""
VERSE = """\
    Litwo! Ojczyzno moja! ty jesteś jak zdrowie:
Ile cię trzeba cenić, ten tylko się dowie,
Kto cię stracił. Dziś piękność twą w całej ozdobie
Widzę i opisuję, bo tęsknię po tobie.

    Panno święta, co Jasnej bronisz Częstochowy
I w Ostrej świecisz Bramie! Ty, co gród zamkowy
Nowogródzki ochraniasz z jego wiernym ludem!
Jak mnie dziecko do zdrowia powróciłaś cudem
"""


def read(text: str) -> Document:
    return read_text(text, source="a-tale.txt", collection="default")
