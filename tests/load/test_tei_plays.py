"""Three plays of DraCor, against lists that a person wrote from the files in data/plays."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabula.load import load
from fabula.text.document import Document

PLAYS = Path(__file__).parents[1] / "data" / "plays"

HEADERS = {
    "dzisiejsi": (
        "Dzisiejsi",
        "Marian Gawalewicz",
        "pl",
        "1885",
        (
            "Gawalewicz, M., Dzisiejsi. Komedya w 1-ym akcie oryginalnie napisana, [w:] tegoż, "
            "Komedye jednoaktowe i monologi. Serya druga, Warszawa 1890, s. 75-109"
        ),
    ),
    "w-zimowa-noc": (
        "W zimową noc",
        "Maria Markowska",
        "pl",
        "1913",
        "Markowska, M., W zimową noc: obrazek sceniczny w 4 odsłonach, Warszawa 1918",
    ),
    "podejrzliwi": (
        "Podejrzliwi",
        "Franciszek Bohomolec",
        "pl",
        "1781",
        "Bohomolec, F., Podeyrzliwi: komedya we trzech aktach, Warszawa 1781",
    ),
}
FRONTS = {
    "dzisiejsi": """DZISIEJSI.

KOMEDYA W 1-ym AKCIE ORYGINALNIE NAPISANA.

D-ROWI JANOWI BRZEZIŃSKIEMU

w przyjaznym upominku
SKŁADA
autor.

OSOBY:

JULIA, młoda wdowa.
JULIUSZ TOPOLSKI.
DOMINIK, służący.

(Rzecz dzieje się w domu Julii)""",
    "w-zimowa-noc": """WYDAWNICTWO IM. FAUSTYNY MORZYCKIEJ
TEATR LUDOWY
10.

W ZIMOWĄ NOC

Obrazek sceniczny w czterech odsłonach

MARYI MARKOWSKIEJ

NAGRODZONY W KONKURSIE MAŁEGO ŚWIATKA WE LWOWIE

WARSZAWA - 1918
"KSIĘGARNIA LUDOWA" JULJI SIKORSKIEJ
WARECKA 14.

OSOBY.

P. Zaklika
jego dzieci
Karolek, lat 14
Mania, lat 12
Helenka, lat 10
Olenio, lat 7
Ewunia, ich stryjeczna siostra, lat 14
P. Strzembosz, krewny p. Zakliki
P. Antoni, leśniczy
Walek, jego syn, lat 14
Szczepanowa, stara niania

Wszelkie prawa autorskie zastrzeżone.""",
    "podejrzliwi": """PODEYRZLIWI

KOMEDYA
WE TRZECH AKTACH

w Warszawie
w Drukarni Nadworney
J. K. Mci
Roku 1781.

OSOBY

STARUSZKIEWICZ
ROZALIA Córka Staruszkiewicza
GASZKIEWICZ Kawaler Rozalii.
BIEDAK Lokay Gaszkiewicza.
PROSTAKIEWICZ Mieszczanin.
ŻONA Prostakiewicza.
BOGACKI Ociec Anzelma.
AGATKA Służąca Rozalii.
KREWNY Prostakiewicza Żony.

(SCENA w Wilnie)""",
}
# Acts and scenes, each scene with the speakers of its first three speeches; a scene is indented.
SCENES = {
    "dzisiejsi": """
SCENA PIERWSZA: DOMINIK.
SCENA DRUGA: DOMINIK. JULIUSZ. DOMINIK.
SCENA TRZECIA: JULIUSZ.
SCENA CZWARTA: JULIA. JULIUSZ. JULIA.
SCENA PIĄTA: DOMINIK. JULIA. DOMINIK.
SCENA SZÓSTA: JULIUSZ. JULIA. JULIUSZ.
SCENA SIÓDMA: JULIA.
""",
    "w-zimowa-noc": """
ODSŁONA I:
 SCENA I: KAROLEK. OLENIO. KAROLEK.
 SCENA II: PAN ANTONI. WSZYSCY. DZIECI.
 SCENA III: KAROLEK. HELA. MANIA. OLENIO.
 SCENA IV: WALEK. KAROLEK. WALEK.
 SCENA V: PAN ANTONI. WALEK. PAN ANTONI.
 SCENA VI: PAN ANTONI. WSZYSCY. EWUNIA.
ODSŁONA II:
 SCENA I: KAROLEK.
 SCENA II: WALEK. KAROLEK. WALEK.
ODSŁONA III:
 SCENA I: POWSTANIEC. POWSTANIEC.
 SCENA II: KAROLEK. POWSTANIEC. WALEK.
 SCENA III: WÓDZ. PAN STRZEMBOSZ. WÓDZ.
 SCENA IV: PAN STRZEMBOSZ.
