"""Replies with quotations that are true and that are false, made from books by a seed.

A true quotation is a stretch of a book, printed in one of the ways in which people quote.
A false one is made in one of the ways in which models go wrong, and is not a stretch of any book.
"""

from __future__ import annotations

import random
import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from fabula.text.folding import printed_words, search_words
from fabula.text.sentences import spans

MAX_WORDS = 40
FAR = 3_000
"""Characters between two places that no ellipsis may join."""
_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
OTHER_SCRIPTS: dict[str, str] = _DATA["texts"]
"""Beginnings of books in other languages and scripts."""
NEGATIONS: dict[str, str] = _DATA["negations"]
CONFUSED: dict[str, str] = _DATA["confused"]
SPELLINGS: dict[str, str] = _DATA["spellings"]
DENIES = re.compile(
    r"n[’']t\b|\b(?:not?|nor|never|none|nothing|nobody|nowhere|without|cannot|neither|hardly|nie|"
    r"nigdy|nic|ni|не|ни|нет|никогда|jamais|ne|pas|point|rien|non|mai|nada|nunca|kein\w*|nichts?|nie)\b",
    re.IGNORECASE,
)
"""A negation, which no true quotation leaves out."""
UNSPACED = frozenset({"zh", "ja", "th"})
DOUBLE_MARKS = frozenset("“”„")
ELISION = re.compile(r"(?:round|cause|bout|till)\b", re.IGNORECASE)
"""Words that are elisions after an apostrophe."""
PAIRS = ("“”", '""', "‘’", "«»", "„“", "»«", "「」", "''")


@dataclass(frozen=True)
class QuotedBook:
    """A text, as the graph has it, that quotations are taken from."""

    title: str
    language: str
    text: str = field(repr=False)

    @cached_property
    def words(self) -> list[tuple[str, int, int]]:
        """Its words, folded, with their characters."""
        return [*printed_words(self.text)]

    @cached_property
    def folded(self) -> str:
        """All words in one line, with a space around each."""
        return f" {' '.join(word for word, _, _ in self.words)} "

    @cached_property
    def sentences(self) -> list[tuple[int, int]]:
        """Its sentences of six words or more, without the white space around them."""
        found = []
        for start, end in spans(self.text, self.language):
            sentence = self.text[start:end]
            if 6 <= len(search_words(sentence)) <= MAX_WORDS:
                first = start + len(sentence) - len(sentence.lstrip())
                found.append((first, first + len(sentence.strip())))
        return found

    @cached_property
    def vocabulary(self) -> list[str]:
        """The words as they are printed in lower case inside sentences, of five letters or more."""
        printed = {self.text[start:end] for _, start, end in self.words}
        fewest = 1 if self.language in UNSPACED else 5
        return sorted(word for word in printed if len(word) >= fewest)

    @cached_property
    def names(self) -> list[str]:
        """Words that have a capital inside sentences."""
        found = re.findall(
            r"(?<=[a-ząćęłńóśźżа-яё,] )[A-ZĄĆĘŁŃÓŚŹŻА-ЯЁ][a-ząćęłńóśźżа-яё]{3,}", self.text
        )
        return sorted({*found})

    def has(self, quotation: str) -> bool:
        """Return whether the words of a quotation stand somewhere in it, in this order."""
        words = " ".join(word for word, _, _ in printed_words(quotation))
        return f" {words} " in self.folded


@dataclass(frozen=True)
class QuotedReply:
    """A reply that quotes once, with a quotation that was made in a way (`kind`).

    Its only citation is [1], which stands for the chunk at a place, a character, of a book.
    """

    kind: str
    text: str
    quotation: str
    book: int
    place: int


def true_replies(books: Sequence[QuotedBook], count: int, seed: int = 0) -> Iterator[QuotedReply]:
    """Yield replies whose quotations are in the books."""
    draw = random.Random(seed)
    kinds = [*TRUE]
    made = 0
    while made < count:
        number = draw.randrange(len(books))
        book = books[number]
        kind = kinds[made % len(kinds)]
        first, last = _stretch(book, draw)
        start, end = book.words[first][1], book.words[last][2]
        printed = book.text[start:end]
        if len(search_words(printed)) < 3 or not re.match(r"\w", printed):
            continue
        quotation = TRUE[kind](printed, book, draw)
        if quotation is None or len(search_words(quotation)) < 3:
            kind, quotation = "verbatim", printed
        made += 1
        text = _reply(quotation, draw, is_verse=" / " in quotation)
        yield QuotedReply(kind, text, quotation, number, start)


