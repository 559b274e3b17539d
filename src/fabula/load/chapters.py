"""Recognise headings of chapters by their line of text, in the languages of the table."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from fabula.text.heading_words import IDEOGRAPHIC, heading_words

MAX_HEADING_CHARACTERS = 90
"""A longer line is not a heading, unless it is a chapter's number with a long title."""
MAX_LONG_HEADING_CHARACTERS = 200
"""The longest title of a chapter that says what happens in it, as in old novels."""

RANKS = ("volume", "book", "part", "act", "chapter", "scene", "section")
"""What texts are divided into, outermost first. Which of a volume, a book and a part is inside
another differs between texts."""
_CHAPTER_RANK = RANKS.index("chapter")
_FILLERS = frozenset(
    ("the", "no", "nr", "n", "n°", "nº", "№", "#", "ya", "thu", "numero", "a", "al")
)
"""Words between a keyword and its number, as in 'CHAPTER THE FIRST', 'Chapitre n° 3' and 'Sura ya
kwanza'; folded."""
_LAST_NAMES = (
    "last ostatni ostatnia letzter letztes letzte dernier derniere ultimo ultima последняя"
    " остання الاخير الاخيرة 最終 最终"
)
_LAST = frozenset(_LAST_NAMES.split())
_ARTICLES = frozenset(
    ("the", "das", "der", "die", "de", "het", "le", "la", "el", "il", "o", "a", "det", "den")
)
"""Words before a number, as in 'THE FIRST PART' and 'Das erste Kapitel'."""
_TEENS = frozenset(("tr", "az"))
"""Languages in which 'ten one' is eleven, as 'on birinci'."""
_TEN_BEHIND = frozenset(("عشر", "عشرة", "עשר", "עשרה"))
"""Words for ten behind a unit: eleven is 'one ten'."""
_AND_PREFIXES = ("و", "ו")
"""'And' before a number, without a space: 'الحادي والعشرون' is twenty-one, and 'עשרים ואחד'."""
_ORNAMENTS = "-–—*~=_<>[]|+◇◆■□●○★☆▼▲§#＃【】※"
_ONE_SIDED = "◇◆■□●○★☆▼▲§#＃※"
"""Ornaments that may be before a heading alone. A dash or an asterisk there begins a speech or an
item of a list."""
_NUMBER_SIGN = re.compile(r"(?<= )#(?=\d)")
_PREFIX = re.compile(r"(?:正文|《[^《》]{1,30}》)\s*(?=第)")
_UNSPACED = frozenset(("th", "indochina"))
"""Languages without spaces between words."""
_CONNECTORS = frozenset(("and", "et", "y", "e", "si", "i", "و"))
_ROMAN = re.compile(r"(?=[ivxlcdm])m{0,3}(?:cm|cd|d?c{0,3})(?:xc|xl|l?x{0,3})(?:ix|iv|v?i{0,3})")
_ROMAN_ORDINAL = re.compile(rf"({_ROMAN.pattern})|(i)(?:er|re|ere)|((?!vie)[ivx]{{2,6}})(?:e|eme)")
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100, "d": 500, "m": 1000}
_ORDINAL_ENDING = re.compile(
    r"(\d{1,4})(?:st|nd|rd|th|re|e|er|eme|o|a|ο|η|ος|ον|º|ª|-?(?:[йяае]|ий|ая|ое|га|ша)|\.|inci|nci|uncu)?"
)
_VIETNAMESE_TENS = re.compile(r"(?:(?P<tens>\w+) )?(?P<ten>muoi)\b(?: (?P<unit>\w+))?")
_GERMAN_COMPOUND = re.compile(r"(ein|zwei|drei|vier|funf|sechs|sieben|acht|neun)und(\w+)")
_TOKEN = re.compile(r"[^\s.:,;()\[\]—–]+")
# After the number come nothing, a title after punctuation or wide space, or what looks like a
# title.
_REST = re.compile(r"[.:)\]]*|\s*[.:)\]—–-]+\s*(?P<title>\S.*)|\s+(?P<bare>\S.*)")
_INNER_DIVISION = re.compile(r",\s*(\w.*)")
_POINTS = re.compile("[\u0591-\u05c7\u064b-\u0652\u0640]")
"""Points and marks of Hebrew and Arabic, which headings seldom have."""

