"""Write and read the files of BookNLP (github.com/booknlp/booknlp, english_booknlp.py).

- `.tokens`: one token a line. `byte_onset` and `byte_offset` are characters, as in BookNLP. There
  is no tagger here, so lemma, tags and relation are `_`, and each token is its own head.
- `.entities`: mentions with their cluster (COREF), by their first and last token, both included.
- `.quotes`: quotations with the mention that names the speaker, and the cluster of the speaker.
- `.book`: the characters as JSON. `agent`, `patient`, `mod` and `poss` need a parser: empty.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from fabula.errors import LoadError
from fabula.export.annotated_text import AnnotatedText
from fabula.export.annotation_formats import AnnotationFormat, Tell, ignore
from fabula.graph.annotations import ENTITY, EVENT, QUOTATION, Annotation
from fabula.text.anchoring import QuoteReader, TextQuote
from fabula.text.document import Document
from fabula_scholar.exchange.token_files import TokenizedText, align_tokens

TOKENS, ENTITIES, QUOTES, BOOK = ".tokens", ".entities", ".quotes", ".book"
TOKEN_COLUMNS = (
    *("paragraph_ID", "sentence_ID", "token_ID_within_sentence", "token_ID_within_document"),
    *("word", "lemma", "byte_onset", "byte_offset", "POS_tag", "fine_POS_tag"),
    *("dependency_relation", "syntactic_head_ID", "event"),
)
ENTITY_COLUMNS = ("COREF", "start_token", "end_token", "prop", "cat", "text")
QUOTE_COLUMNS = (
    *("quote_start", "quote_end", "mention_start", "mention_end", "mention_phrase", "char_id"),
    "quote",
)
CATEGORIES = {"person": "PER", "place": "LOC", "organization": "ORG", "organisation": "ORG"}
"""BookNLP's names of types; a type that was imported from BookNLP stays as it is."""
TYPES = {"PER": "person", "LOC": "place", "GPE": "place", "FAC": "place", "ORG": "organization"}
NONE = "None"
"""What BookNLP writes for what is not known."""


def write_booknlp(text: AnnotatedText, what: Sequence[str]) -> Mapping[str, str]:
    """Return the four files by the ends of their names."""
    every = text.annotations(what)
    tokenized = TokenizedText(text.document, every)
    mentions = [a for a in every if a.kind == ENTITY and a.start >= 0]
    counts = Counter(a.group or a.id for a in mentions if a.properties.get("type", "") != "event")
    ranked = sorted(counts, key=lambda group: (-counts[group], group))
    # 0 is the narrator in BookNLP.
    numbers = {group: number for number, group in enumerate(ranked, 1)}
    events = {
        row
        for a in every
        if a.kind == EVENT and (found := tokenized.find(a.start, a.end))
        for row in range(found[0], found[1] + 1)
    }
    return {
        TOKENS: _tokens(tokenized, events),
        ENTITIES: _table(ENTITY_COLUMNS, _entity_rows(tokenized, mentions, numbers)),
        QUOTES: _table(QUOTE_COLUMNS, _quote_rows(text, tokenized, every, mentions, numbers)),
        BOOK: json.dumps({"characters": _characters(mentions, numbers)}, ensure_ascii=False),
    }


def _tokens(tokenized: TokenizedText, events: set[int]) -> str:
    rows = []
    for number, token in enumerate(tokenized.tokens):
        event = "EVENT" if number in events else "O"
        place = (token.paragraph, token.sentence, token.number_in_sentence, number)
        rows.append((*place, token.text, "_", token.start, token.end, "_", "_", "_", number, event))
    return _table(TOKEN_COLUMNS, rows)


def _entity_rows(
    tokenized: TokenizedText, mentions: Sequence[Annotation], numbers: Mapping[str, int]
) -> list[tuple[Any, ...]]:
    rows = []
    for mention in mentions:
        if found := tokenized.find(mention.start, mention.end):
            form = mention.properties.get("form", "PROP")
            number = numbers[mention.group or mention.id]
            phrase = " ".join(mention.quote.exact.split())
            rows.append((number, *found, form, category(mention), phrase))
    return sorted(rows, key=lambda row: (row[1], row[2]))


def _quote_rows(
    text: AnnotatedText,
    tokenized: TokenizedText,
    every: Sequence[Annotation],
    mentions: Sequence[Annotation],
    numbers: Mapping[str, int],
) -> list[tuple[Any, ...]]:
    names = {(a.start, a.end): a for a in mentions}
    of_speaker = {
        (found.start, found.end): names[found.speaker_words]
        for found in text.findings.quotations
        if found.speaker_words and found.speaker_words in names
    }
    rows = []
    for quotation in every:
        found = tokenized.find(quotation.start, quotation.end) if quotation.start >= 0 else None
        if quotation.kind != QUOTATION or found is None:
            continue
        mention = of_speaker.get((quotation.start, quotation.end))
        said_by: tuple[Any, ...] = (NONE, NONE, NONE)
        if mention and (named := tokenized.find(mention.start, mention.end)):
            said_by = (*named, " ".join(mention.quote.exact.split()))
        words = " ".join(token.text for token in tokenized.tokens[found[0] : found[1] + 1])
        rows.append((*found, *said_by, numbers.get(quotation.group, NONE), words))
    return rows


