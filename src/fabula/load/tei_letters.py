"""Make the words of an edition whole: letters that could not be read, special signs, divided words.

What an editor says of letters by an element becomes text before the text is read.
"""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

from fabula.load.hyphens import Hyphens
from fabula.load.markup import attribute, elements, local_name
from fabula.text.nouns import count_noun

LETTER, WORD = "•", "▢"
"""What stands for a letter and for a word that could not be read; • is that of the TCP's texts."""
MAX_LETTERS = 30
"""Of one gap: a longer one is no word."""
_LETTERS = re.compile(r"letters?|chars?|characters?|glyphs?|signs?", re.IGNORECASE)
_WORDS = re.compile(r"words?", re.IGNORECASE)
_READABLE = frozenset(("editorial", "foreign", "omitted", "omission", "sampling", "symbol"))
"""Reasons of gaps in which the editor left out what could be read."""
_BREVIGRAPH = re.compile(r"char:ab(\w+)")
"""How the Text Creation Partnership names a sign of abbreviation: `abque` is a sign for que."""
_HYPHENS = "-¬\u00ad\u2010\u2e17"
_DIVIDED = re.compile(rf"(?<=[^\W\d_])([{_HYPHENS}])\s+(?=[^\W\d_])")
_LAST_WORD, _FIRST_WORD = re.compile(r"[^\W\d_]+$"), re.compile(r"[^\W\d_]+")
_BREAKS = frozenset(("cb", "gb", "lb", "milestone", "pb"))


def mend_words(root: Element) -> str:
    """Mend the words of an edition in its tree.

    Returns:
        A sentence that says how many letters and words could not be read; '' for none.
    """
    _join_source_lines(root)
    # A file declares its own signs in charDecl, with the letters that are meant.
    signs = {
        attribute(sign, "id"): _declared_letters(sign)
        for name in ("char", "glyph")
        for sign in elements(root, name)
    }
    letters = words = 0
    for parent in root.iter():
        for index, child in enumerate(parent):
            name = local_name(child)
            if name == "gap":
                text = _gap_text(child)
                letters, words = letters + text.count(LETTER), words + text.count(WORD)
                if text:
                    _become_text(child, text)
            elif name == "g" and not "".join(child.itertext()).strip():
                child.text = _sign_text(child.get("ref", ""), signs)
                words += child.text == WORD
            elif name in _BREAKS and child.get("break") == "no":
                _join_over(parent, index)
    if not letters + words:
        return ""
    lacking = (count_noun(letters, "letter"), count_noun(words, "word"))
    return f"lacks {' and '.join(lacking)} that could not be read: {LETTER} and {WORD} stand there"


def _join_source_lines(root: Element) -> None:
    """Join words that are divided at the ends of the file's own lines, if these are the print's.

    Behind a hyphen there may also be a space, where somebody joined the lines: then the text must
    have the whole word elsewhere, as "Jagd- und" has a hyphen of its own.
    """
    texts = [
        (element, name, said)
        for text in elements(root, "text")
        for element in text.iter()
        for name in ("text", "tail")
        if (said := getattr(element, name) or "").strip()
    ]
    if not any(_DIVIDED.search(said) for _, _, said in texts):
        return
    divided = (_DIVIDED.sub(r"\1\n", said).split("\n") for _, _, said in texts)
    hyphens = Hyphens([[line.strip() for line in lines] for lines in divided])

    def join(match: re.Match[str]) -> str:
        before = _LAST_WORD.search(match.string, 0, match.start())
        after = _FIRST_WORD.match(match.string, match.end())
        assert before and after
        words = before[0] + match[1], after[0]
        if "\n" in match[0]:
            joined = hyphens.join(*words)
            return match[0] if joined is None else joined
        return "" if hyphens.is_divided_word(*words) else match[0]

    for element, name, said in texts:
        setattr(element, name, _DIVIDED.sub(join, said))


def _gap_text(gap: Element) -> str:
    """Return the marks for what could not be read; '' for a gap of something else."""
    if gap.get("reason", "").casefold() in _READABLE:
        return ""
    extent = gap.get("extent", "")
    unit = gap.get("unit", "") or extent
    number = re.search(r"\d+", gap.get("quantity", "") or gap.get("atLeast", "") or extent)
    count = min(int(number[0]), MAX_LETTERS) if number else 1
    if _LETTERS.search(unit):
        return LETTER * count
    return " ".join([WORD] * count) if _WORDS.search(unit) else ""


def _become_text(gap: Element, text: str) -> None:
    """Let a gap be its marks. What describes it is no text of the book."""
    tail = gap.tail
    gap.clear()
    gap.tag, gap.text, gap.tail = "seg", text, tail


def _declared_letters(sign: Element) -> str:
    mappings = [each for each in sign if local_name(each) == "mapping"]
    plain = [each for each in mappings if each.get("type") not in ("PUA", "exact")]
    return next(("".join(each.itertext()).strip() for each in plain), "")


def _sign_text(ref: str, signs: dict[str, str]) -> str:
    """Return the letters that a sign stands for, WORD if nothing says which, '' for line ends."""
    if match := _BREVIGRAPH.fullmatch(ref):
        return match[1]
    if ref.startswith("char:EOL"):
        return ""
    return signs.get(ref.removeprefix("#"), "") or WORD


def _join_over(parent: Element, index: int) -> None:
    """Join the two parts of a word between which a line or page ends, as `break="no"` says.

    A hyphen before it is the printer's, unless a capital letter follows, as in Nord-Amerika.
    """
    element = parent[index]
    owner, name = (parent[index - 1], "tail") if index else (parent, "text")
    before, after = (getattr(owner, name) or "").rstrip(), (element.tail or "").lstrip()
    setattr(owner, name, before if after[:1].isupper() else before.rstrip(_HYPHENS))
    element.tail = after