_HAN = "〇零一二三四五六七八九十百千兩两廿卅壹贰叁肆伍陆柒捌玖拾"
_HAN_VALUES = dict(
    zip(
        "〇零一二三四五六七八九兩两壹贰叁肆伍陆柒捌玖",
        (0, *range(10), 2, 2, *range(1, 10)),
        strict=True,
    )
)
_HAN_UNITS = {"十": 10, "拾": 10, "百": 100, "千": 1000}
_HAN_NUMBER = rf"(?P<number>[{_HAN}]{{1,7}}|\d{{1,4}}|[Ⅰ-ⅻ])"
_HAN_REST = r"(?P<gap>[\s:：、．.・—－-]*)(?P<title>.*)"
_GLUED_UNITS = frozenset("章回節节")
"""Units after which a title may follow without a space: others begin words, as 第一部小说."""
_NO_HAN_TITLE = re.compile("(?:课|合|目|一?章)")
"""What goes on with a word: 第一节课 is a lesson, 第一回合 a round."""
_HAN_QUOTED = re.compile("[「『《“][^「」『』《》“”]*[」』》”]")
_HAN_SENTENCE = re.compile("[。！？；，,!?;「」『』“”]")
_HAN_ORDER = re.compile(rf"(?:其|之)?[{_HAN}]{{1,3}}$")
_ORDER = {"上": 1, "前": 1, "中": 2, "下": 3, "後": 2, "后": 2}
_SINO_KOREAN = {char: value for value, char in enumerate("일이삼사오육칠팔구", 1)}
_KOREAN_NUMBER = (
    r"(?:제\s*(?P<number>\d{1,4}|[일이삼사오육칠팔구십백]{1,5}|[Ⅰ-ⅻ])|(?P<digits>\d{1,4}))\s*"
)
_HAN_NUMERAL = re.compile(
    rf"[(（]?(?P<number>[{_HAN}]{{1,4}})[)）]?(?P<end>[、．.:：]*)(?:\s*(?P<after>\S.*))?"
)
_NUMERAL = re.compile(
    rf"(?P<roman>{_ROMAN.pattern.upper()}|[Ⅰ-Ⅻ]|[ivx]{{1,7}}(?=[.)]?$))(?P<end>\s+[—–-]+|[.:)—–-]*)(?:\s+(?P<after>\S.*))?"
)
_DIGITS = re.compile(
    r"(?P<digits>[^\W\D]\d{0,2})(?P<end>\s+[—–-]+|[.:)—–-]*)(?:\s+(?P<after>\S.*))?"
)
_LETTER = re.compile(
    r"(?P<letters>[א-ת]{1,2}['׳״\"]?[א-ת]?|[Α-Ω]{1,2}[΄ʹ'’])(?P<end>[.:)—–-]*)(?:\s+(?P<after>\S.*))?"
)
_WIDE_DIGITS = re.compile(
    r"(?P<digits>\d{1,4})(?:\s*[、．.:：]\s*|\s+)(?P<after>[\u3040-\u9fff\uac00-\ud7a3].{0,29})"
)
"""'001 家' and '1、家': behind the number of a chapter in Chinese may be any title."""
_MAX_NUMBER_WORD = 20
_PAGE = re.compile(r"(?:\s*\.){2,}\s*\w+$|\s+\d{1,4}$")


@dataclass(frozen=True, slots=True)
class ChapterLine:
    """A line like 'Chapter 3: A Title'.

    Attributes:
        kind: The keyword, as 'chapter', or 'name' for a line like 'Epilogue'.
        key: Keyword and number, the same for 'Chapter 3: A Title' and 'CHAPTER 3.'.
        titled: Whether a title follows the number.
        value: The number; 0 if it is not known.
        rank: The index in `RANKS`.
    """

    kind: str
    key: str
    titled: bool
    value: int = 0
    rank: int = _CHAPTER_RANK


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


