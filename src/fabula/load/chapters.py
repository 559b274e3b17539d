"""Recognise headings of chapters by their line of text, in ten languages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

MAX_HEADING_CHARACTERS = 90
"""A longer line is not a heading."""

_KEYWORDS = r"""
    chapter stave book part volume canto act scene letter
    rozdział księga część tom pieśń akt scena list
    kapitel buch teil band gesang aufzug szene
    chapitre livre partie tome chant acte scène
    capítulo libro parte tomo canto acto capitolo volume atto livro
    hoofdstuk boek deel kapitola kniha díl kapitlet bok del
    глава книга часть том розділ частина
"""
_UNITS = "one two three four five six seven eight nine ten eleven twelve"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_TO_TWELVE = "|".join([*_UNITS.split(), *_ORDINALS.split()])
_COMPOUNDS = (
    "(?:thir|four|fif|six|seven|eigh|nine)teen(?:th)?",
    rf"(?:twen|thir|for|fif|six|seven|eigh|nine)t(?:y|ieth)(?:[- ](?:{_TO_TWELVE}))?",
    r"dwudziest[aye](?: \w{4,9}[aye])?",
)
_OTHER_NUMBERS = r"""
    last ostatni[ae]? trzydziest[aye]
    pierwsz[aye] drug[ai]e? trzeci[ae]? czwart[aye] piąt[aye] szóst[aye] siódm[aye] ósm[aye]
    dziewiąt[aye] dziesiąt[aye] \w{2,9}nast[aye]
    eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf
    (?:erst|zweit|dritt|viert|fünft|sechst|siebent|siebt|acht|neunt|zehnt|elft|zwölft|letzt)e[srnm]?
    \w{3,7}zehnte[srnm]?
    un deux trois quatre cinq sept huit neuf dix premi(?:er|ère) seconde? \w{3,9}ième dernier
    uno dos tres cuatro cinco seis siete ocho nueve diez
    primer[oa]? segund[oa] tercer[oa]? cuart[oa] quint[oa] sext[oa] séptim[oa] octav[oa]
    due tre quattro cinque sei sette otto nove dieci
    prim[oa] second[oa] terz[oa] quart[oa] sest[oa] settim[oa] ottav[oa] non[oa] decim[oa]
    перв\w+ втор\w+ трет\w+ четв[её]рт\w+ пят\w+ шест\w+ седьм\w+ восьм\w+ девят\w+ десят\w+
"""
_STEMS = {
    stem: value
    for first, stems in (
        (1, _UNITS),
        (1, _ORDINALS),
        (11, "jedenast dwunast trzynast czternast piętnast szesnast siedemnast osiemnast"),
        (1, "pierwsz drug trzeci czwart piąt szóst siódm ósm dziewiąt dziesiąt"),
        (13, "dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn"),
        (1, "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf"),
        (1, "erst zweit dritt viert fünft sechst siebt acht neunt zehnt elft zwölft"),
        (11, "onz douz treiz quatorz quinz seiz"),
        (1, "un deux trois quatre cinq six sept huit neuf dix"),
        (1, "premi seconde trois quatri cinqu six sept hui neuv dix"),
        (1, "uno dos tres cuatro cinco seis siete ocho nueve diez"),
        (1, "primer segund tercer cuart quint sext séptim octav"),
        (1, "uno due tre quattro cinque sei sette otto nove dieci"),
        (1, "prim second terz quart quint sest settim ottav non decim"),
        (11, "одиннадцат двенадцат тринадцат четырнадцат пятнадцат шестнадцат семнадцат"),
        (1, "перв втор трет четв пят шест седьм восьм девят десят"),
    )
    for value, stem in enumerate(stems.split(), start=first)
}
"""The stems of number words, in the languages of _OTHER_NUMBERS; the longest match counts."""
_LONGEST_STEM = max(map(len, _STEMS))
_TEN_STEMS = {
    stem: 10 * n
    for n, stem in enumerate(["twen", "thir", "for", "fif", "six", "seven", "eigh", "nine"], 2)
}
_TEEN_STEMS = {
    stem: n for n, stem in enumerate(["thir", "four", "fif", "six", "seven", "eigh", "nine"], 13)
}
_COMPOUND = re.compile(r"(?P<teen>\w+)teen(?:th)?|(?P<ten>\w+?)t(?:y|ieth)(?:[- ](?P<unit>\w+))?")
_NAMES = """
    prologue epilogue preface introduction foreword afterword conclusion postscript interlude
    prolog epilog wstęp przedmowa posłowie zakończenie
    vorwort einleitung nachwort schluss vorspiel nachspiel
    prologue épilogue préface avant-propos postface
    prólogo epílogo prefacio introducción prefazione introduzione epilogo
    пролог эпилог предисловие послесловие
