"""No reader loses text in silence: what is not in the document is counted in `left_out`.

For each suffix there is a file with all that its format can hold. Each word that was written into
it is in the document, in its text or its metadata, or its characters are counted. Pictures,
scripts, styles, and descriptions of the file have no words here, as they are no text.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count, product
from pathlib import Path

from book_files import docx, epub, odt, pdf, rtf
from cases import for_each
from fabula.load import find_in_zip, load, open_in_zip
from fabula.load.readers import READERS
from fabula.text.document import Document

LIMIT = 10_000_000
WORDS = ["".join(pair) for pair in product(("bal", "dor", "fen", "gil", "kam"), repeat=4)]
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


@dataclass
class Writer:
    """Makes words for a file, each its own, and remembers what was written."""

    pieces: list[str] = field(default_factory=list)
    """What may be left out of the document, if it is counted."""
    story: list[str] = field(default_factory=list)
    """What must be in the document's text."""
    _number: count[int] = field(default_factory=count)

    def note(self, text: str) -> str:
        """Write a text that may be left out, if that is counted."""
        self.pieces.append(text)
        return text

    def words(self, number: int = 3) -> str:
        """Write words that may be left out, if that is counted."""
        return self.note(self._make(number))

    def text(self, number: int = 12) -> str:
        """Write a sentence of the story."""
        self.story.append(self._make(number).capitalize() + ".")
        return self.story[-1]

    def paragraph(self) -> str:
        """Write three sentences of the story."""
        return " ".join(self.text() for _ in range(3))

    def _make(self, number: int) -> str:
        return " ".join(WORDS[next(self._number)] for _ in range(number))


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def _plain(writer: Writer) -> bytes:
    w = writer
    head = "LANTERNS AND WEIRS"
    chapters = "\n\n".join(
        f"{w.note(f'CHAPTER {n}')}\n\n{w.paragraph()}\n\n"
        f"{w.text(4)[:-1]} {w.note(f'[Pg {n + 8}]')} "
        f"{w.text(4).lower()}\n\n{w.text(4)[:-1]}\n\n{w.note(f'{n + 30} {head}')}\n\n{w.words(9)}."
        for n in range(1, 4)
    )
    text = f"""{w.note("The Project Gutenberg EBook of A Tale, by A. Writer")}

{w.note("This eBook is for the use of anyone anywhere at no cost and with")} {w.words()}

{w.note("Title: A Tale")}

{w.note("Author: A. Writer")}

{w.note("Release Date: August 11, 2004")}

{w.note("*** START OF THIS PROJECT GUTENBERG EBOOK A TALE ***")}

{w.note("Produced by")} {w.words()}

{w.note("[Transcriber's note: spelling")} {w.words()}]

{w.note("CONTENTS")}

{w.note("CHAPTER 1 9")}

{w.note("CHAPTER 2 10")}

{w.note("CHAPTER 3 11")}

{chapters}

{w.note("[Illustration:")} {w.words()}]

_{w.text()}_

{w.note("Transcriber's Notes: page 9")} {w.words()}

{w.note("*** END OF THIS PROJECT GUTENBERG EBOOK A TALE ***")}

{w.note("Updated editions will replace")} {w.words()}
"""
    return text.encode()


def _front_block(writer: Writer) -> bytes:
    w = writer
    front = f"Title: {w.words()}\nAuthor: {w.words()}\n\n"
    return (front + "\n\n".join(w.paragraph() for _ in range(5))).encode()


def _markdown(writer: Writer) -> bytes:
    w = writer
    return f"""---
title: {w.words()}
author: {w.words()}
tags: {w.words()}
summary: {w.words()}
---

# {w.text(3)[:-1]}

{w.paragraph()} [{w.text(2)[:-1]}](https://example.org)

> {w.paragraph()}

- {w.text()}
- {w.text()}

| {w.text(2)} | {w.text(2)} |
| --- | --- |
| {w.text(2)} | {w.text(2)} |

```
{w.text()}
```

<p>{w.text()}</p>

<div hidden>{w.words()}</div>

## {w.text(3)[:-1]}

{w.paragraph()} <b>{w.text()}</b> `{w.text(2)}` **{w.text(2)}**
""".encode()