@dataclass(frozen=True, slots=True)
class _Number:
    """A number in a line: its value, 0 if unknown, and the offset of its end."""

    value: int
    end: int


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of `heading_words`, folded.

    Attributes:
        keywords: The rank and the languages of each keyword.
        printed: A keyword as the table has it.
        numbers: The values of number words by language.
        stems: The same of stems, which may have an ending.
        tens: The values of 20, 30, ... by language.
        names: Headings without a number.
        contents: The names of tables of contents.
        pictures: The names of lists of illustrations.
        ends: Lines at the end of a book.
        han: The units of Chinese and Japanese headings, with their ranks.
        korean: The same for Korean.
    """

    keywords: Mapping[str, tuple[int, frozenset[str]]]
    printed: Mapping[str, str]
    numbers: Mapping[str, Mapping[str, int]]
    stems: Mapping[str, Mapping[str, int]]
    tens: Mapping[str, Mapping[str, int]]
    names: frozenset[str]
    contents: frozenset[str]
    pictures: frozenset[str]
    ends: frozenset[str]
    han: Mapping[str, int]
    korean: Mapping[str, int]


def chapter_line(line: str) -> ChapterLine | None:
    """Return a line as a heading that is recognised by its words; None if it is none."""
    if not line or len(line) > MAX_LONG_HEADING_CHARACTERS:
        return None
    line = _PREFIX.sub("", without_ornaments(line), count=1)
    if not line or not line[0].isalnum():
        return None
    line = _POINTS.sub("", line) if not line.isascii() else line
    line = _NUMBER_SIGN.sub("", line)
    folded = fold(line)
    if len(line) > MAX_HEADING_CHARACTERS:
        return _long_heading(line, folded)
    if _is_name(folded):
        name = folded.partition(":")[0].rstrip(". ")
        return ChapterLine("name", name, titled=True)
    return _east_asian(folded) or _keyword_first(line, folded) or _number_first(line, folded)


def without_ornaments(line: str) -> str:
    """Return a line without what is printed around a heading, as '— II —' and '【第一章】'."""
    if line[:1].isalnum():
        return line
    bare = line.strip(_ORNAMENTS + " \u3000")
    begins = line[0] in _ONE_SIDED or (line[0] == "【" and "】" in line)
    ends = line[-1] in _ORNAMENTS
    if not bare or not (line[0] in _ORNAMENTS and (begins or ends)):
        return line
    return bare.replace("】", " ").replace("  ", " ") if line[0] == "【" else bare


def _long_heading(line: str, folded: str) -> ChapterLine | None:
    """A chapter's number with a title that says what happens: 'CHAPTER I. In Which ...'."""
    # A paragraph may begin right behind the number: it ends a sentence.
    heading = (
        None if line[-1] in '.!?…:;,"”’»' and not line.isupper() else _keyword_first(line, folded)
    )
    return heading if heading and heading.titled and heading.rank == _CHAPTER_RANK else None


def chapter_number(heading: str) -> ChapterNumber | None:
    """Return the keyword and number of a heading: 'Stave Two' and 'STAVE II: GHOSTS' are equal.

    It is None for a line that is not a heading, or whose number is not known.
    """
    line = chapter_line(heading)
    return ChapterNumber(line.kind, line.value, line.titled) if line and line.value else None


def is_chapter_line(line: str) -> bool:
    """Return whether a line is a heading by its words."""
    return chapter_line(line) is not None


def numeral_line(line: str) -> NumeralLine | None:
    """Return a line that may be a heading by its number alone; only a series of them proves it."""
    if not line or len(line) > MAX_HEADING_CHARACTERS:
        return None
    line = _numeral_without_ornaments(line)
    if match := _HAN_NUMERAL.fullmatch(line):
        after = match["after"] or ""
        if _HAN_SENTENCE.search(after) or (
            after
            and after[0] not in " ("
            and not re.search(r"[\s、．.:：)）]", line[: match.start("after")])
        ):
            return None
        return NumeralLine(_han_value(match["number"]), titled=bool(after))
    match = _NUMERAL.fullmatch(line) or _DIGITS.fullmatch(line) or _LETTER.fullmatch(line)
    if (wide := _WIDE_DIGITS.fullmatch(line)) and _looks_like_title(wide["after"]):
        return NumeralLine(int(wide["digits"]), titled=True)
    if not match:
        return None
    after = match["after"]
    if after and not (match["end"] and _looks_like_title(after)):
        return None
    groups = match.groupdict()
    value = _number_value(
        next(groups[name] for name in ("roman", "digits", "letters") if groups.get(name))
    )
    return NumeralLine(value, titled=bool(after)) if value else None