"""
_END_WORDS = frozenset(("the end", "finis"))
_ILLUSTRATION_LISTS = frozenset(("list of illustrations", "illustrations", "spis ilustracji"))
_CONTENTS = frozenset(
    (
        "contents",
        "table of contents",
        "spis treści",
        "spis rozdziałów",
        "inhalt",
        "inhaltsverzeichnis",
        "table des matières",
        "sommaire",
        "índice",
        "indice",
        "inhoud",
        "obsah",
        "содержание",
        "оглавление",
    )
)

_NAME_SET = frozenset(_NAMES.split())
_NUMBERED_NAME = re.compile(rf"(?:the )?(?:{'|'.join(_ORDINALS.split())}) ")
"""What may stand before a name: 'First Epilogue' is one, too."""
_ROMAN = r"(?=[ivxlcdm])m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})"
_WORDS = "|".join([*_COMPOUNDS, _TO_TWELVE, *_OTHER_NUMBERS.split()])
_KEYWORD = rf"(?P<keyword>{'|'.join(_KEYWORDS.split())})\b\.?"
_NUMBER = rf"(?P<number>\d{{1,3}}|{_ROMAN}|{_WORDS})(?!\w)"
# After the number come nothing, a title after punctuation or wide space, or what looks like a
# title.
_REST = r"(?P<rest>[.:)\]]*|\s*[.:)—–-]+\s*(?P<title>\S.*)|\s+(?P<bare>\S.*))"
_KEYWORD_FIRST = re.compile(
    rf"{_KEYWORD}\s+(?:the\s+|no\.\s*|nr\s+)?{_NUMBER}{_REST}", re.IGNORECASE
)
_NUMBER_FIRST = re.compile(
    rf"(?:the\s+)?{_NUMBER.replace('(?!', '(?:st|nd|rd|th|re|e|er|[.])?(?!', 1)}\s+"
    rf"{_KEYWORD}{_REST}",
    re.IGNORECASE,
)
_NUMERAL = re.compile(rf"(?P<roman>{_ROMAN.upper()})(?P<end>[.:)—–-]*)(?:\s+(?P<after>\S.*))?")
_DIGITS = re.compile(r"(?P<digits>[1-9]\d{0,2})(?P<end>[.:)—–-]*)(?:\s+(?P<after>\S.*))?")
_PAGE = re.compile(r"(?:\s*\.){2,}\s*\w+$|\s+\d{1,4}$")
_ROMAN_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}


@dataclass(frozen=True, slots=True)
class ChapterLine:
    """A line like 'Chapter 3: A Title'.

    Attributes:
        kind: The keyword, as 'chapter', or 'name' for a line like 'Epilogue'.
        key: Keyword and number, the same for 'Chapter 3: A Title' and 'CHAPTER 3.'.
        titled: Whether a title follows the number.

    """

    kind: str
    key: str
    titled: bool


@dataclass(frozen=True, slots=True)
class ChapterNumber:
    """The keyword of a heading, as 'stave', and its number; equal with and without a title."""

    kind: str
    value: int
    titled: bool = field(compare=False)


@dataclass(frozen=True, slots=True)
class NumeralLine:
    """A line like 'III.' or 'III. A TITLE'."""

    value: int
    titled: bool


def chapter_line(line: str) -> ChapterLine | None:
    """Return a line as a heading that is recognised by its words; None if it is none."""
    if not line or len(line) > MAX_HEADING_CHARACTERS or not line[0].isalnum():
        return None
    name = line.partition(":")[0].casefold().rstrip(". ")
    if name in _NAME_SET or _NUMBERED_NAME.sub("", name) in _NAME_SET:
        return ChapterLine("name", name, titled=True)
    match = _KEYWORD_FIRST.fullmatch(line) or _NUMBER_FIRST.fullmatch(line)
    if not match:
        return None
    bare = match["bare"]
    if bare and not _looks_like_title(bare):
        return None
    kind = match["keyword"].casefold()
    return ChapterLine(
        kind, f"{kind} {match['number'].casefold()}", titled=bool(match["title"] or bare)
    )


def chapter_number(heading: str) -> ChapterNumber | None:
    """Return the keyword and number of a heading: 'Stave Two' and 'STAVE II: GHOSTS' are equal.

    It is None for a line that is not a heading, or whose number is not known.
    """
    match = _KEYWORD_FIRST.fullmatch(heading) or _NUMBER_FIRST.fullmatch(heading)
    if not match or (match["bare"] and not _looks_like_title(match["bare"])):
        return None
    value = _value(match["number"].casefold())
    titled = bool(match["title"] or match["bare"])
    return ChapterNumber(match["keyword"].casefold(), value, titled) if value else None


def is_chapter_line(line: str) -> bool:
    """Return whether a line is a heading by its words."""
    return chapter_line(line) is not None


def numeral_line(line: str) -> NumeralLine | None:
    """Return a line that may be a heading by its number alone; only a series of them proves it."""
    if not line or len(line) > MAX_HEADING_CHARACTERS:
        return None
    match = _NUMERAL.fullmatch(line) or _DIGITS.fullmatch(line)
    if not match:
        return None
    after = match["after"]
    if after and not (match["end"] and _looks_like_title(after)):
        return None
    groups = match.groupdict()
    value = _roman(groups["roman"]) if groups.get("roman") else int(groups["digits"])
    return NumeralLine(value, titled=bool(after))


def capital_line(line: str) -> bool:
    """Return whether a line is short, in capitals, and does not end like something shouted."""
    letters = sum(map(str.isalpha, line))
    return (
        letters >= 3
        and len(line) <= 60
        and line[0].isalnum()
        and line == line.upper()
        and line[-1] not in "!?,;:\"'”’»"
    )


def subtitle_line(line: str) -> bool:
    """Return whether a line may be the title below a chapter's number."""
    if not line or len(line) > MAX_HEADING_CHARACTERS or not (line[0].isalnum() or line[0] in "¿¡"):
        return False
    if line == line.upper() and line[-1] not in ",;:":
        return True
    return _looks_like_title(line)