def _body(w: Writer) -> str:
    """The body of a page with all that HTML has."""
    return f"""<nav><ol><li>{w.words()}</li></ol></nav>
<h1>{w.text(3)[:-1]}</h1><p>{w.paragraph()}</p>
<p>{w.text(5)[:-1]} <span class="pagenum">{w.words(1)}</span> {w.text(5)}</p>
<p>{w.text(3)[:-1]} <ruby>{w.text(1)[:-1]}<rp>(</rp><rt>{w.words(1)}</rt><rp>)</rp></ruby>
{w.text(4)}</p>
<ul><li>{w.text()}</li></ul><table><caption>{w.text(3)}</caption><tr><td>{w.text(3)}</td></tr></table>
<pre>{w.text()}</pre><blockquote>{w.text()}</blockquote><h4>{w.text(3)[:-1]}</h4>
<div style="display:none">{w.words()}</div><p hidden>{w.words()}</p>
<form>{w.text(3)}<button>{w.words(1)}</button><textarea>{w.words()}</textarea>
<select><option>{w.words(1)}</option></select></form><noscript>{w.words()}</noscript>
<details><summary>{w.text(3)}</summary>{w.text()}</details><figure><figcaption>{w.text()}</figcaption></figure>
<p>{w.text(3)[:-1]} <del>{w.words(2)}</del> <ins>{w.text(2)[:-1]}</ins> {w.text(4)}</p>
<audio>{w.words()}</audio><object>{w.words()}</object><iframe>{w.words()}</iframe>
<math><mi>{w.words(1)}</mi></math><!-- no text --><script>var noText;</script><style>p {{}}</style>
<h2>{w.text(3)[:-1]}</h2><p>{w.paragraph()}</p>"""


def _html(writer: Writer) -> bytes:
    w = writer
    head = f'<title>{w.words()}</title><meta name="author" content="{w.words()}">'
    return f"<!DOCTYPE html><html><head>{head}</head><body>{_body(w)}</body></html>".encode()


def _xhtml(writer: Writer) -> bytes:
    w = writer
    return (
        '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head>'
        f"<title>{w.words()}</title></head><body>{_body(w)}</body></html>"
    ).encode()


def _epub(writer: Writer) -> bytes:
    w = writer
    contents = f'<nav><ol><li><a href="one.xhtml">{w.words()}</a></li></ol></nav>'
    unlisted = "".join(
        f'<item id="{name}" href="text/{name}.xhtml" media-type="application/xhtml+xml"'
        f"{properties}/>"
        for name, properties in (("nav", ' properties="nav"'), ("unlisted", ""))
    )
    html = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>{}</body></html>'
    extra = {
        "OEBPS/text/nav.xhtml": html.format(contents),
        "OEBPS/text/unlisted.xhtml": html.format(f"<p>{w.words()}</p>"),
    }
    pages = {"one.xhtml": _body(w), "two.xhtml": f"<h1>{w.text(3)[:-1]}</h1><p>{w.paragraph()}</p>"}
    return epub(pages, extra, unlisted)


def _tei(writer: Writer) -> bytes:
    w = writer
    return f"""<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc><titleStmt>
<title>A Tale</title><author>A. Writer</author></titleStmt></fileDesc></teiHeader>
<standOff><note>Metadata</note></standOff><text>
<front><titlePage><docTitle><titlePart>{w.text(3)}</titlePart></docTitle></titlePage>
<div type="contents"><list><item>{w.words()}</item></list></div></front>
<body><div><head>{w.text(3)[:-1]}</head><p>{w.paragraph()}<note>{w.text(4)}</note></p>
<pb n="2"/><fw>{w.words()}</fw><p><w>{w.text(1)[:-1]}</w> <w>{w.text(1)[:-1]}</w><pc>.</pc></p>
<p>{w.text(3)[:-1]} <choice><sic>{w.words(1)}</sic><corr>{w.text(1)[:-1]}</corr></choice>
<choice><abbr>{w.words(1)}</abbr><expan>{w.text(1)[:-1]}</expan></choice>
<app><lem>{w.text(1)[:-1]}</lem><rdg>{w.words(1)}</rdg></app>
<del>{w.words(1)}</del> <surplus>{w.words(1)}</surplus> <gap><desc>{w.words(2)}</desc></gap>
<add>{w.text(1)[:-1]}</add> {w.text(3)}</p>
<figure><head>{w.text(2)}</head><figDesc>{w.words()}</figDesc></figure></div>
<div><head>{w.text(3)[:-1]}</head><sp><speaker>{w.text(1)[:-1]}</speaker><stage>{w.text(2)}</stage>
<l n="1">{w.text(4)}</l><l n="2">{w.text(4)}</l></sp>
<lg><head>{w.text(2)}</head><l>{w.text(4)}</l></lg>
<table><row><cell>{w.text(2)}</cell></row></table><p>{w.paragraph()}</p>
<p>{w.text(3)} <formula>{w.words(1)}</formula></p></div></body>
<back><div><head>{w.text(3)[:-1]}</head><p>{w.paragraph()}</p></div></back></text></TEI>""".encode()