def _characters(mentions: Sequence[Annotation], numbers: Mapping[str, int]) -> list[dict[str, Any]]:
    forms: dict[str, dict[str, Counter[str]]] = {}
    for mention in mentions:
        if category(mention) == "PER":
            kind = {"PROP": "proper", "NOM": "common", "PRON": "pronoun"}.get(
                mention.properties.get("form", "PROP"), "proper"
            )
            of_group = forms.setdefault(mention.group or mention.id, {})
            of_group.setdefault(kind, Counter())[" ".join(mention.quote.exact.split())] += 1
    characters = []
    for group in sorted(forms, key=lambda group: numbers[group]):
        count = sum(names.total() for names in forms[group].values())
        # As in BookNLP, who is mentioned once is left out.
        if count > 1:
            listed = {
                kind: [
                    {"c": c, "n": name}
                    for name, c in forms[group].get(kind, Counter()).most_common()
                ]
                for kind in ("proper", "common", "pronoun")
            }
            empty: dict[str, list[Any]] = {name: [] for name in ("agent", "patient", "mod", "poss")}
            characters.append(
                {**empty, "id": numbers[group], "g": None, "count": count, "mentions": listed}
            )
    return characters


def category(mention: Annotation) -> str:
    """Return the type of a mention as BookNLP and LitBank name it."""
    type = mention.properties.get("type", "")
    return CATEGORIES.get(type.lower(), type.upper() or "MISC")


def _table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    return "".join("\t".join(map(str, row)) + "\n" for row in (columns, *rows))


def read_booknlp(
    files: Mapping[str, bytes], document: Document, tell: Tell = ignore
) -> Sequence[Annotation]:
    """Read BookNLP's files as annotations of a document: `.tokens`, and at least one other.

    Offsets of `.tokens` count only if they are those of this text; else its tokens are looked for.

    Raises:
        LoadError: `.tokens` is missing, or a file is not as BookNLP writes it.
    """
    by_end = {
        end: name for name in files for end in (TOKENS, ENTITIES, QUOTES) if name.endswith(end)
    }
    if TOKENS not in by_end or len(by_end) < 2:
        raise LoadError(
            "BookNLP's files refer to tokens: give .tokens as well as .entities or .quotes."
        )
    tokens = _rows(files, by_end[TOKENS], TOKEN_COLUMNS[:8])
    spans = _token_spans(tokens, document.text)
    if lacking := spans.count(None):
        tell(f"The text lacks {lacking:,} of the {len(spans):,} tokens.")
    quotes = QuoteReader(document.text)
    annotations: list[Annotation] = []
    names: dict[str, Counter[str]] = {}
    if ENTITIES in by_end:
        entities = _rows(files, by_end[ENTITIES], ENTITY_COLUMNS)
        for row in entities:
            # As BookNLP chooses a name: proper names before common nouns before pronouns.
            weight = {"PROP": 10_000, "NOM": 100}.get(row["prop"], 1)
            names.setdefault(row["COREF"], Counter())[row["text"]] += weight
        for number, row in enumerate(entities):
            type = TYPES.get(row["cat"], row["cat"].lower())
            annotations.append(
                _annotation(
                    quotes,
                    spans,
                    row["start_token"],
                    row["end_token"],
                    by_end[ENTITIES],
                    kind=ENTITY,
                    label=names[row["COREF"]].most_common(1)[0][0],
                    id=f"e{number}",
                    group=f"booknlp-{row['COREF']}",
                    properties={"type": type, "form": row["prop"], "category": row["cat"]},
                )
            )
    if QUOTES in by_end:
        for number, row in enumerate(_rows(files, by_end[QUOTES], QUOTE_COLUMNS)):
            speaker = row["char_id"]
            known = speaker in names
            annotations.append(
                _annotation(
                    quotes,
                    spans,
                    row["quote_start"],
                    row["quote_end"],
                    by_end[QUOTES],
                    kind=QUOTATION,
                    label=names[speaker].most_common(1)[0][0] if known else "",
                    id=f"q{number}",
                    group="" if speaker == NONE else f"booknlp-{speaker}",
                )
            )
    return annotations


def _token_spans(tokens: Sequence[Mapping[str, str]], text: str) -> list[tuple[int, int] | None]:
    try:
        spans = [(int(row["byte_onset"]), int(row["byte_offset"])) for row in tokens]
    except ValueError as error:
        raise LoadError(f"The place of a token of BookNLP is not a number: {error}.") from error
    if all(text[start:end] == row["word"] for (start, end), row in zip(spans, tokens, strict=True)):
        return list(spans)
    return align_tokens([row["word"] for row in tokens], text)


def _annotation(
    quotes: QuoteReader,
    spans: Sequence[tuple[int, int] | None],
    first: str,
    last: str,
    file: str,
    **values: Any,
) -> Annotation:
    try:
        chosen = [span for span in spans[max(0, int(first)) : max(0, int(last) + 1)] if span]
    except ValueError as error:
        raise LoadError(f"{file} names a token that is not a number: {error}.") from error
    quote = quotes.read(chosen[0][0], chosen[-1][1]) if chosen else TextQuote("")
    return Annotation(quote, **values)


def _rows(files: Mapping[str, bytes], name: str, columns: Sequence[str]) -> list[dict[str, str]]:
    try:
        lines = files[name].decode("utf-8-sig").replace("\r\n", "\n").split("\n")
    except UnicodeDecodeError as error:
        raise LoadError(f"{name} is not UTF-8: {error}.") from error
    heading = lines[0].split("\t") if lines else []
    if missing := [column for column in columns if column not in heading]:
        raise LoadError(f"{name} has no column {missing[0]}: it is not as BookNLP writes it.")
    rows = [dict(zip(heading, line.split("\t"), strict=False)) for line in lines[1:] if line]
    for number, row in enumerate(rows, 2):
        if len(row) < len(columns):
            raise LoadError(f"{name} has too few columns in line {number}.")
    return rows


FORMAT = AnnotationFormat(
    "booknlp",
    "BookNLP's files .tokens, .entities, .quotes and .book",
    (TOKENS, ENTITIES, QUOTES, BOOK),
    write_booknlp,
    read_booknlp,
)
