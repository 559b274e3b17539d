"""Quotations: the closest passages where no model answers, and the sentences that a model cites."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from fabula.ask.answer import Answer, escape_citations, find_citations
from fabula.ask.context import ContextSentence, in_text_order, score_sentences, score_words
from fabula.ask.question_form import Asks, QuestionForm, content_terms, find_verb_forms, read_form
from fabula.graph.hits import Hit, Passage, Quote, locate
from fabula.models import NO_ANSWER, Reply
from fabula.text.folding import search_words
from fabula.text.ranking import Scores, bm25, inverse_document_frequencies, scale
from fabula.text.sentences import spans
from fabula.text.stems import guess_language, stemmer_of

MAX_QUOTES = 4
"""As many passages as a screen holds."""
BEST_SENTENCES = 2
"""A passage is as close as this many of its best sentences together: one may be close by chance."""
SENTENCE_WEIGHT, FORM_WEIGHT, SUBJECT_WEIGHT = 0.3, 1.0, 0.8
"""What counts beside the question's words that a passage has in all, which count 1: its best
sentences, what these look like, and where it names what the question is about. Chosen by 36
questions about four novels and 277 about three others (docs/figures.md)."""
FEW_WORDS = 3
"""A question with more content words may well have some that the book says otherwise."""
MIN_SHARE, MIN_SHARE_OF_SOME, MIN_SHARE_OF_FEW = 0.34, 0.5, 0.6
"""The share of a question's content words that passages must have more of: of many words or beside
a name, of four, and of up to three."""
MIN_PASSAGES_TO_REFUSE = 4
"""That fewer passages lack a question's words says little of the book."""
MAX_KEY_CHARACTERS = 240
"""Of a longer sentence, the clauses with most of the question's words are what is shown first."""
MAX_TITLE_WORDS = 25
"""A first chunk of no more words is a title page."""
NAME_WEIGHT = 0.5
"""What all names of the question in a passage count."""
LAST_CHUNK = 100.0
"""More than any passage scores: for a question about the end of a book."""
MIN_MATCH = 0.5
"""A sentence matches if it scores this share of the sentence with most of the question's words."""

NOUNS_HAVE_CAPITALS = frozenset({"de", "lb"})
"""Languages in which a capital does not tell a name from any other noun: German, Luxembourgish."""

# A word inside a sentence: not the first one, which has a capital anyway, nor the English "I".
_LATER_WORD = re.compile(r"(?<=[\w,;:] )(?!I\b)[^\W_][\w'’]*|\d\w*")
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’»)\]]*\s*\Z")
_CLAUSE_END = re.compile(r"[,;:—][\"'”’]?\s*")
_CAPITALISED = r"(?!I\b)(?-i:[^\W\d_a-zß-öø-ÿ])[\w'’]*"
_NAME_RUN = re.compile(rf"(?<=[\w,;:.] ){_CAPITALISED}(?: {_CAPITALISED})*|\d\w*")