def _fb2(writer: Writer) -> bytes:
    w = writer
    notes = f'<section id="n1"><title><p>1</p></title><p>{w.text()}</p></section>'
    return f"""<?xml version="1.0" encoding="utf-8"?><FictionBook
xmlns="http://www.gribuser.ru/xml/fictionbook/2.0" xmlns:l="http://www.w3.org/1999/xlink">
<description><title-info><book-title>A Tale</book-title>
<annotation><p>Metadata</p></annotation></title-info></description>
<body><title><p>{w.text(3)}</p></title><epigraph><p>{w.text()}</p><text-author>{w.text(2)}</text-author>
</epigraph><section><title><p>{w.text(3)}</p></title><annotation><p>{w.text()}</p></annotation>
<p>{w.paragraph()}<a l:href="#n1" type="note">[1]</a></p><subtitle>{w.text(3)}</subtitle>
<poem><title><p>{w.text(2)}</p></title><stanza><v>{w.text(4)}</v></stanza><date>{w.text(1)}</date></poem>
<cite><p>{w.text()}</p></cite><table><tr><th>{w.text(2)}</th><td>{w.text(2)}</td></tr></table>
</section><section><title><p>{w.text(3)}</p></title><p>{w.paragraph()}</p></section></body>
<body name="notes"><title><p>{w.text(2)}</p></title>{notes}</body>
<binary id="a">QUFB</binary></FictionBook>""".encode()


def _docx(writer: Writer) -> bytes:
    w = writer

    def run(text: str, properties: str = "") -> str:
        return f'<w:r><w:rPr>{properties}</w:rPr><w:t xml:space="preserve">{text}</w:t></w:r>'

    def paragraph(content: str, style: str = "") -> str:
        return f'<w:p><w:pPr><w:pStyle w:val="{style}"/></w:pPr>{content}</w:p>'

    box = (
        '<w:r><w:pict><v:shape xmlns:v="urn:schemas-microsoft-com:vml"><v:textbox>'
        f"<w:txbxContent>{paragraph(run(w.text()))}</w:txbxContent></v:textbox></v:shape></w:pict></w:r>"
    )
    ruby = (
        f"<w:r><w:ruby><w:rt>{run(w.words(1))}</w:rt><w:rubyBase>{run(w.text(1)[:-1])}"
        "</w:rubyBase></w:ruby></w:r>"
    )
    body = [
        paragraph(run(w.words()), "TOC1"),
        paragraph(run(w.text(3)[:-1]), "H1"),
        paragraph(run(w.paragraph()) + '<w:r><w:footnoteReference w:id="2"/></w:r>'),
        paragraph(
            f"{run(w.text(4))}<w:del><w:r><w:delText>{w.words()}</w:delText></w:r></w:del>"
            f"<w:ins>{run(w.text(3))}</w:ins>{run(w.words(), '<w:vanish/>')}"
        ),
        paragraph(run(w.text(3)) + box + run(w.text(3))),
        paragraph(run(w.text(3)[:-1] + " ") + ruby + run(f" {w.text(3)}")),
        paragraph(f'{run(w.text(3))}<w:r><w:commentReference w:id="0"/></w:r>'),
        f"<w:tbl><w:tr><w:tc>{paragraph(run(w.text(3)))}</w:tc></w:tr></w:tbl>",
        f"<w:sdt><w:sdtContent>{paragraph(run(w.text()))}</w:sdtContent></w:sdt>",
        paragraph(run(w.text(3)[:-1]), "H1"),
        paragraph(run(w.paragraph())),
    ]
    return docx(
        "".join(body),
        footnotes=f'<w:footnotes {W}><w:footnote w:id="2">{paragraph(run(w.text(5)))}'
        "</w:footnote></w:footnotes>",
        comments=f'<w:comments {W}><w:comment w:id="0" w:author="A">{paragraph(run(w.words()))}'
        "</w:comment></w:comments>",
        header=f"<w:hdr {W}>{paragraph(run(w.words()))}</w:hdr>",
        footer=f"<w:ftr {W}>{paragraph(run(w.words()))}</w:ftr>",
    )