def _numeral_without_ornaments(line: str) -> str:
    """A line without the same ornaments, or brackets, on both sides of a number."""
    bare = without_ornaments(line)
    if bare == line and line[0] in "(（{" and line[-1] in ")）}":
        bare = line[1:-1].strip()
    return bare if bare and bare[0].isalnum() else line


def number_word_line(line: str) -> NumeralLine | None:
    """Return a line that is one number word, as 'TWELVE' or 'Twenty-One'; see `numeral_line`."""
    if not line or not line[0].isupper() or len(line) > _MAX_NUMBER_WORD or " " in line:
        return None
    word = fold(line).rstrip(".")
    languages = frozenset((*_words().numbers.get(word, ()), *_words().tens.get(word, ())))
    if "-" in word:
        languages = frozenset(("en",))
    token = _TOKEN.fullmatch(word)
    number = _number(word, token, languages) if token and languages else None
    is_whole = number is not None and number.end == len(word)
    return NumeralLine(number.value, titled=False) if number and is_whole else None


def capital_line(line: str) -> bool:
    """Return whether a line is short, in capitals, and does not end like something shouted."""
    letters = sum(map(str.isalpha, line))
    return (
        letters >= 3
        and len(line) <= 60
        and line[0].isalnum()
        and line.isupper()
        and line[-1] not in "!?,;:\"'”’»"
    )


def subtitle_line(line: str) -> bool:
    """Return whether a line may be the title below a chapter's number."""
    if not line or len(line) > MAX_HEADING_CHARACTERS or not (line[0].isalnum() or line[0] in "¿¡"):
        return False
    if _is_uncased(line):
        return _looks_like_title(line)
    if line == line.upper() and line[-1] not in ",;:":
        return True
    return _looks_like_title(line)


def is_contents_name(line: str) -> bool:
    """Return whether a line is the heading of a table of contents, or THE END."""
    return is_list_name(line) or is_end(line)


def is_end(line: str) -> bool:
    """Return whether a line is THE END."""
    return _bare(line) in _words().ends


def is_list_name(line: str) -> bool:
    """Return whether a line is the heading of a table of contents or a list of illustrations."""
    return is_contents(line) or _bare(line) in _words().pictures


def is_contents(line: str) -> bool:
    """Return whether a line is the heading of a table of contents."""
    return _bare(line) in _words().contents


def strip_page_number(line: str) -> str:
    """Return a line of a table of contents without its page number."""
    return _PAGE.sub("", line)


def _is_name(folded: str) -> bool:
    """Whether a folded line is a heading like 'Epilogue' or 'SECOND EPILOGUE: 1813'."""
    words = _words()
    name = folded.partition(":")[0].rstrip(". ")
    if len(name) > MAX_HEADING_CHARACTERS // 2:
        return False
    if name in words.names or name.replace(" ", "") in words.names:
        return True
    first, _, rest = name.partition(" ")
    if rest in words.names and (first in words.numbers or first in words.stems or _stem(first)):
        return True
    before, _, last = name.rpartition(" ")
    if before in words.names:
        return bool(_ROMAN.fullmatch(last) or last.isdecimal() or _HAN_ORDER.fullmatch(last))
    before = _HAN_ORDER.sub("", name)
    return before != name and not before.isascii() and before in words.names