def rank_quotes(
    question: str, passages: Sequence[Passage], added: Sequence[Hit] = ()
) -> list[Quote]:
    """Return passages by how close they are to the question, the closest first, numbered from 1.

    A passage without any word of the question is quoted only if no passage has one. Nothing is
    quoted if the passages do not answer the question, as `_is_answerable` decides.

    Args:
        question: The question.
        passages: Chunks that were found for it.
        added: Chunks that the form of the question asks for: the first ones that name what is to
            be defined, or the last ones of the book, last first. The end of a book is what a
            question for it gets.
    """
    form = read_question_form(question, passages)
    hits = list({hit.id: hit for hit in [*added, *(each.hit for each in passages)]}.values())
    hits = [hit for hit in hits if not _is_title_page(hit)] or hits
    sentences = in_text_order(hits)
    if not sentences or not _is_answerable(question, hits, form):
        return []
    within: dict[str, list[int]] = defaultdict(list)
    for row, sentence in enumerate(sentences):
        within[sentence.hit.id].append(row)
    terms = _Terms.of(question, {hit.language for hit in hits})
    read = [terms.read(sentence.text, sentence.hit.language) for sentence in sentences]
    words = bm25(terms.asked, read)
    has = {
        id: terms.asked.intersection(chain(*(read[row] for row in rows)))
        for id, rows in within.items()
    }
    closeness = _closeness(question, sentences, within, words, form, has)
    if form.asks is Asks.ENDING:
        closeness |= {hit.id: LAST_CHUNK + len(added) - n for n, hit in enumerate(added)}
    min_words = MIN_MATCH * words.max()
    quotes = [
        Quote(
            number,
            hit,
            tuple(_span(sentences[row]) for row in within[hit.id] if words[row] > min_words),
            _key(question, [sentences[row] for row in within[hit.id]], words[within[hit.id]], form),
        )
        for number, hit in enumerate(hits, start=1)
        if hit.id in within
        and (words[within[hit.id]].any() or not words.any() or closeness[hit.id] > LAST_CHUNK)
    ]
    quotes.sort(key=lambda quote: (-closeness[quote.hit.id], quote.number))
    return [replace(quote, number=number) for number, quote in enumerate(quotes, start=1)]


def _is_title_page(hit: Hit) -> bool:
    """Return whether a passage is the beginning of a book and has a title, but no sentence."""
    if hit.start or len(search_words(hit.text)) > MAX_TITLE_WORDS:
        return False
    # A short note is a document, too: its words are mostly small, and it ends as a sentence.
    words = hit.text.split()
    is_sentence = bool(_SENTENCE_END.search(hit.text))
    return not is_sentence or 2 * sum(word[0].islower() for word in words) < len(words)


def read_question_form(question: str, passages: Sequence[Passage]) -> QuestionForm:
    """Return what a question asks for; the rules are for English texts."""
    is_english = any(passage.hit.language in ("en", "") for passage in passages)
    return read_form(question) if is_english else QuestionForm()


@dataclass(frozen=True)
class _Terms:
    """The words by which sentences are compared with a question.

    Another form of a verb of an English question counts as that verb.
    """

    asked: frozenset[str]
    forms: Mapping[str, str]

    @classmethod
    def of(cls, question: str, languages: Iterable[str]) -> _Terms:
        """Return those of a question about texts in some languages."""
        known = set(languages)
        terms = {term for each in known for term in stemmer_of(each).search_terms(question)}
        is_english = not known.isdisjoint(("en", "")) and guess_language(question) == "en"
        forms = find_verb_forms(question, find_names(question)) if is_english else {}
        return cls(frozenset(terms), forms)

    def read(self, text: str, language: str) -> list[str]:
        """Return the words of a text, in order."""
        return [self.forms.get(term, term) for term in stemmer_of(language).search_terms(text)]


def _closeness(
    question: str,
    sentences: Sequence[ContextSentence],
    within: Mapping[str, Sequence[int]],
    words: Scores,
    form: QuestionForm,
    shared: Mapping[str, AbstractSet[str]],
) -> dict[str, float]:
    """Return how close each passage is, by its id: its sentences, its words, and their form."""
    scores = score_sentences(question, sentences, words)
    best = np.array([np.sort(scores[rows])[-BEST_SENTENCES:].sum() for rows in within.values()])
    own = [shared[id] for id in within]
    rates = np.array([form.rate(sentence.text) for sentence in sentences])
    if form.asks is not Asks.DEFINITION:
        rates *= words / (words.max() or 1.0)
    forms = np.array([rates[rows].max() for rows in within.values()])
    if form.asks is Asks.DEFINITION:
        forms **= 2  # "Poole, my butler" says much more than what only may be a definition
    total = scale(_weigh(own)) + SENTENCE_WEIGHT * scale(best) + FORM_WEIGHT * forms
    names = set(stemmer_of(sentences[0].hit.language).search_terms(" ".join(find_names(question))))
    if names:
        # A name that most of the passages have weighs little among them: it still must be there.
        total += NAME_WEIGHT * np.array([len(names & terms) / len(names) for terms in own])
    if form.subject:
        total += SUBJECT_WEIGHT * _mention_places(form, sentences, within)
    return dict(zip(within, total.tolist(), strict=True))