def _odt(writer: Writer) -> bytes:
    w = writer
    return odt(
        f"""<text:tracked-changes><text:changed-region><text:deletion><text:p>{w.words()}</text:p>
</text:deletion></text:changed-region></text:tracked-changes>
<text:table-of-content><text:index-body><text:p>{w.words()}</text:p></text:index-body>
</text:table-of-content><text:alphabetical-index><text:p>{
            w.words()
        }</text:p></text:alphabetical-index>
<text:h text:outline-level="1">{w.text(3)[:-1]}</text:h>
<text:p>{w.paragraph()}<text:note><text:note-citation>1</text:note-citation><text:note-body>
<text:p>{w.text(5)}</text:p></text:note-body></text:note></text:p>
<text:p>{w.text(3)}<office:annotation><text:p>{w.words()}</text:p></office:annotation></text:p>
<text:p>{w.text(3)[:-1]} <text:ruby><text:ruby-base>{
            w.text(1)[:-1]
        }</text:ruby-base><text:ruby-text>{w.words(1)}</text:ruby-text></text:ruby> {
            w.text(3)
        }</text:p>
<text:list><text:list-item><text:p>{w.text()}</text:p></text:list-item></text:list>
<table:table><table:table-row><table:table-cell><text:p>{w.text(3)}</text:p></table:table-cell>
</table:table-row></table:table><text:h text:outline-level="1">{w.text(3)[:-1]}</text:h>
<text:p>{w.paragraph()}<text:span text:style-name="T1">{w.text(2)}</text:span></text:p>"""
    )


def _rtf(writer: Writer) -> bytes:
    w = writer
    return rtf(
        rf"""{{\header {w.words()}\par}}{{\footer {w.words()}\par}}
{{\field{{\*\fldinst TOC \\o}}{{\fldrslt {w.words()}\par}}}}
\pard\outlinelevel0 {w.text(3)[:-1]}\par\pard {w.paragraph()}{{\footnote {w.text(5)}}}\par
\pard {w.text(3)} {{\v {w.words()}}} {w.text(3)} {{\deleted {w.words()}}}\par
{{\field{{\*\fldinst HYPERLINK "x"}}{{\fldrslt {w.text(2)}}}}}\par
\trowd\cellx1 {w.text(3)}\cell\row\pard {{\*\annotation {w.words()}}}{w.text(4)}\par
\pard\outlinelevel0 {w.text(3)[:-1]}\par\pard {w.paragraph()}\par"""
    )


def _pdf(writer: Writer) -> bytes:
    w = writer
    head = WORDS[-1]
    pages = [
        [w.note(head), *(w.text(6) for _ in range(6)), w.note(str(number))]
        for number in range(1, 9)
    ]
    return pdf(pages)


def _fountain(writer: Writer) -> bytes:
    w = writer
    return f"""Title: {w.words()}
{w.note(f"Contact: {w.words()}")}

/* {w.words()}

{w.words()} */

# {w.text(3)[:-1]}

= {w.words()}

INT. {w.text(3)[:-1]} {w.note("#1A#")}

{w.paragraph()} [[{w.words()}]]

{w.text(1)[:-1].upper()} ({w.text(1)[:-1]})
({w.text(2)})
{w.paragraph()}

~{w.text(3)}

>{w.text(3)}<

===

!{w.text(3)}
""".encode()


def _final_draft(writer: Writer) -> bytes:
    w = writer
    parts = "".join(
        f'<Paragraph Type="{kind}"><Text>{w.text(3)}</Text><Text>{w.text(3)}</Text></Paragraph>'
        for kind in ("Action", "Character", "Parenthetical", "Dialogue", "Transition", "General")
    )
    return f"""<FinalDraft><Content><Paragraph Type="Scene Heading"><SceneProperties><Summary>
<Paragraph><Text>{w.words()}</Text></Paragraph></Summary></SceneProperties><Text>{w.text(3)}</Text>
<ScriptNote><Paragraph><Text>{w.words()}</Text></Paragraph></ScriptNote></Paragraph>{parts}
<Paragraph><DualDialogue>{parts}</DualDialogue></Paragraph></Content><TitlePage><Content>
<Paragraph><Text>{w.words()}</Text></Paragraph><Paragraph><Text>{w.words()}</Text></Paragraph>
</Content></TitlePage></FinalDraft>""".encode()