def is_contents_name(line: str) -> bool:
    """Return whether a line is the heading of a table of contents, or THE END."""
    return is_list_name(line) or line.casefold().strip(" .:") in _END_WORDS


def is_list_name(line: str) -> bool:
    """Return whether a line is the heading of a table of contents or a list of illustrations."""
    return is_contents(line) or line.casefold().strip(" .:") in _ILLUSTRATION_LISTS


def is_contents(line: str) -> bool:
    """Return whether a line is the heading of a table of contents."""
    return line.casefold().strip(" .:") in _CONTENTS


def strip_page_number(line: str) -> str:
    """Return a line of a table of contents without its page number."""
    return _PAGE.sub("", line)


def _looks_like_title(line: str) -> bool:
    """Whether a line is capitalised and not a sentence.

    It may end like a sentence only if every long word is capitalised.
    """
    if not (line[0].isupper() or line[0].isdigit()):
        return False
    if line == line.upper():
        return True
    if line[-1] in ",;:\"'”’»":
        return False
    long = [word for word in re.findall(r"\w+", line) if len(word) > 3]
    capital = all(word[0].isupper() or word[0].isdigit() for word in long)
    return capital and len(line.split()) > 1 if line[-1] in ".!?" else True


def _roman(numeral: str) -> int:
    values = [_ROMAN_VALUES[digit] for digit in numeral]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return sum(-value if value < after else value for value, after in pairs)


def _value(number: str) -> int:
    """The value of a number as _NUMBER matches it, in lower case; 0 if it is not known."""
    if number.isdecimal():
        return int(number)
    if compound := _COMPOUND.fullmatch(number):
        if teen := _TEEN_STEMS.get(compound["teen"] or ""):
            return teen
        if ten := _TEN_STEMS.get(compound["ten"] or ""):
            return ten + _STEMS.get(compound["unit"] or "", 0)
    # Words are tried before Roman numerals: 'dix' is ten, though DIX would be 509.
    for length in range(min(len(number), _LONGEST_STEM), 1, -1):
        # A word that contains 'ten' is a multiple of ten: 'пятидесятая' is not the fifth.
        if number[:length] in _STEMS and "десят" not in number[1:]:
            return _STEMS[number[:length]]
    return _roman(number.upper()) if set(number) <= set("ivxlcdm") else 0