def _keyword_first(line: str, folded: str) -> ChapterLine | None:
    """A line like 'Chapter 3: A Title', 'บทที่ ๑' or 'PART THE FIRST'."""
    token = _TOKEN.match(folded)
    if not token:
        return None
    word, number_text = _split_keyword(token[0])
    entry = _words().keywords.get(word)
    if not entry:
        return None
    rank, languages = entry
    if number_text:
        value = _word_value(number_text, languages) or _number_value(number_text)
        number = _Number(value, token.end()) if value else None
        return _heading(word, rank, number, number_text, line)
    after = _TOKEN.search(folded, token.end())
    # A full stop may follow the keyword, if it is an abbreviation, but no other mark.
    if not after or folded[token.end() : after.start()].strip(" ."):
        return None
    if after[0] in _FILLERS:
        after = _TOKEN.search(folded, after.end())
    number = _number(folded, after, languages) if after else None
    text = folded[after.start() : number.end] if after and number else ""
    return _heading(word, rank, number, text, line)


def _number_first(line: str, folded: str) -> ChapterLine | None:
    """A line like 'Erstes Kapitel', '3. Kapitel' or 'THE FIRST PART'."""
    token = _TOKEN.match(folded)
    if token and token[0] in _ARTICLES:
        token = _TOKEN.search(folded, token.end())
    if not token:
        return None
    # The keyword shows the language of the number, so it is looked for first.
    place = token
    for _ in range(3):
        after = _TOKEN.search(folded, place.end())
        if not after:
            return None
        if entry := _words().keywords.get(after[0]):
            break
        place = after
    else:
        return None
    rank, languages = entry
    number = _number(folded, token, languages)
    between = folded[number.end : after.start()] if number else ""
    # 'I book' is a sentence, 'I. Book' is a heading.
    is_pronoun = token[0] == "i" and between == " " and "en" in languages
    if not number or not between or between.strip(" .") or is_pronoun:
        return None
    text = folded[token.start() : number.end]
    return _heading(after[0], rank, _Number(number.value, after.end()), text, line)


def _heading(
    kind: str, rank: int, number: _Number | None, text: str, line: str
) -> ChapterLine | None:
    """The heading, if there is a number and what comes after it can be a title."""
    rest = _REST.fullmatch(line, number.end) if number else None
    if number and not rest and (inner := _INNER_DIVISION.fullmatch(line, number.end)):
        # 'Act 1, Scene 2'
        rest = _REST.fullmatch(f". {inner[1]}") if chapter_line(inner[1]) else None
    if not number or not rest:
        return None
    bare = rest["bare"]
    if bare and not _looks_like_title(bare):
        return None
    key = f"{kind} {number.value or text}"
    titled = bool(rest["title"] or bare)
    return ChapterLine(_words().printed[kind], key, titled, number.value, rank)


def _number(folded: str, token: re.Match[str], languages: frozenset[str]) -> _Number | None:
    """The number that begins with a token, in figures or in words of a language."""
    text = token[0]
    if text in _LAST:
        return _Number(0, token.end())
    if "vi" in languages and (number := _vietnamese(folded, token)):
        return number
    if (value := _word_value(text, languages)) or (value := _number_value(text)):
        return _behind_unit(folded, _Number(value, token.end()), languages)
    if ten := _ten_value(text, languages):
        after = _TOKEN.match(folded, token.end() + 1)
        if after and after[0] in _CONNECTORS:
            after = _TOKEN.match(folded, after.end() + 1)
        word = after[0] if after else ""
        unit = _word_value(word, languages)
        if not unit and word.startswith(_AND_PREFIXES):
            unit = _word_value(word[1:], languages)
        if after and 0 < unit < 20:
            return _Number(ten + unit, after.end())
        return _Number(ten, token.end())
    return _read_hyphenated(text, token, languages)


def _behind_unit(folded: str, number: _Number, languages: frozenset[str]) -> _Number:
    """A number with what belongs to it in the next word, where eleven is 'one ten' or 'ten one'."""
    after = _TOKEN.match(folded, number.end + 1)
    if not after or not 0 < number.value <= 10:
        return number
    word = after[0]
    if word in _TEN_BEHIND and number.value < 10:
        return _Number(10 + number.value, after.end())
    if word.startswith(_AND_PREFIXES) and (ten := _ten_value(word[1:], languages)):
        return _Number(ten + number.value, after.end())
    unit = _word_value(word, languages) if number.value == 10 and languages & _TEENS else 0
    return _Number(10 + unit, after.end()) if 0 < unit < 10 else number