def _srt(writer: Writer) -> bytes:
    w = writer
    return "".join(
        f"{w.note(str(n))}\n{w.note(f'00:00:{n}0,000 --> 00:00:{n}5,000')}\n"
        f"<i>{w.text(4)}</i>\n{w.text(1)[:-1].upper()}: {w.text()}\n\n"
        for n in range(1, 6)
    ).encode()


def _webvtt(writer: Writer) -> bytes:
    w = writer
    cues = "".join(
        f"{w.note('00:00:{n}0.000 --> 00:00:{n}5.000 line:0'.replace('{n}', str(n)))}\n"
        f"<v {w.text(1)[:-1]}>{w.text(4)}</v>\n\n{w.note('NOTE')} {w.words()}\n\n"
        for n in range(1, 6)
    )
    return f"WEBVTT - {w.words()}\n\n{w.note('STYLE')} {w.words()}\n\n{cues}".encode()


def _timed_text(writer: Writer) -> bytes:
    w = writer
    lines = "".join(
        f'<p begin="{n}0s" end="{n}5s"><span>{w.text(3)}</span><br/>{w.text(3)}</p>'
        for n in range(1, 6)
    )
    return f"""<tt><head><metadata><title>{w.words()}</title></metadata></head>
<body><div>{lines}</div></body></tt>""".encode()


def _flat_odt(writer: Writer) -> bytes:
    content = zipfile.ZipFile(io.BytesIO(_odt(writer))).read("content.xml")
    meta = b"<office:meta><dc:title xmlns:dc='http://purl.org/dc/elements/1.1/'>Tale</dc:title></office:meta>"
    flat = content.replace(b"office:document-content", b"office:document")
    return flat.replace(b"<office:automatic", meta + b"<office:automatic")


FILES: dict[str, Callable[[Writer], bytes]] = {
    ".txt": _plain,
    ".text": _front_block,
    ".md": _markdown,
    ".markdown": _markdown,
    ".html": _html,
    ".htm": _html,
    ".xhtml": _xhtml,
    ".epub": _epub,
    ".tei": _tei,
    ".xml": _tei,
    ".fb2": _fb2,
    ".docx": _docx,
    ".odt": _odt,
    ".fodt": _flat_odt,
    ".rtf": _rtf,
    ".pdf": _pdf,
    ".fountain": _fountain,
    ".fdx": _final_draft,
    ".srt": _srt,
    ".vtt": _webvtt,
    ".ttml": _timed_text,
    ".dfxp": _timed_text,
}


def test_each_format_has_a_file_here() -> None:
    assert set(FILES) == set(READERS)


@for_each("suffix", FILES)
def test_what_is_not_in_the_text_is_counted(suffix: str, tmp_path: Path) -> None:
    writer = Writer()
    file = tmp_path / f"tale{suffix}"
    file.write_bytes(FILES[suffix](writer))
    check(writer, load(file, "c", LIMIT))


def test_a_book_in_a_zip_is_counted_alike(tmp_path: Path) -> None:
    writer = Writer()
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("tale.txt", _plain(writer))
    file = tmp_path / "books.zip"
    file.write_bytes(data.getvalue())
    [book], _ = find_in_zip(file)
    check(writer, open_in_zip(file, book, "c", LIMIT).parse())


def check(writer: Writer, document: Document) -> None:
    """Check that each word is in the document or counted, and that the story is in it."""
    metadata = (document.title, document.author, document.published, document.edition)
    present = Counter(_words(" ".join([document.text, *metadata]).casefold()))
    story = Counter(_words(" ".join(writer.story).casefold()))
    assert not story - present, "The text lacks words of the story."
    present -= story
    characters = 0
    lost: list[str] = []
    for piece in writer.pieces:
        words = Counter(_words(piece.casefold()))
        missing = words - present
        present -= words
        if missing:
            lost.append(piece)
            whole = missing == words
            characters += len("".join(piece.split() if whole else missing.elements()))
    counted = sum(document.left_out.values())
    assert counted >= characters, f"Lost in silence, some of {lost}: {document.left_out}"
    # Spaces may be counted, too, marks beside what is left out, and the front matter that is now
    # metadata; nothing may be twice.
    spaces = sum(map(len, lost)) - characters + 3 * len(lost) + 2 * sum(map(len, metadata))
    assert counted <= characters + spaces, f"Counted too much of {lost}: {document.left_out}"
