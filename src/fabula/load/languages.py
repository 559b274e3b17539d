"""Languages by their names, and by the small words that betray them.

A vote over stop words needs no dependency, no model and no time, and a book has tens of thousands
of words; what it decides is how sentences end, so it may answer '' and be right.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

_FEWEST = 3
"""Stop words that a text must hold, and their smallest share among its words."""
_SHARE = 0.08
_LEAD = 1.15
"""The winner has this many times the second's votes."""


@dataclass(frozen=True, slots=True)
class _Language:
    code: str
    names: frozenset[str]
    letters: frozenset[str]
    words: frozenset[str]


def _language(code: str, names: str, letters: str, words: str) -> _Language:
    both = letters + letters.upper()
    codes = {code, *names.split()}
    return _Language(code, frozenset(codes), frozenset(both), frozenset(words.split()))


_LANGUAGES = (
    _language(
        "en",
        "eng english angielski",
        "éèêàâäçñöôïîüæœë",
        "the of and to a in that he was it his is with i you for had not on her as at she but be"
        " him they my have which said from were all this me so what there when no would",
    ),
    _language(
        "pl",
        "pol polish polski",
        "ąćęłńóśźż",
        "w i na się z nie do że to jak a po co ale o od tak za już tylko był jest było przez jego"
        " ja go dla jej mu przy czy ich gdy lecz jeszcze pan ten była byli ze im przed bo tym",
    ),
    _language(
        "de",
        "deu ger german deutsch niemiecki",
        "äöüßéà",
        "der die und das ist nicht ich sie er in zu den mit sich dem es ein eine auf war von als"
        " auch so wie aber noch im an hatte ihr wir des nur aus daß dass nach bei wenn um",
    ),
    _language(
        "fr",
        "fra fre french français",
        "àâæçéèêëîïôœùûüÿ",
        "le la les de et un une des du il elle que qui dans ne pas se ce en à au est pour sur son"
        " sa était vous je avec plus par on lui mais nous avait tout cette sans ses dit comme",
    ),
    _language(
        "es",
        "spa spanish español castellano",
        "áéíñóúü¿¡",
        "el la los las de y que en un una no se lo con su por para es del al como más le pero era"
        " yo qué si me había sus ya cuando sin muy todo esta sobre ni",
    ),
    _language(
        "it",
        "ita italian italiano",
        "àèéìíîòóùú",
        "il la le di e che non un una in per si con del della era lo gli da i al come più ma mi"
        " sua suo nel aveva questo anche quando disse ho alla sono ci se",
    ),
    _language(
        "pt",
        "por portuguese português",
        "àáâãçéêíóôõúü",
        "o a os as de e que não um uma em se do da com por para no na dos ao mais como era ele"
        " ela seu sua mas lhe foi disse quando já eu muito me tinha das",
    ),
    _language(
        "nl",
        "nld dut dutch nederlands",
        "éèëïöóü",
        "de het een en van ik te dat die niet hij in is op zijn was met voor ze er aan zij had"
        " ook maar om naar als dan haar bij nog door uit je wat hem",
    ),
    _language(
        "sv",
        "swe swedish svenska",
        "åäöé",
        "och att det som en på är av för den med inte han till hon ett jag var de om sig men har"
        " hade så från vid sin ut kunde då nu när skulle",
    ),
    _language(
        "da",
        "dan danish dansk",
        "åæøé",
        "og at det en den til er som på de med han af for ikke der var et hun jeg sig har men om"
        " havde så fra sin ham nu efter kunne ud da",
    ),
    _language(
        "cs",
        "ces cze czech čeština český",
        "áčďéěíňóřšťúůýž",
        "a se na je že v to s z do ale si jsem jak ve tak po byl o co k by už za jako jeho když"
        " jen bylo které byla mu ho jsou od není než",
    ),
    _language(
        "fi",
        "fin finnish suomi",
        "äöå",
        "ja on ei että se oli hän mutta niin kun en kuin ole hänen jos sen nyt olen vain minä"
        " mitä tämä joka ne sitten olisi hänet häntä",
    ),
    _language(
        "hu",
        "hun hungarian magyar",
        "áéíóöőúüű",
        "a az és hogy nem is egy volt de ez csak meg azt már ha mint mert még el ki van úgy aki"
        " neki ő vagy most sem olyan minden",
    ),
    _language(
        "ru",
        "rus russian русский",
        "абвгдеёжзийклмнопрстуфхцчшщъыьэюя",
        "и в не на что он с я как это а его но она к по было все так то из за у же ее бы был от"
        " мне только меня вы ему когда о",
    ),
    _language(
        "uk",
        "ukr ukrainian українська",
        "абвгґдеєжзиіїйклмнопрстуфхцчшщьюя",
        "і в не на що він з я як це а його але вона до по було все так то із за у й її би був від"
        " мені тільки та ще вже коли про",
    ),
)
_PUNCTUATION = frozenset("“”‘’„«»‹›—–…§°£©½¼¾º·")


def code(name: str) -> str:
    """ISO 639-1 for a language's name, code or tag: 'English', 'eng' and 'en-GB' are 'en'.

    '' if it is none; a code of two letters is taken as it is.
    """
    first = re.split(r"[\s,;/_-]", name.strip().casefold(), maxsplit=1)[0]
    for language in _LANGUAGES:
        if first in language.names:
            return language.code
    return first if re.fullmatch("[a-z]{2}", first) else ""


def detect(text: str) -> str:
    """The language of a text as ISO 639-1; '' if its small words don't tell."""
    counts = Counter(re.findall(r"[^\W\d_]+", text.casefold()))
    votes = [(sum(counts[word] for word in one.words), one.code) for one in _LANGUAGES]
    [(most, winner), (second, _), *_] = sorted(votes, reverse=True)
    sure = most >= max(_FEWEST, _SHARE * counts.total()) and most >= _LEAD * second
    return winner if sure else ""


def spelling(text: str, language: str) -> float:
    """The share of the characters beyond ASCII that `language` writes; '' is any language."""
    beyond = Counter(text.translate(_NO_ASCII))
    if not beyond:
        return 1.0
    known = [one.letters for one in _LANGUAGES if language in ("", one.code)] or [frozenset()]
    letters = frozenset[str]().union(*known, _PUNCTUATION)
    return sum(count for char, count in beyond.items() if char in letters) / beyond.total()


_NO_ASCII = dict.fromkeys(range(128))