def _vietnamese(folded: str, token: re.Match[str]) -> _Number | None:
    """A number above ten: 'mười một' is eleven, and 'hai mươi mốt' twenty-one."""
    match = _VIETNAMESE_TENS.match(folded, token.start())
    if not match:
        return None
    languages = frozenset(("vi",))
    tens = _word_value(match["tens"], languages) if match["tens"] else 1
    unit = _word_value(match["unit"] or "", languages) or {"mot": 1, "lam": 5}.get(
        match["unit"] or "", 0
    )
    if not tens or (match["unit"] and not unit):
        end = match.end("ten")
        return _Number(10 * tens, end) if tens else None
    return _Number(10 * tens + unit, match.end())


def _read_hyphenated(text: str, token: re.Match[str], languages: frozenset[str]) -> _Number | None:
    """A number of several words with hyphens, as 'quatre-vingt-dix-neuf' and 'twenty-first'."""
    for hyphen in reversed([match.start() for match in re.finditer("-", text)]):
        unit = _word_value(text[hyphen + 1 :].removeprefix("et-"), languages)
        if (ten := _ten_value(text[:hyphen], languages)) and 0 < unit < 20:
            return _Number(ten + unit, token.end())
    first, hyphen_sign, _ = text.partition("-")
    if hyphen_sign and (value := _word_value(first, languages) or _number_value(first)):
        return _Number(value, token.start() + len(first))
    return None


def _word_value(word: str, languages: frozenset[str]) -> int:
    """The value of a number word in one of the languages; 0 if it is none."""
    for values in (_words().numbers.get(word, {}), _stem(word)):
        if value := next((values[language] for language in languages if language in values), 0):
            return value
    if "de" in languages and (compound := _GERMAN_COMPOUND.fullmatch(word)):
        ten = _ten_value(compound[2], languages)
        unit = _words().numbers.get(compound[1], {}).get("de", 1)
        return ten + unit if ten else 0
    return 0


def _ten_value(word: str, languages: frozenset[str]) -> int:
    tens = _words().tens
    for length in range(len(word), max(2, len(word) - 5), -1):
        values = tens.get(word if length == len(word) else f"{word[:length]}-", {})
        if length == len(word) and not values:
            values = tens.get(f"{word}-", {})
        if value := next((values[language] for language in languages if language in values), 0):
            return value
    return 0


def _stem(word: str) -> Mapping[str, int]:
    """The values of the longest stem of a word that leaves an ending of at most four letters."""
    stems = _words().stems
    for length in range(len(word), max(1, len(word) - 5), -1):
        if values := stems.get(word[:length]):
            return values
    return {}


def _number_value(text: str) -> int:
    """The value of a number in figures, Roman numerals, or letters of Hebrew or Greek."""
    if match := _ORDINAL_ENDING.fullmatch(text.casefold()):
        return int(match[1])
    if len(text) == 1 and "Ⅰ" <= text <= "ⅿ":
        return int(unicodedata.numeric(text))
    if match := _ROMAN_ORDINAL.fullmatch(text.casefold()):
        return _roman(match[1] or match[2] or match[3])
    return _hebrew(text) or _greek(text)


def _roman(numeral: str) -> int:
    values = [_ROMAN_VALUES[digit] for digit in numeral]
    pairs = zip(values, [*values[1:], 0], strict=True)
    return sum(-value if value < after else value for value, after in pairs)


_HEBREW_VALUES = {
    char: value
    for chars, unit in (("אבגדהוזחט", 1), ("יכלמנסעפצ", 10), ("קרשת", 100))
    for value, char in ((unit * n, char) for n, char in enumerate(chars, 1))
}
_GREEK_VALUES = {
    char: value
    for chars, unit in (("αβγδεϛζηθ", 1), ("ικλμνξοπϟ", 10), ("ρστυφχψω", 100))
    for value, char in ((unit * n, char) for n, char in enumerate(chars, 1))
}


def _hebrew(text: str) -> int:
    letters = re.sub("['׳״\"’]", "", text)
    if letters in ("טו", "טז"):
        return 9 + _HEBREW_VALUES[letters[1]]
    return _letter_value(letters, _HEBREW_VALUES)