ODSŁONA IV:
 SCENA I: SZCZEPANOWA.
 SCENA II: OLENIO. SZCZEPANOWA. DZIEWCZYNKI.
 SCENA III: WALEK. KAROLEK. WALEK.
 SCENA IV: DZIECI. SZCZEPANOWA. CHŁOPCY.
""",
    "podejrzliwi": """
AKT I:
 SCENA I: ROZALIA. STARUSZKIEWICZ. ROZALIA.
 SCENA II: AGATKA. ROZALIA. AGATKA.
 SCENA III: PROSTAKIEWICZ. AGATKA. PROSTAKIEWICZ.
 SCENA IV: PROSTAKIEWICZ. ŻONA. PROSTAKIEWICZ.
 SCENA V: ŻONA PROSTAKIEWICZA.
 SCENA VI: PROSTAKIEWICZ. ŻONA. PROSTAKIEWICZ.
AKT II:
 SCENA I: BIEDAK. GASZKIEWICZ. BIEDAK.
 SCENA II: GASZKIEWICZ.
 SCENA III: PROSTAKIEWICZ. GASZKIEWICZ. PROSTAKIEWICZ.
 SCENA IV: GASZKIEWICZ.
 SCENA V: ŻONA. GASZKIEWICZ. ŻONA.
 SCENA VI: KREWNY. PROSTAKIEWICZ. KREWNY.
 SCENA VII: PROSTAKIEWICZ.
 SCENA VIII: GASZKIEWICZ. PROSTAKIEWICZ. ŻONA.
 SCENA IX: PROSTAKIEWICZ. GASZKIEWICZ.
 SCENA X: PROSTAKIEWICZ. ROZALIA. PROSTAKIEWICZ.
 SCENA XI: PROSTAKIEWICZ.
AKT III:
 SCENA I: ROZALIA. STARUSZKIEWICZ.
 SCENA II: AGATKA. ROZALIA. AGATKA.
 SCENA III: GASZKIEWICZ. ROZALIA. GASZKIEWICZ.
 SCENA IV: PROSTAKIEWICZ. ROZALIA. GASZKIEWICZ.
 SCENA V: ŻONA. ROZALIA. PROSTAKIEWICZ.
 SCENA VI: GASZKIEWICZ. STARUSZKIEWICZ. GASZKIEWICZ.
 SCENA VII: STARUSZKIEWICZ. BOGACKI. STARUSZKIEWICZ.
""",
}
SPEECHES = {
    "dzisiejsi": "JULIUSZ.\nA… po dzwonku?",
    "w-zimowa-noc": 'KAROLEK.\n(czyta) "Za szumnym Dniestrem, na Cecorskiem błoniu,\nGdzie '
    "Żółkiewskiego spotkał los okrutny,\nJechał Sieniawski odważny i smutny\nW błyszczącej zbroi i "
    'na białym koniu".',
    "podejrzliwi": "PROSTAKIEWICZ.\nCzy tylko to? Jam rozumiał, że iakie straszne nieszczęście... "
    "tak hałasować? Ale obaczmy. Mcia Panno... Mcia Panno... czyś iuż umarła WM Panna? Day go "
    "katu, nic nie odpowiada! to nie dobrze.",
}


@pytest.fixture(scope="module", params=HEADERS)
def play(request: pytest.FixtureRequest) -> tuple[str, Document]:
    name = str(request.param)
    return name, load(PLAYS / f"{name}.xml", "default", 10**7)


def test_the_header_says_title_author_year_and_edition(play: tuple[str, Document]) -> None:
    name, text = play
    facts = (text.title, text.author, text.language, text.published, text.edition)
    assert facts == HEADERS[name]


def test_the_title_page_and_the_cast_are_lines(play: tuple[str, Document]) -> None:
    name, text = play
    assert text.text[: text.sections[0].start].strip() == FRONTS[name]


def test_acts_and_scenes_are_nested_sections_and_speeches_have_speakers(
    play: tuple[str, Document],
) -> None:
    name, text = play
    ends = [*(section.start for section in text.sections), len(text.text)][1:]
    listed = ""
    for section, end in zip(text.sections, ends, strict=True):
        blocks = text.text[section.start : end].strip().split("\n\n")
        speakers = (block.split("\n")[0] for block in blocks if _is_speech(block))
        listed += f"\n{' ' * (section.level - 1)}{section.title}: {' '.join(speakers)}".rstrip()
    assert listed == SCENES[name].rstrip()


def test_a_speech_is_printed_as_the_book_has_it(play: tuple[str, Document]) -> None:
    name, text = play
    assert f"\n\n{SPEECHES[name]}\n\n" in text.text
    assert text.left_out == {}
    assert text.warnings == ()


def _is_speech(block: str) -> bool:
    """Whether a block begins with a name in capitals on a line of its own, with a text below it."""
    first, _, text = block.partition("\n")
    return bool(text) and first.endswith(".") and first == first.upper() and first[0].isalpha()
