"""Spellings of one word: a key that older and newer, British and American spellings share.

A key is made by rules, not by a dictionary, so that most keys are no words. The rules are chosen
so that two different words hardly ever get the same key: "timbre" and "timber" are different words,
therefore -re and -er are the same only in the words of a list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

MAX_REMEMBERED_KEYS = 65_536
_Rule = tuple[re.Pattern[str], str]


def _rules(*pairs: tuple[str, str]) -> list[_Rule]:
    return [(re.compile(pattern), replacement) for pattern, replacement in pairs]


_ENGLISH = _rules(
    # Elisions of verse: lov'd, o'er.
    (r"^(?!(?:i|he|she|we|ye|you|they|who|it|that|there)'d$)(.+?)e?'d$", r"\1ed"),
    (r"^o'er", "over"),
    (r"^e'er$", "ever"),
    (r"^ne'er$", "never"),
    (r"^e'en$", "even"),
    (r"(?<=.{3})ck$", "c"),  # publick
    (r"^od(?:ou|o)r", "odor"),
    (r"(?<=.{3})our(?=(?:s|ed|ing|able|ably|ful|fully|less|ite|ites|er|ers|ly|ist|ists)?$)", "or"),
    (r"(?<=.{3})ys(?=(?:e|es|ed|ing|er|ers)$)", "yz"),
    (r"(?<=.{3})is(?=(?:e|es|ed|ing|er|ers|ation|ations)$)", "iz"),
    (r"^(cent|theat|fib|sab|somb|spect|scept|meag|lust|och|lit|calib)er(?=s?$)", r"\1re"),
    (r"^(cent|theat|fib|sab|spect|scept|lust|calib)er(?=ed$|ing$)", r"\1r"),
    (r"(?<=[aeiou])([bcdfghkmnprstvw]+)([ae])l(?=(?:ed|ing|er|ers)$)", r"\1\2ll"),  # traveled
    (r"exion", "ection"),  # connexion
    (r"^(judg|acknowledg)ement", r"\1ment"),
    (r"^waggon", "wagon"),
    (r"^shew", "show"),
    (r"^strew", "strow"),
    (r"^gr[ae]y", "gray"),
    (r"^gaol", "jail"),
    (r"^gips", "gyps"),
    (r"^cos(?=[iy])", "coz"),
    (r"^plow", "plough"),
    (r"^sceptic", "skeptic"),
    (r"^mediaev", "mediev"),
    (r"^encyclopaed", "encycloped"),
    (r"^manoeuv", "maneuv"),
    (r"^aesthe", "esthe"),
    (r"^enquir", "inquir"),
    (r"^encreas", "increas"),
    (r"^despatch", "dispatch"),
    (r"^compleat", "complet"),
    (r"^chus", "choos"),
    (r"^cloath", "cloth"),
    (r"^antient", "ancient"),
    (r"^intire", "entire"),
    (r"^burthen", "burden"),
    (r"^murther", "murder"),
    (r"^villan", "villain"),
    (r"^(learn|burn|dream|spill|spell|leap|stopp|dropp|wrapp)ed$", r"\1t"),
    (r"^(stop|drop|wrap)t$", r"\1pt"),
    (r"^(spil|spel)t$", r"\1lt"),
    (r"^(bless|dress)ed$", r"\1t"),
    (r"^(bles|dres)t$", r"\1st"),
)
_GERMAN = _rules(
    (r"th", "t"),  # Thür, Muth
    (r"ey", "ei"),  # seyn
    (r"ae", "a"),
    (r"oe", "o"),
    (r"(?<![aeoq])ue", "u"),
    (r"^g(ie)(?=b|ng)", "gi"),
    (r"^([fh])ieng", r"\1ing"),
    (r"c(?=[aoulrt])", "k"),
    (r"(?<!e)ir(?=en$|t$|te$|ten$)", "ier"),
)
_FRENCH = _rules(
    (r"(?<=.{3})oient$", "aient"),
    (r"(?<=..)oit$", "ait"),  # estoit
    (r"(?<=.{3})([ae])ns$", r"\1nts"),  # enfans
    (r"^scav", "sav"),
    (r"^tems$", "temps"),
    (r"^est(?=ai|e$)", "et"),
)
_RUSSIAN = _rules(
    (r"ъ$", ""),
    (r"ѣ", "е"),
    (r"і", "и"),
    (r"ѳ", "ф"),
    (r"ѵ", "и"),
    (r"(?<=..)(?:а|я)го$", "ого"),
    (r"(?<=..)его$", "ого"),
    (r"(?<=..)([ыи])я$", r"\1е"),
    (r"^(ра|во|бе|и|ни|чре)з(?=[кпстфхцчшщ])", r"\1с"),
)
_LANGUAGES: Mapping[str, Sequence[_Rule]] = {
    "en": _ENGLISH,
    "": _ENGLISH,
    "de": _GERMAN,
    "fr": _FRENCH,
    "ru": _RUSSIAN,
}
# In old print, u and v, and i and j, are one letter each.
_ONE_LETTER = str.maketrans("vj", "ui")


@lru_cache(MAX_REMEMBERED_KEYS)
def spelling_key(word: str, language: str) -> str:
    """Return what the spellings of a word have in common.

    Args:
        word: A folded word, as `printed_words` yields it.
        language: An ISO 639-1 code; '' is treated as English.
    """
    for pattern, replacement in _LANGUAGES.get(language, ()):
        word = pattern.sub(replacement, word)
    return word.translate(_ONE_LETTER)