def _weigh(shared: Sequence[AbstractSet[str]]) -> Scores:
    """Return how much the question's words that each passage has weigh, shape (passages,)."""
    weights = inverse_document_frequencies(shared)
    return np.array([sum(weights[term] for term in terms) for terms in shared])


def _key(
    question: str, sentences: Sequence[ContextSentence], words: Scores, form: QuestionForm
) -> tuple[int, int]:
    """Return where the sentence of a passage, or the part of a long one, is that answers best."""
    # The end of a book is in its last sentence.
    if form.asks is Asks.ENDING:
        return _span(sentences[-1])
    rates = np.array([form.rate(sentence.text) for sentence in sentences])
    scores = words / (words.max() or 1.0) + (rates if form.subject else rates * (words > 0))
    if not scores.any():
        return 0, 0
    best = sentences[int(scores.argmax())]
    start, end = _span(best)
    if end - start <= MAX_KEY_CHARACTERS:
        return start, end
    stemmer = stemmer_of(best.hit.language)
    terms = set(stemmer.search_terms(question))
    starts = [
        start,
        *(start + mark.end() for mark in _CLAUSE_END.finditer(best.hit.text[start:end])),
    ]
    ends = [
        max([at for at in [*starts, end] if at - first <= MAX_KEY_CHARACTERS], default=end)
        for first in starts
    ]
    parts = [(first, last) for first, last in zip(starts, ends, strict=True) if last > first]
    return max(
        parts or [(start, end)],
        key=lambda part: (
            len(terms.intersection(stemmer.search_terms(best.hit.text[slice(*part)])))
            + form.rate(best.hit.text[slice(*part)]),
            part,
        ),
    )


def _mention_places(
    form: QuestionForm,
    sentences: Sequence[ContextSentence],
    within: Mapping[str, Sequence[int]],
) -> Scores:
    """Return 1, 1/2, ... for passages by how early they name the subject, 0 for the others."""
    hits = [sentences[rows[0]].hit for rows in within.values()]
    naming = [index for index, hit in enumerate(hits) if form.names(hit.text)]
    # A book says who somebody is when it introduces him.
    naming.sort(key=lambda index: hits[index].start)
    places = np.zeros(len(hits))
    seen: Counter[str] = Counter()
    for index in naming:
        seen[hits[index].document] += 1
        places[index] = 1 / seen[hits[index].document]
    return places


def quote_cited(answer: Answer) -> list[Quote]:
    """Return the passages that an answer cites, in the order of their numbers.

    Of each passage one sentence matches: of those that the answer was given to read, the one with
    most of the words of the sentences that cite the passage.
    """
    quotes = []
    numbers = [passage.number for passage in answer.context]
    for passage in answer.context:
        if passage.number not in answer.cited:
            continue
        language = passage.hit.language
        citing = " ".join(
            answer.text[start:end]
            for start, end in spans(answer.text, language)
            if passage.number in find_citations(answer.text[start:end], numbers)
        )
        sentences = [
            sentence
            for sentence in in_text_order([passage.hit])
            if any(start <= sentence.start < end for start, end in passage.spans)
        ]
        matches: tuple[tuple[int, int], ...] = ()
        if sentences:
            matches = (_span(sentences[int(score_words(citing, sentences).argmax())]),)
        hit = locate(passage.hit, answer.structures, matches)
        quotes.append(Quote(passage.number, hit, matches))
    return quotes