def false_replies(books: Sequence[QuotedBook], count: int, seed: int = 0) -> Iterator[QuotedReply]:
    """Yield replies whose quotations are in no book, or not where they are cited."""
    draw = random.Random(seed)
    kinds = [*FALSE]
    made = 0
    while made < count:
        number = draw.randrange(len(books))
        book = books[number]
        kind = kinds[made % len(kinds)]
        if not book.sentences:
            continue
        start, end = draw.choice(book.sentences)
        quotation = FALSE[kind](book.text[start:end], book, draw)
        if not quotation or len(search_words(quotation)) < 3:
            continue
        if any(each.has(quotation) for each in books):
            continue
        made += 1
        yield QuotedReply(kind, _reply(quotation, draw), quotation, number, start)


def misplaced_replies(
    books: Sequence[QuotedBook], count: int, seed: int = 0
) -> Iterator[QuotedReply]:
    """Yield replies whose quotations are in another book than the one that is cited."""
    draw = random.Random(seed)
    while count:
        number, other = draw.sample(range(len(books)), 2)
        if not books[other].sentences:
            continue
        start, end = draw.choice(books[other].sentences)
        quotation = books[other].text[start:end]
        if books[number].has(quotation):
            continue
        count -= 1
        place = draw.randrange(len(books[number].text))
        yield QuotedReply("wrong book", _reply(quotation, draw), quotation, number, place)


def _reply(quotation: str, draw: random.Random, *, is_verse: bool = False) -> str:
    """Return a quotation in marks that are not in it, with a sentence around it."""
    fitting = [pair for pair in PAIRS if not set(pair) & set(quotation)]
    # Nobody can tell where „BEFORE SHE HAD THIS FIT--” you never had“ ends.
    if DOUBLE_MARKS & set(quotation):
        fitting = [pair for pair in fitting if not DOUBLE_MARKS & set(pair)]
    # 'round us is an elision to every reader until the second mark (docs/answers.md says so).
    if ELISION.match(quotation):
        fitting = [pair for pair in fitting if pair != "''"]
    if re.search(r"['’‘]", quotation):
        fitting = [pair for pair in fitting if pair not in ("‘’", "''")]
    is_block = not fitting or (not is_verse and draw.random() < 0.15)
    if is_block:
        lines = "\n".join(f"> {line}".rstrip() for line in quotation.splitlines() if line.strip())
        return f"This is how the book puts it [1]:\n\n{lines}\n\nSo it was."
    pair = draw.choice(fitting)
    quotation = re.sub(r"\n\s*\n", " ", quotation)
    before = draw.choice(("The book says ", "It is told thus: ", "", "As she put it, "))
    after = draw.choice((" [1].", " [1], and so on.", " (as the book says) [1]."))
    return f"{before}{pair[0]}{quotation}{pair[1]}{after}"


def _stretch(book: QuotedBook, draw: random.Random) -> tuple[int, int]:
    """Return the first and the last word of a stretch of some words."""
    fewest = 8 if book.language in UNSPACED else 3
    length = min(draw.choice((fewest, 5, 8, 12, 20, 40)), len(book.words))
    length = max(length, fewest)
    first = draw.randrange(len(book.words) - length + 1)
    return first, first + length - 1


# True quotations


def _reflow(text: str, book: QuotedBook, draw: random.Random) -> str | None:
    """Return a text in lines of another width; a long word may be parted at the end of a line."""
    if book.language in UNSPACED:
        return None
    words = text.split()
    lines: list[str] = [""]
    for word in words:
        if len(lines[-1]) > draw.randrange(20, 50):
            if len(word) > 8 and word[:5].isalpha() and word[5:].isalpha() and word.islower():
                lines[-1] += f" {word[:5]}-"
                lines.append(word[5:])
                continue
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines)


def _old_letters(text: str, book: QuotedBook, draw: random.Random) -> str | None:
    text = re.sub(r"s(?=[a-z])", "ſ", text)
    changed = text.replace("ffi", "ﬃ").replace("fi", "ﬁ").replace("fl", "ﬂ").replace("ae", "æ")
    return changed if changed != text or "ſ" in text else None


