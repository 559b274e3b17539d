"""Tell titles and authors that a program wrote into a file from those of the text."""

from __future__ import annotations

import re

from fabula.load.clean import one_line

_SUFFIXES = (
    "docx? dotx? docm odt ott rtf txt text pages wpd wps p65 pm[5-7] pmd qx[dpb] indd? inx idml fm"
    " book tex dvi e?ps ai cdr sla pub xlsx? pptx? html? xhtml epub mobi pdf tiff? jpe?g png md"
)
_FILE_NAME = re.compile(rf"[^\n]*[^\s.]\.(?:{'|'.join(_SUFFIXES.split())})", re.IGNORECASE)
"""A name that ends in the suffix of a program that writes or lays out texts, or scans pages."""
_PROGRAM = re.compile(
    r"(?:microsoft (?:office )?(?:word|powerpoint|excel|publisher)|(?:adobe )?(?:indesign|pagemaker"
    r"|framemaker|acrobat)|wordperfect|quarkxpress|openoffice(?:\.org)? writer|libreoffice writer"
    r")\s*[-–—:]\s.*",
    re.IGNORECASE,
)
"""The name of a program before that of a file, as printer drivers write it."""
_PATH = re.compile(r"(?:[a-z]:[\\/]|\\\\|file:/|/(?:home|users|tmp|var|mnt)/).*", re.IGNORECASE)
_PLACEHOLDERS = re.compile(
    r"(?:untitled(?: document)?|no title|title|document|new document|default|unnamed|layout"
    r"|scan|scanned document"
    r"|ohne titel|unbenannt|dokument|sans titre|sin t[íi]tulo|senza titolo|sem t[íi]tulo"
    r"|zonder titel"
    r"|bez tytu[łl]u|dokument bez tytu[łl]u|без названия|无标题|無標題|名称未設定|無題|제목 없음"
    r"|(?:microsoft )?word(?:[ -]document)?|powerpoint presentation|presentation|pdf document"
    r"|(?:document|dokument|untitled|scan|doc|page|layout)[\s_-]*\d+)",
    re.IGNORECASE,
)
_NOBODY = re.compile(
    r"(?:anonymous|unknown|unknown author|unspecified|user|users?[\s_-]*\d*|windows user|admin"
    r"|administrator|owner|root|author|default|guest|none|null|nobody|pc|home|test|your name"
    r"|python-docx|reportlab(?: pdf library)?|calibre|un-?named|benutzer|anwender|utilisateur"
    r"|inconnue?|desconocido|desconhecido|sconosciuto|unbekannt|onbekend|okänd|nieznany|neznámý"
    r"|неизвест(?:ен|но|ный)(?: автор)?|невідомий(?: автор)?|未知|不明|알 수 없음"
    r"|usuario|utente|u[żz]ytkownik|(?:microsoft|adobe|apple)(?: .*)?|openoffice(?:\.org)?"
    r"|libreoffice|www\..*|https?:.*)",
    re.IGNORECASE,
)


def real_title(title: str) -> str:
    """Return a title of a file's metadata; '' if a program wrote it."""
    title = one_line(title)
    return "" if is_program_title(title) else title


def real_author(author: str) -> str:
    """Return an author of a file's metadata; '' if a program wrote it, as `anonymous` or `User`."""
    author = one_line(author)
    return "" if is_program_author(author) else author


def is_program_title(title: str) -> bool:
    """Return whether a title is a program's placeholder, or the name of a file."""
    title = title.strip(" \t\"'<>()[]")
    if not any(map(str.isalpha, title)):
        # A novel may be called 1984, but a file of this name has no other title to lose.
        return not title.isdecimal()
    patterns = (_FILE_NAME, _PROGRAM, _PATH, _PLACEHOLDERS)
    return any(pattern.fullmatch(title) for pattern in patterns)


def is_program_author(author: str) -> bool:
    """Return whether an author is a program's placeholder, or the name of an account."""
    author = author.strip(" \t\"'<>()[]")
    return not any(map(str.isalpha, author)) or _NOBODY.fullmatch(author) is not None