def write_quotes(quotes: Sequence[Quote]) -> Iterator[Reply]:
    """Yield the quotes as an answer's text, each with the number of its passage after it."""
    if not quotes:
        yield Reply(NO_ANSWER)
    for index, quote in enumerate(quotes):
        between = "\n\n" if index else ""
        yield Reply(f"{between}{escape_citations(quote.hit.text.strip())} [{quote.number}]")


def find_names(text: str, language: str = "") -> list[str]:
    """Return the words that have a capital inside a sentence, and the numbers, in order.

    In a language that writes all nouns with a capital they are the numbers alone: "Wer ist der
    Mörder?" names nobody.
    """
    words = (word for word in _LATER_WORD.findall(text) if not word[0].islower())
    if language in NOUNS_HAVE_CAPITALS:
        return [word for word in words if word[0].isdigit()]
    return list(words)


def _is_answerable(question: str, hits: Sequence[Hit], form: QuestionForm) -> bool:
    """Return whether passages can answer a question, by its words alone."""
    if form.asks is Asks.ENDING:
        return True
    names = {hit.language: _name_terms(question, hit.language) for hit in hits}
    printed = {hit.language: set[str]() for hit in hits}
    for hit in hits:
        printed[hit.language].update(
            stemmer_of(hit.language).search_terms(f"{hit.title}\n{hit.section}\n{hit.text}")
        )
    # They can't if they lack the last word of each name, as "Kilimanjaro".
    has_name = any(
        not names[language] or any(name <= terms for name in names[language])
        for language, terms in printed.items()
    )
    if not has_name:
        return False
    if len(hits) < MIN_PASSAGES_TO_REFUSE:
        return True
    terms = content_terms(question)
    if "en" not in printed or guess_language(question) != "en" or not terms:
        return True
    # A verb may stand in another form in the book: "dig", but "dug".
    forms = find_verb_forms(question, find_names(question))
    had = printed["en"] | {forms[form] for form in printed["en"] & forms.keys()}
    # Of 328 questions about seven books this refused 2; of 200 about other things it answered 26.
    share = len(terms & had) / len(terms)
    if names["en"]:
        return len(terms) > FEW_WORDS or share > MIN_SHARE
    if len(terms) <= FEW_WORDS:
        return share > MIN_SHARE_OF_FEW
    return share > (MIN_SHARE_OF_SOME if len(terms) == FEW_WORDS + 1 else MIN_SHARE)


def _name_terms(question: str, language: str) -> list[set[str]]:
    """Return the stems by which a passage has each of the question's names, and its numbers."""
    stemmer = stemmer_of(language)
    if language in NOUNS_HAVE_CAPITALS:
        return [{term} for term in stemmer.search_terms(" ".join(find_names(question, language)))]
    runs = (run[0].split() for run in _NAME_RUN.finditer(question))
    names = []
    for run in runs:
        # "Mount Kilimanjaro" is where Kilimanjaro is, the "Eiffel Tower" where both words are.
        if not run[-1][0].islower():
            before = run[-2:-1] if language in ("en", "") else []
            before = [word for word in before if not _BEFORE_NAMES.match(word)]
            names.append(set(stemmer.search_terms(" ".join([*before, run[-1]]))))
    return [name for name in names if name]


_BEFORE_NAMES = re.compile(
    r"(?:mr|mrs|miss|ms|dr|madame?|mount|mt|lake|river|cape|port|saint|st|castle|king|queen|prince|princess|captain|colonel|"
    r"doctor|professor|lord|lady|sir|old|young|little|uncle|aunt|inspector|father|mother|"
    r"brother|sister|count|countess|baron|general|major|sergeant|judge|reverend)\Z",
    re.IGNORECASE,
)
"""What stands before a name and may be left out, or said otherwise, by a book."""


def _span(sentence: ContextSentence) -> tuple[int, int]:
    return sentence.start, sentence.start + len(sentence.text.rstrip())