def _without_marks(text: str, book: QuotedBook, draw: random.Random) -> str | None:
    """Return a text without diacritics or vowel points."""
    if book.language in ("hi", "th", "ja", "ru", "zh"):
        return None
    decomposed = unicodedata.normalize("NFD", text.replace("ł", "l"))
    return "".join(each for each in decomposed if unicodedata.category(each) != "Mn")


def _typewriter(text: str, book: QuotedBook, draw: random.Random) -> str | None:
    """Return a text with straight apostrophes and marks, and two hyphens as dashes."""
    for printed, typed in (("’", "'"), ("‘", "'"), ("“", '"'), ("”", '"'), ("—", "--")):
        text = text.replace(printed, typed)
    return text


def _change_case(text: str, book: QuotedBook, draw: random.Random) -> str | None:
    if draw.random() < 0.3:
        return text.upper() if book.language in ("en", "pl", "fr", "es") else None
    return text[0].swapcase() + text[1:]


def _leave_out(text: str, book: QuotedBook, draw: random.Random) -> str | None:
    """Return a text with an ellipsis in the place of some words that deny nothing."""
    words = text.split()
    if len(words) < 12 or book.language in UNSPACED:
        return None
    first = draw.randrange(4, len(words) - 6)
    last = draw.randrange(first + 1, len(words) - 4)
    left_out = " ".join(words[first:last]).lower()
    if DENIES.search(left_out):
        return None
    sign = draw.choice(("...", "…", "[...]", "[…]", ". . ."))
    return f"{' '.join(words[:first])} {sign} {' '.join(words[last:])}"


def _put_in_brackets(text: str, book: QuotedBook, draw: random.Random) -> str | None:
    words = text.split()
    if len(words) < 8 or book.language in UNSPACED:
        return None
    place = draw.randrange(3, len(words) - 3)
    word = words[place]
    if not word.isalpha() or DENIES.fullmatch(word):
        return None
    if draw.random() < 0.3 and text[0].isalpha() and book.language in ("en", "pl", "es", "de"):
        return f"[{text[0].swapcase()}]{text[1:]}"
    words[place] = draw.choice(("[he]", "[Fred]", "[the old man]"))
    return " ".join(words)


def _respell(text: str, book: QuotedBook, draw: random.Random) -> str | None:
    """Return an English text in American spelling, or as it was printed in 1620."""
    if book.language != "en":
        return None
    if draw.random() < 0.5:
        return re.sub(r"(?<=[a-z])v(?=[a-z])", "u", re.sub(r"\bu(?=[a-z])", "v", text))
    for pattern, replacement in SPELLINGS.items():
        text = re.sub(pattern, replacement, text)
    return text


def _respell_russian(text: str, book: QuotedBook, draw: random.Random) -> str | None:
    """Return a Russian text with the letters and endings from before 1918, or with ё as е."""
    if book.language != "ru":
        return None
    if draw.random() < 0.5:
        return text.replace("ё", "е").replace("Ё", "Е")
    text = re.sub(r"(?<=[бвгджзклмнпрстфхцчшщ])\b", "ъ", text)
    return re.sub(r"и(?=[аеиоуыэюя])", "і", text)


def _write_verse(text: str, book: QuotedBook, draw: random.Random) -> str | None:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " / ".join(lines) if len(lines) > 1 else None


Change = Callable[[str, QuotedBook, random.Random], str | None]
TRUE: dict[str, Change] = {
    "verbatim": lambda text, book, draw: text,
    "reflowed": _reflow,
    "old letters": _old_letters,
    "no diacritics": _without_marks,
    "typewriter": _typewriter,
    "case": _change_case,
    "ellipsis": _leave_out,
    "brackets": _put_in_brackets,
    "spelling": _respell,
    "Russian of 1900": _respell_russian,
    "verse": _write_verse,
}


# False quotations


def _invent(text: str, book: QuotedBook, draw: random.Random) -> str | None:
    words = draw.choices(book.vocabulary, k=draw.randrange(6, 15))
    return ("" if book.language in UNSPACED else " ").join(words)