def _greek(text: str) -> int:
    letters = text.casefold().rstrip("΄ʹ'’´").replace("στ", "ϛ")
    marked = letters != text.casefold()
    # Without its mark only one letter is a number, as words have more.
    return _letter_value(letters, _GREEK_VALUES) if marked or len(letters) == 1 else 0


def _letter_value(letters: str, values: Mapping[str, int]) -> int:
    """The sum of letters that are numbers, the greater ones first; 0 if they are not."""
    numbers = [values.get(letter, 0) for letter in letters]
    lengths = [len(str(number)) for number in numbers]
    falls = all(a > b for a, b in pairwise(lengths))
    return sum(numbers) if numbers and all(numbers) and falls else 0


def _east_asian(line: str) -> ChapterLine | None:
    """A line like '第一回 …', '卷一', '上卷', '제1장' or '1화 …'."""
    if line.isascii():
        return None
    for pattern, read in _east_asian_patterns():
        if not (match := pattern.fullmatch(line)):
            continue
        unit, gap, title = match["unit"], match["gap"], match["title"]
        if not gap and _NO_HAN_TITLE.match(title):
            return None
        if _HAN_QUOTED.fullmatch(title):
            gap = " "
        elif _HAN_SENTENCE.search(title) and (not gap or title[-1] in "。，；,"):
            return None
        if title and not gap and unit not in _GLUED_UNITS:
            return None
        words = _words()
        value = read(match)
        kind = "卷" if unit == "巻" else unit
        rank = words.han.get(kind, words.korean.get(kind, _CHAPTER_RANK))
        return ChapterLine(kind, f"{kind} {value}", bool(title), value, rank)
    return None


@functools.cache
def _east_asian_patterns() -> tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], int]], ...]:
    words = _words()
    han, korean = "|".join(["部分", "巻", *words.han]), "|".join(words.korean)

    def han_value(match: re.Match[str]) -> int:
        return _han_value(match["number"])

    return (
        (re.compile(rf"第\s*{_HAN_NUMBER}\s*(?P<unit>{han}){_HAN_REST}"), han_value),
        (re.compile(rf"{_HAN_NUMBER}(?P<unit>章){_HAN_REST}"), han_value),
        (re.compile(rf"(?P<unit>[卷巻])[之の]?{_HAN_NUMBER}{_HAN_REST}"), han_value),
        (re.compile(rf"(?P<unit>その|其の|其){_HAN_NUMBER}(?P<gap>)(?P<title>)"), han_value),
        (
            re.compile(
                r"(?P<order>[上中下前後后])(?P<unit>[卷巻編编篇部冊册])(?P<gap>\s*)(?P<title>.*)"
            ),
            lambda match: _ORDER[match["order"]],
        ),
        (
            re.compile(rf"{_KOREAN_NUMBER}(?P<unit>{korean})(?P<gap>[\s:.,·—–-]*)(?P<title>.*)"),
            lambda match: _korean_value(match["number"] or match["digits"]),
        ),
    )


def _han_value(number: str) -> int:
    if number.isdecimal():
        return int(number)
    if number in "ⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩⅪⅫ":
        return int(unicodedata.numeric(number))
    number = number.replace("廿", "二十").replace("卅", "三十")
    if not any(char in _HAN_UNITS for char in number):
        return int("".join(str(_HAN_VALUES[char]) for char in number))
    total = digit = 0
    for char in number:
        if char in _HAN_UNITS:
            total, digit = total + (digit or 1) * _HAN_UNITS[char], 0
        else:
            digit = _HAN_VALUES[char]
    return total + digit


def _korean_value(number: str) -> int:
    if number.isdecimal():
        return int(number)
    if len(number) == 1 and number not in _SINO_KOREAN and number not in "십백":
        return int(unicodedata.numeric(number))
    total = digit = 0
    for char in number:
        if char in "십백":
            total, digit = total + (digit or 1) * (10 if char == "십" else 100), 0
        else:
            digit = _SINO_KOREAN[char]
    return total + digit


