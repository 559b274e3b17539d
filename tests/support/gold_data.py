"""A passage in LitBank's format and a play in PolDraCor's, both made up for the tests."""

from __future__ import annotations

from pathlib import Path

SENTENCES = (
    "Miss Anna Bell went out .",
    "“ Good day , Tom ! ” said Anna to Tom Gray .",
    "Anna Bell lived in London .",
)
MENTIONS = (
    ("T0", "0 0 0 2", "Miss Anna Bell", "PER PROP", "Anna-0"),
    ("T1", "1 4 1 4", "Tom", "PER PROP", "Tom-1"),
    ("T2", "1 8 1 8", "Anna", "PER PROP", "Anna-0"),
    ("T3", "1 10 1 11", "Tom Gray", "PER PROP", "Tom-1"),
    ("T4", "2 0 2 1", "Anna Bell", "PER PROP", "Anna-0"),
    ("T5", "2 4 2 4", "London", "GPE PROP", "London-2"),
)
EVENTS = {"went", "said"}


def write_litbank(folder: Path) -> None:
    """Write one passage, `1_tale_brat`, in LitBank's layers."""
    for layer in ("text", "coref", "quotations", "events"):
        (folder / layer).mkdir(parents=True, exist_ok=True)
    rows = [
        "\t".join(["MENTION", id, *place.split(), text, *kind.split()])
        for id, place, text, kind, _ in MENTIONS
    ]
    rows += [f"COREF\t{id}\t{cluster}" for id, *_, cluster in MENTIONS]
    quotations = ["QUOTE\tQ0\t1\t0\t1\t6\t“ Good day , Tom ! ”", "ATTRIB\tQ0\tAnna-0"]
    tokens = [token for sentence in SENTENCES for token in sentence.split(" ")]
    events = [f"{token}\t{'EVENT' if token in EVENTS else 'O'}" for token in tokens]
    files = {
        "text/1_tale_brat.txt": SENTENCES,
        "coref/1_tale_brat.ann": rows,
        "quotations/1_tale_brat.ann": quotations,
        "events/1_tale_brat.tsv": events,
    }
    for name, lines in files.items():
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _speeches(*labels: str) -> str:
    return "".join(
        f'<sp who="#{label.lower()}"><speaker>{label}.</speaker>'
        f"<p>Mówię to, co mam do powiedzenia, i nic więcej.</p></sp>"
        for label in labels
    )


PLAY = f"""<?xml version="1.0" encoding="utf-8"?>
<TEI xmlns="http://www.tei-c.org/ns/1.0" xml:lang="pol"><teiHeader><fileDesc><titleStmt>
<title>Dom</title><author>Nikt</author></titleStmt></fileDesc><profileDesc><particDesc><listPerson>
<person xml:id="anna" sex="FEMALE"><persName>Anna</persName></person>
<person xml:id="jan" sex="MALE"><persName>Jan</persName></person>
<person xml:id="ewa" sex="FEMALE"><persName>Ewa</persName></person>
</listPerson></particDesc></profileDesc></teiHeader><text><body>
<div type="act"><head>AKT I.</head>
<div type="scene"><head>SCENA I.</head>{_speeches("ANNA", "JAN", "ANNA", "JAN")}</div>
<div type="scene"><head>SCENA II.</head>{_speeches("JAN", "EWA", "ANNA", "EWA", "JAN", "EWA")}</div>
<div type="scene"><head>SCENA III.</head>{_speeches("ANNA")}</div>
</div></body></text></TEI>
"""


def write_play(folder: Path) -> None:
    """Write a play of three scenes, in TEI."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "dom.xml").write_text(PLAY, encoding="utf-8")