def _stitch(text: str, book: QuotedBook, draw: random.Random) -> str | None:
    """Return the beginning of a sentence with the end of another one."""
    start, end = draw.choice(book.sentences)
    other = book.text[start:end]
    if abs(book.text.find(text) - start) < FAR or book.language in UNSPACED:
        return None
    first, second = text.split(), other.split()
    between = draw.choice((" ", " ... ", " […] ", " … "))
    return " ".join(first[: len(first) // 2]) + between + " ".join(second[len(second) // 2 :])


def _negate(text: str, book: QuotedBook, draw: random.Random) -> str | None:
    """Return a sentence with a negation inside."""
    negation = NEGATIONS.get(book.language, "not")
    if book.language in UNSPACED:
        at = draw.randrange(2, len(text) - 2)
        return text[:at] + negation + text[at:]
    words = text.split()
    place = draw.randrange(1, len(words) - 1)
    return " ".join([*words[:place], negation, *words[place:]])


def _affirm(text: str, book: QuotedBook, draw: random.Random) -> str | None:
    """Return a sentence without the negation that it has."""
    changed = re.sub(r" (?:not|never|no|nie|не|nicht|pas) ", " ", text, count=1)
    if changed == text:
        changed = re.sub(r"n[’']t\b", "", text, count=1)
    return changed if changed != text else None


def _rename(text: str, book: QuotedBook, draw: random.Random) -> str | None:
    """Return a sentence with another name of the book in the place of one."""
    names = [name for name in book.names if re.search(rf"\b{re.escape(name)}\b", text)]
    if not names or len(book.names) < 2:
        return None
    name = draw.choice(names)
    other = draw.choice([each for each in book.names if each != name])
    return re.sub(rf"\b{re.escape(name)}\b", other, text)


def _change_word(text: str, book: QuotedBook, draw: random.Random) -> str | None:
    """Return a sentence with another word of the book in the place of one."""
    if book.language in UNSPACED:
        at = draw.randrange(1, len(text) - 1)
        return text[:at] + draw.choice(book.vocabulary) + text[at + 1 :]
    words = text.split()
    long = [n for n, word in enumerate(words) if len(word) > 4 and word.isalpha()]
    if not long:
        return None
    words[draw.choice(long)] = draw.choice(book.vocabulary)
    return " ".join(words)


def _confuse(text: str, book: QuotedBook, draw: random.Random) -> str | None:
    """Return a sentence with a word that differs by one letter from another one of the book."""
    if book.language in UNSPACED:
        return None
    words = text.split()
    candidates = []
    for number, word in enumerate(words):
        if word.isalpha() and len(word) > 3:
            like = [each for each in _like(word.lower(), book) if each != word.lower()]
            candidates += [(number, each) for each in like]
    if not candidates:
        return None
    number, other = draw.choice(candidates)
    words[number] = other
    return " ".join(words)


def _like(word: str, book: QuotedBook) -> list[str]:
    near = [CONFUSED[word]] if word in CONFUSED else []
    return near + [
        each
        for each in book.vocabulary
        if len(each) == len(word)
        and each[0] == word[0]
        and sum(a != b for a, b in zip(each, word, strict=True)) == 1
    ]


def _invent_end(text: str, book: QuotedBook, draw: random.Random) -> str | None:
    words = draw.choices(book.vocabulary, k=draw.randrange(2, 6))
    if book.language in UNSPACED:
        return text.rstrip("。") + "".join(words)
    return f"{text.rstrip('.!?;:,”’»')}, {' '.join(words)}"


def _drop_word(text: str, book: QuotedBook, draw: random.Random) -> str | None:
    if book.language in UNSPACED:
        at = draw.randrange(1, len(text) - 1)
        return text[:at] + text[at + 1 :]
    words = text.split()
    place = draw.randrange(1, len(words) - 1)
    return " ".join([*words[:place], *words[place + 1 :]])


def _swap_words(text: str, book: QuotedBook, draw: random.Random) -> str | None:
    words = text.split()
    if len(words) < 6:
        return None
    place = draw.randrange(1, len(words) - 2)
    return " ".join([*words[:place], words[place + 1], words[place], *words[place + 2 :]])


def _ask(text: str, book: QuotedBook, draw: random.Random) -> str | None:
    """Return words that only the question has."""
    what = draw.choice(book.vocabulary)
    return f"Why does {what} never answer the {draw.choice(book.vocabulary)} of this question?"


FALSE: dict[str, Change] = {
    "invented": _invent,
    "stitched": _stitch,
    "negation inserted": _negate,
    "negation dropped": _affirm,
    "names exchanged": _rename,
    "content word changed": _change_word,
    "word like it": _confuse,
    "invented end": _invent_end,
    "word dropped": _drop_word,
    "words exchanged": _swap_words,
    "question only": _ask,
}
