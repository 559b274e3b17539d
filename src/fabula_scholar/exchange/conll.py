"""Write and read coreference in the format of the CoNLL-2012 shared task.

Each token is a line: document, part, number in its sentence, word, and further columns of which the
last has the coreference: "(3" begins a mention of cluster 3, "3)" ends one, "(3)" is one of a
single token, and "|" stands between several (Pradhan et al. 2012, section 4). A blank line ends a
sentence. Columns that need a parser are "-". The format has no names of clusters, and no types.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence

from fabula.errors import LoadError
from fabula.export.annotated_text import AnnotatedText
from fabula.export.annotation_formats import AnnotationFormat
from fabula.graph.annotations import ENTITY, Annotation
from fabula.text.anchoring import QuoteReader, TextQuote
from fabula.text.document import Document
from fabula.text.names import file_name
from fabula_scholar.exchange.token_files import TokenizedText, align_tokens

MIN_COLUMNS = 5
"""Of a line of a token: document, part, number, word and coreference."""
_PART = re.compile(r"\(?(\d+)\)?")
_COLUMNS_BETWEEN = "\t".join("-" * 6)
"""Tag, parse, lemma, frameset, sense and speaker; then come the names and the coreference."""


def write_conll(text: AnnotatedText, what: Sequence[str]) -> Mapping[str, str]:
    """Return a document as one part."""
    mentions = [a for a in text.annotations(what) if a.kind == ENTITY and a.start >= 0]
    tokenized = TokenizedText(text.document, mentions)
    numbers: dict[str, int] = {}
    begins: dict[int, list[tuple[int, int]]] = defaultdict(list)
    ends: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for mention in mentions:
        if found := tokenized.find(mention.start, mention.end):
            cluster = numbers.setdefault(mention.group or mention.id, len(numbers))
            begins[found[0]].append((found[1], cluster))
            ends[found[1]].append((found[0], cluster))
    name = file_name(text.document.title, text.document.id).replace(" ", "_")
    lines = [f"#begin document ({name}); part 000"]
    for row, token in enumerate(tokenized.tokens):
        if row and token.number_in_sentence == 0:
            lines.append("")
        # Outer mentions begin first and end last.
        parts = [
            f"({c})" if end == row else f"({c}" for end, c in sorted(begins[row], reverse=True)
        ]
        parts += [f"{c})" for start, c in sorted(ends[row], reverse=True) if start != row]
        place = f"{name}\t0\t{token.number_in_sentence}\t{token.text}"
        lines.append(f"{place}\t{_COLUMNS_BETWEEN}\t*\t{'|'.join(parts) or '-'}")
    return {".conll": "\n".join([*lines, "", "#end document", ""])}


def read_conll(files: Mapping[str, bytes], document: Document) -> Sequence[Annotation]:
    """Read the mentions of files as annotations of a document, in which their words are looked for.

    Raises:
        LoadError: A file is not in this format.

    """
    annotations = []
    marked = QuoteReader(document.text)
    for name, data in files.items():
        words, mentions = _read_mentions(name, data)
        spans = align_tokens(words, document.text)
        named: dict[str, str] = {}
        quotes = []
        for first, last, cluster in mentions:
            chosen = [span for span in spans[first : last + 1] if span]
            whole = len(chosen) == last - first + 1
            if whole:
                quote = marked.read(chosen[0][0], chosen[-1][1])
            else:
                quote = TextQuote(" ".join(words[first : last + 1]))
            quotes.append((quote, cluster))
            # The longest capitalised mention is the likeliest name.
            phrase = " ".join(quote.exact.split())
            known = named.get(cluster, "")
            if (phrase[:1].isupper(), len(phrase)) > (known[:1].isupper(), len(known)):
                named[cluster] = phrase
        annotations += [
            Annotation(quote, ENTITY, named[cluster], id=f"m{number}", group=f"conll-{cluster}")
            for number, (quote, cluster) in enumerate(quotes)
        ]
    return annotations


def _read_mentions(name: str, data: bytes) -> tuple[list[str], list[tuple[int, int, str]]]:
    """Return the words of a file, and the first and last word and the cluster of each mention."""
    try:
        lines = data.decode("utf-8-sig").replace("\r\n", "\n").split("\n")
    except UnicodeDecodeError as error:
        raise LoadError(f"{name} is not UTF-8: {error}.") from error
    words: list[str] = []
    mentions: list[tuple[int, int, str]] = []
    open_mentions: dict[str, list[int]] = defaultdict(list)
    for number, line in enumerate(lines, 1):
        if line.startswith("#") or not line.strip():
            continue
        columns = line.split("\t") if "\t" in line else line.split()
        if len(columns) < MIN_COLUMNS:
            raise LoadError(f"{name} is not CoNLL-2012: line {number} has too few columns.")
        words.append(columns[3])
        try:
            mentions += _close(columns[-1], len(words) - 1, open_mentions)
        except IndexError:
            raise LoadError(
                f"{name} ends a mention in line {number} that does not begin."
            ) from None
    if not words:
        raise LoadError(f"{name} has no tokens.")
    return words, sorted(mentions)


def _close(
    column: str, row: int, open_mentions: Mapping[str, list[int]]
) -> list[tuple[int, int, str]]:
    """Return the mentions that end at a token; IndexError for one that does not begin."""
    closed = []
    for part in column.split("|"):
        if found := _PART.fullmatch(part):
            cluster = found[1]
            if part.startswith("("):
                open_mentions[cluster].append(row)
            if part.endswith(")"):
                closed.append((open_mentions[cluster].pop(), row, cluster))
    return closed


FORMAT = AnnotationFormat(
    "conll",
    "coreference as in CoNLL-2012",
    (".conll", ".v4_gold_conll", ".v4_auto_conll"),
    write_conll,
    read_conll,
)