def _looks_like_title(line: str) -> bool:
    """Whether a line is capitalised and no sentence, or, if uncased, does not end like one."""
    if _is_uncased(line):
        return line[-1] not in ".,;:!?؟؛،।॥。，" and len(line) <= 60
    if not (line[0].isupper() or line[0].isdigit()):
        return False
    if line == line.upper():
        return True
    if line[-1] in ",;:\"'”’»":
        return False
    long = [word for word in re.findall(r"\w+", line) if len(word) > 3]
    capital = all(word[0].isupper() or word[0].isdigit() for word in long)
    # It may end like a sentence only if every long word is capitalised.
    return capital and len(line.split()) > 1 if line[-1] in ".!?" else True


def _is_uncased(line: str) -> bool:
    """Whether the letters of a line have no capitals, as in Arabic and Thai."""
    return line.upper() == line.lower() and any(map(str.isalpha, line))


def _bare(line: str) -> str:
    return (
        fold(line).strip(" .:：").replace("　", "") if len(line) <= MAX_HEADING_CHARACTERS else ""
    )


def _split_keyword(word: str) -> tuple[str, str]:
    """A keyword and the number written right after it, as 'บทที่' and '๑'; '' if there is none."""
    keywords = _words().keywords
    if word in keywords:
        return word, ""
    keyword = re.sub(r"\d+$", "", word)
    if keyword in keywords or word.isascii():
        return keyword, word[len(keyword) :]
    ends = (end for end in range(len(word) - 1, 1, -1) if word[:end] in keywords)
    end = next((end for end in ends if keywords[word[:end]][1] & _UNSPACED), len(word))
    return word[:end], word[end:]


_FOLDED = {"ı": "i", "ँ": "ं", "־": " "}
"""Letters and signs that are written for each other in headings."""


@functools.cache
def _fold_char(char: str) -> str:
    """A letter in lower case without its accent."""
    if char in _FOLDED:
        return _FOLDED[char]
    decomposed = unicodedata.normalize("NFD", char)
    base, marks = decomposed[0], decomposed[1:]
    folded = base if marks and all(map(unicodedata.combining, marks)) else char
    lower = folded.casefold()
    return lower if len(lower) == 1 else folded.lower()[:1]


def fold(text: str) -> str:
    """Return a text in lower case without accents, with as many characters."""
    return text.casefold() if text.isascii() else "".join(map(_fold_char, text))


@functools.cache
def _words() -> _Words:  # noqa: C901
    table = heading_words()
    ranks: dict[str, int] = {}
    keyword_languages: defaultdict[str, set[str]] = defaultdict(set)
    printed: dict[str, str] = {}
    numbers: defaultdict[str, dict[str, int]] = defaultdict(dict)
    stems: defaultdict[str, dict[str, int]] = defaultdict(dict)
    tens: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for language, values in table.items():
        if language in IDEOGRAPHIC:
            continue
        for rank, name in [*enumerate(RANKS), (_CHAPTER_RANK, "letter")]:
            for keyword in values.get(name, "").split():
                ranks.setdefault(fold(keyword), rank)
                printed.setdefault(fold(keyword), keyword)
                keyword_languages[fold(keyword)].add(language)
        for series in values.get("numbers", ()):
            for value, word in enumerate(series.split(), 1):
                target = stems if word.endswith("-") else numbers
                target[fold(word.removesuffix("-"))].setdefault(language, value)
        for series in values.get("tens", ()):
            for value, word in enumerate(series.split(), 2):
                tens[fold(word)].setdefault(language, 10 * value)

    def lines(name: str) -> frozenset[str]:
        return frozenset(fold(line) for values in table.values() for line in values.get(name, ()))

    def units(language: str) -> dict[str, int]:
        return {
            unit: rank
            for rank, name in enumerate(RANKS)
            for unit in table[language].get(name, "").split()
        }

    return _Words(
        {word: (rank, frozenset(keyword_languages[word])) for word, rank in ranks.items()},
        printed,
        numbers,
        stems,
        tens,
        lines("names"),
        lines("contents"),
        lines("pictures"),
        lines("ends"),
        units("zh"),
        units("ko"),
    )
