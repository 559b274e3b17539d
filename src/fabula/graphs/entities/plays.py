"""The speakers of a play: who they are, that they are not each other, and who shares a scene.

A play prints the name of who speaks above each speech: in capitals, or on a line that the file
marks, as TEI, screenplays and transcripts do. So its persons are certain, as are the scenes that
they speak in: what DraCor (Fischer et al. 2019) makes networks of.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, pairwise

from fabula.graphs.entities.decided_pairs import DecidedPairs
from fabula.graphs.entities.forenames import is_short_for
from fabula.graphs.entities.names import name_key, titled_key
from fabula.graphs.entities.resolve import MIN_DOMINANCE, PERSON
from fabula.graphs.entities.values import Extraction, Mention, RelationMention
from fabula.graphs.entities.word_forms import count_common_letters
from fabula.graphs.entities.words import all_words
from fabula.text.document import Chunk
from fabula.text.folding import fold
from fabula.text.heading_words import heading_words
from fabula.text.locator import Locator
from fabula.text.sentences import spans
from fabula.text.speakers import is_speaker

MIN_SPEECHES = 3
"""How often a label must stand above a speech before a text is taken for a play, for two labels."""
MIN_STEM = 3
"""Letters that a name in another case has in common with it."""
MAX_SHORTENED = 4
"""Letters of a shortened title with its full stop: Hr."""
MIN_SHARE = 0.2
"""The share of the paragraphs of a play that are speeches with such labels."""
SCENE = {
    "de": "dieselbe Szene",
    "en": "same scene",
    "es": "misma escena",
    "fr": "même scène",
    "it": "stessa scena",
    "pl": "wspólna scena",
    "ru": "одна сцена",
}
"""The keyword of a relation of two persons who speak in one scene, by the language of the play."""
_SCENE_KEYWORDS = frozenset(SCENE.values())
_SEVERAL = frozenset(
    (
        *("all", "alle", "ambo", "beide", "both", "chor", "chœur", "choeur", "chór", "chórem"),
        *("coro", "chorus", "ensemble", "everybody", "oba", "obaj", "obie", "oboje", "omnes"),
        *("razem", "todos", "tous", "toutes", "tutti", "wszyscy", "wszystkie", "все", "оба"),
        *("хор", "boys", "children", "girls", "men", "others", "women", "dzieci", "dziewczynki"),
        *("chłopcy", "inni", "kobiety", "mężczyźni", "mężczyzni", "męzczyzni", "panie", "panowie"),
        *("andere", "frauen", "kinder", "männer", "enfants", "femmes", "hommes", "autres"),
        *("beiden", "beyde", "einige", "kilku", "mehrere", "niektórzy", "plusieurs", "quelques"),
        *("several", "some", "uebrigen", "viele", "wielu", "zusammen", "übrigen"),
    )
)
"""Words of labels that stand above what several of those on stage say at once, and are nobody's
name."""
_VOICES = frozenset(("stimme", "голос"))
"""What is heard of those who speak before they are seen. On 250 German plays that nobody had looked
at, 44 labels with it were given to the right speaker and 2 to a wrong one."""
_CONJUNCTION = r"(?:and|et|i|oraz|und|u\.|y|e|и)\s+"
_COMMA = re.compile(rf"\s*[,;&/]\s*(?:{_CONJUNCTION})?|\s+{_CONJUNCTION}", re.IGNORECASE)
_AND = re.compile(rf"{_COMMA.pattern}|\.\s+", re.IGNORECASE)
_DIRECTION = re.compile(r"\s*[(\[][^()\[\]]{0,100}[)\]]")
_SPACE = re.compile(rf" (?!{_CONJUNCTION})")
_BEFORE_WORD = re.compile(rf",\s+(?!{_CONJUNCTION})(?=\w)", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:ND|RD|ST|TH|GI|CI|SZY|TY|\.)?\s*")
_WORD = re.compile(r"[^\W_]+")
_NO_ABBREVIATION = re.compile(r"[^\W_]++(?!\.)")
_PARAGRAPH = re.compile(r"(?:[^\n]|\n(?![ \t]*\n))+")


@dataclass(frozen=True, slots=True)
class Speaker:
    """A name in a label, as it is printed, and where it begins in the document."""

    name: str
    start: int


@dataclass(frozen=True, slots=True)
class Speech:
    """A speech of a play.

    Attributes:
        chunk: The position of its chunk among all chunks.
        start: Where its label begins in the document.
        speakers: Those whom the label names; nobody where it says that all speak.
        also: The whole label where it has two names of one person: PAN ZAKLIKA, WÓDZ.
    """

    chunk: int
    start: int
    speakers: tuple[Speaker, ...]
    also: str = ""


def read_speeches(chunks: Sequence[Chunk], locators: Sequence[Locator] = ()) -> list[Speech]:
    """Return the speeches of a play in text order; none where the text is no play.

    Args:
        chunks: All chunks of the text.
        locators: Those of the document; if there are speakers among them, no others are looked for.
    """
    scenes = _scenes(chunks)
    spoken = _stated_labels(chunks, locators) or _guess_labels(chunks, scenes)
    if not spoken:
        return []
    known = {_bare(line) for _, _, line in spoken}
    speeches = [
        Speech(row, start, tuple(_speakers(line, start, known))) for row, start, line in spoken
    ]
    # "A, B" is one person, unless A and B speak by turns elsewhere.
    by_turns = _by_turns([speech for speech in speeches if len(speech.speakers) == 1], scenes)
    return [
        replace(speech, speakers=speech.speakers[:1], also=_bare(line))
        if len(speech.speakers) == 2
        and "," in line
        and frozenset(speaker.name for speaker in speech.speakers) not in by_turns
        else speech
        for speech, (_, _, line) in zip(speeches, spoken, strict=True)
    ]


def _stated_labels(
    chunks: Sequence[Chunk], locators: Sequence[Locator]
) -> list[tuple[int, int, str]]:
    """The row of the chunk, the place and the line of each name that the file marks."""
    ends = [chunk.end for chunk in chunks]
    labels: list[tuple[int, int, str]] = []
    for place in (each.start for each in locators if each.kind == "speaker"):
        row = bisect_right(ends, place)
        line = chunks[row].text[place - chunks[row].start :].partition("\n")[0]
        if _bare(line):
            labels.append((row, place, line))
    return labels


def _guess_labels(chunks: Sequence[Chunk], scenes: Sequence[int]) -> list[tuple[int, int, str]]:
    """The same of lines in capitals above speeches, where these are most of a text."""
    labels: list[tuple[int, int, str]] = []
    paragraphs = 0
    for row, chunk in enumerate(chunks):
        for paragraph in _PARAGRAPH.finditer(chunk.text):
            paragraphs += 1
            line, _, speech = paragraph[0].strip().partition("\n")
            # A label may be numbered: 2ND LORD.
            if speech and is_speaker(_NUMBER.sub("", line)) and len(line) > 2:
                indent = len(paragraph[0]) - len(paragraph[0].lstrip())
                labels.append((row, chunk.start + paragraph.start() + indent, line))
    counts = Counter(_bare(line) for _, _, line in labels)
    common = {label: count for label, count in counts.items() if count >= MIN_SPEECHES}
    if len(common) < 2 or sum(common.values()) < MIN_SHARE * paragraphs:
        return []
    # The lines of a title page and of a cast are in capitals, too: a play begins with the scene in
    # which two speeches follow each other of people who speak often.
    begins = next(
        (
            scenes[row]
            for (row, _, line), (next_row, _, next_line) in pairwise(labels)
            if scenes[row] == scenes[next_row] and {_bare(line), _bare(next_line)} <= common.keys()
        ),
        len(chunks),
    )
    return [label for label in labels if label[0] >= begins]


def add_speakers(
    extraction: Extraction, speeches: Sequence[Speech], chunks: Sequence[Chunk], language: str
) -> Extraction:
    """Add the speakers of a play to an extraction, and who shares a scene with whom.

    What the extraction had at the place of a label is kept with the label's type, a person.
    """
    if not speeches:
        return extraction
    starts: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for speech in speeches:
        for speaker in speech.speakers:
            starts[chunks[speech.chunk].id][speaker.name].append(speaker.start)
    mentions = [_without(mention, starts.get(mention.chunk, {})) for mention in extraction.mentions]
    by_id = {chunk.id: chunk for chunk in chunks}
    for id, names in starts.items():
        sentences = spans(by_id[id].text, language)
        for name, places in names.items():
            sentence = _sentence(by_id[id], sentences, places[0])
            printed = {name: tuple(places)}
            mentions.append(Mention(id, by_id[id].start, name, printed, PERSON, sentence))
    relations = [
        mention for mention in extraction.relation_mentions if not is_of_scene(mention.keywords)
    ]
    return replace(
        extraction,
        mentions=tuple(mention for mention in mentions if mention),
        relation_mentions=(*relations, *_scene_relations(speeches, chunks, language)),
    )


def tell_speakers_apart(
    decisions: DecidedPairs, speeches: Sequence[Speech], chunks: Sequence[Chunk]
) -> DecidedPairs:
    """Return the decisions with what a play says of its labels; what a person decided goes before.

    Two labels are two persons, unless the play prints a name with the words of both ("Hrabianka
    Julia" of HRABIANKA and JULIA) or a full label introduces who then has a shorter one (PAN
    FORESTER, FORESTER), they do not speak by turns, neither may be of another person so, and
    neither has an entry of its own in the cast; or one forename is short for the other (GENIO,
    EUGENIUSZ), no scene has both, and the cast has not both. Labels of the same words in another
    order are one. The EVIL SPIRIT is not the SPIRIT of an earlier scene, and a number tells one of
    several from the others: SECOND MESSENGER, MESSENGER. One is also a label that is another cut
    short (Bürgerm., Bürgermeister), and the voice of who is not seen yet (HAGENS STIMME).
    """
    if not speeches:
        return decisions
    first = {
        speaker.name: at
        for at, speech in reversed([*enumerate(speeches)])
        for speaker in speech.speakers
    }
    full_labels = _find_full_labels(first, speeches, chunks)
    names = sorted(first.keys() - full_labels.keys())
    words = {name: _words(name) for name in names}
    cast = _cast_names(speeches, chunks)
    printed = {*cast, *(_words(speech.also) for speech in speeches if speech.also)}
    by_turns, neighbours = _by_turns(speeches, _scenes(chunks)), _neighbours(speeches)
    in_one_scene = _in_one_scene(speeches, chunks)
    may_be: dict[str, set[str]] = {name: set() for name in names}
    for name, other in combinations(names, 2):
        pair = frozenset((name, other))
        short, full = sorted((name, other), key=lambda each: len(words[each]))
        is_part = words[short] <= words[full]
        whole = words[name] | words[other]
        is_introduced = is_part and first[full] < first[short]
        is_counted = is_part and any(map(_is_number, words[name] ^ words[other]))
        is_printed = (whole in printed or is_introduced) and not is_counted
        has_own_entry = any(words[each] in cast and words[each] != whole for each in pair)
        are_apart = has_own_entry or pair in (neighbours if is_part else by_turns)
        if words[name] == words[other]:
            continue
        if (is_printed and not are_apart) or (
            _is_diminutive(name, other)
            and pair not in in_one_scene
            and not all(words[each] in cast for each in pair)
        ):
            may_be[name].add(other)
            may_be[other].add(name)
    join = {
        (name, other)
        for name, other in combinations(names, 2)
        if words[name] == words[other] or (may_be[name] == {other} and may_be[other] == {name})
    }
    whole_label = {name: full_labels.get(name, name) for name in sorted(first)}
    decided = {
        frozenset(map(titled_key, pair)) for pair in (*decisions.join, *decisions.keep_apart)
    }

    def leave_out_decided(pairs: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
        return [pair for pair in pairs if frozenset(map(titled_key, pair)) not in decided]

    apart = [
        (name, other)
        for name, other in combinations(whole_label, 2)
        if whole_label[name] != whole_label[other]
        and tuple(sorted((whole_label[name], whole_label[other]))) not in join
        # The resolver says whose a name without its title is: FORESTER is PAN FORESTER.
        and name_key(name) != name_key(other)
    ]
    return replace(
        decisions,
        join=(*decisions.join, *leave_out_decided(sorted({*join, *full_labels.items()}))),
        keep_apart=(*decisions.keep_apart, *leave_out_decided(apart)),
    )


def _find_full_labels(
    names: Collection[str], speeches: Sequence[Speech], chunks: Sequence[Chunk]
) -> dict[str, str]:
    """The full label of each that is cut short, and the label of whose voice another one is.

    What is cut short is no word of the play without a full stop, and never speaks directly before
    or after the full label, as CONTE does with CONTESSA. Where several begin with it, it is the one
    that with its own short forms speaks far more often than the others.
    """
    printed = _words_of_speeches(speeches, chunks)
    neighbours = _neighbours(speeches)
    counts = Counter(speaker.name for speech in speeches for speaker in speech.speakers)
    words = {name: _WORD.findall(fold(name_key(name))) for name in names}
    full: dict[str, str] = {}
    for name, parts in words.items():
        owner = max(names, key=lambda other: _compare_voice(parts, words[other]))
        if _compare_voice(parts, words[owner]):
            full[name] = owner
            continue
        longer = [each for each in names if words[each] != parts and _begins(words[each], parts)]
        speeches_of = {
            each: sum(counts[short] for short in longer if _begins(words[each], words[short]))
            for each in longer
        }
        best = max(longer, key=lambda each: (speeches_of[each], len(each), each), default=name)
        others = sum(counts[each] for each in longer) - speeches_of.get(best, 0)
        cut = [part for part, whole in zip(parts, words[best], strict=True) if part != whole]
        if (
            cut
            and speeches_of[best] >= MIN_DOMINANCE * others
            and frozenset((name, best)) not in neighbours
            and printed.isdisjoint(cut)
        ):
            full[name] = best
    return {name: full.get(whole, whole) for name, whole in full.items()}


def _begins(words: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether each word of a label begins with the part that another one has of it."""
    return len(words) == len(parts) and all(map(str.startswith, words, parts))


def _words_of_speeches(speeches: Sequence[Speech], chunks: Sequence[Chunk]) -> frozenset[str]:
    """The folded words of a play that no full stop follows, without those of labels."""
    labels = {speech.start for speech in speeches}
    words: set[str] = set()
    for chunk in chunks:
        start = chunk.start
        for line in chunk.text.splitlines(keepends=True):
            if start not in labels:
                words.update(_NO_ABBREVIATION.findall(fold(line)))
            start += len(line)
    return frozenset(words)


def _compare_voice(words: Sequence[str], speaker: Sequence[str]) -> int:
    """How many letters of a name the label of a voice begins with, in whatever case; 0 for none."""
    others = set(words) - _VOICES
    names = others - all_words().particles - all_words().connectives
    if len(others) == len(words) or len(names) != 1 or len(speaker) != 1:
        return 0
    [name], [own_name] = names, speaker
    common = count_common_letters(name, own_name)
    is_same = common >= max(MIN_STEM, len(own_name) - 2, len(name) - 3)
    return common if is_same and not _is_number(name) else 0


def _by_turns(speeches: Sequence[Speech], scenes: Sequence[int]) -> set[frozenset[str]]:
    """The pairs of names that speak by turns in a scene: each once before the other."""
    spoken: dict[int, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, speech in enumerate(speeches):
        for speaker in speech.speakers:
            spoken[scenes[speech.chunk]][speaker.name].append(number)
    return {
        frozenset((name, other))
        for of_scene in spoken.values()
        for name, other in combinations(of_scene, 2)
        if of_scene[name][0] <= of_scene[other][-1] and of_scene[other][0] <= of_scene[name][-1]
    }


def _in_one_scene(speeches: Sequence[Speech], chunks: Sequence[Chunk]) -> set[frozenset[str]]:
    """The pairs of names that speak in one scene."""
    return {
        frozenset(pair)
        for of_scene in _first_speeches(speeches, chunks)
        for pair in combinations(of_scene, 2)
    }


def _is_diminutive(name: str, other: str) -> bool:
    """Whether one of two labels is a short or fond form of the other: GENIO, AGATKA."""
    first, second = sorted((name.casefold(), other.casefold()), key=lambda word: (len(word), word))
    # Polish adds -ka to a woman's forename.
    return is_short_for(first, second) or (first.endswith("a") and second == f"{first[:-1]}ka")


def _neighbours(speeches: Sequence[Speech]) -> set[frozenset[str]]:
    """The pairs of names of which one speaks directly after the other."""
    return {
        frozenset((speaker.name, other.name))
        for speech, following in pairwise(speeches)
        for speaker in speech.speakers
        for other in following.speakers
    }


def _cast_names(speeches: Sequence[Speech], chunks: Sequence[Chunk]) -> set[frozenset[str]]:
    """The words of the names with which lines before the first speech begin."""
    front = "".join(chunk.text for chunk in chunks[: speeches[0].chunk + 1])
    names: set[frozenset[str]] = set()
    for line in front[: speeches[0].start - chunks[0].start].splitlines():
        name: list[str] = []
        for word in line.split():
            if not word[0].isupper():
                break
            name.append(word)
            if word.endswith((",", ";", ":")) or (word.endswith(".") and len(word) > MAX_SHORTENED):
                break
        names.add(_words(" ".join(name)))
    return names - {frozenset()}


def _words(name: str) -> frozenset[str]:
    return frozenset(_WORD.findall(fold(name)))


def _is_number(word: str) -> bool:
    """Whether a folded word is a number, in figures or in words: 2nd, second, drugi."""
    return word[0].isdigit() or bool(_number_words().fullmatch(word))


def _begins_with_number(part: str) -> bool:
    """Whether a part of a label begins with a number, as both of "1-й и 2-й гость"."""
    words = _WORD.findall(fold(part))
    return bool(words) and _is_number(words[0])


@functools.cache
def _number_words() -> re.Pattern[str]:
    """What matches a folded number word of `heading_words`' languages, in any case and gender."""
    lists = chain.from_iterable(table.get("numbers", ()) for table in heading_words().values())
    words = {fold(word) for numbers in lists for word in numbers.split() if len(word) > 1}
    return re.compile("|".join(sorted(re.sub("-$", r"\\w{0,4}", word) for word in words)))


def is_of_scene(keywords: Iterable[str]) -> bool:
    """Return whether the keywords of a relation say that two persons speak in one scene."""
    return not _SCENE_KEYWORDS.isdisjoint(keywords)


def _scene_relations(
    speeches: Sequence[Speech], chunks: Sequence[Chunk], language: str
) -> Iterator[RelationMention]:
    """A mention for any two who speak in a scene, at the first chunk by which both have spoken."""
    keyword = SCENE.get(language, SCENE["en"])
    # A scene is a section of the text, and no chunk is in two of them.
    for first_rows in _first_speeches(speeches, chunks):
        for source, target in combinations(first_rows, 2):
            chunk = chunks[max(first_rows[source], first_rows[target])]
            yield RelationMention(chunk.id, chunk.start, source, target, chunk.section, (keyword,))


def _first_speeches(
    speeches: Iterable[Speech], chunks: Sequence[Chunk]
) -> Iterable[Mapping[str, int]]:
    """For each scene, the names that speak in it, with the row of the chunk of the first speech."""
    scene_of = _scenes(chunks)
    scenes: dict[int, dict[str, int]] = defaultdict(dict)
    for speech in speeches:
        for speaker in speech.speakers:
            scenes[scene_of[speech.chunk]].setdefault(speaker.name, speech.chunk)
    return scenes.values()


def _scenes(chunks: Sequence[Chunk]) -> list[int]:
    """The number of the scene of each chunk: chunks of one section that follow each other."""
    numbers: list[int] = []
    for row, chunk in enumerate(chunks):
        is_same = row and chunks[row - 1].section == chunk.section
        numbers.append(numbers[-1] if is_same else row)
    return numbers


def _bare(line: str) -> str:
    """A label without what its speaker does: PAULINE of "PAULINE, s'asseyant (bas)."."""
    label = _DIRECTION.sub("", line)
    if not _WORD.search(label) and (words := [*_WORD.finditer(line)]):
        # As "{(&Alc.&)}" in an edition that marks what is doubtful.
        label = line[words[0].start() : words[-1].end()]
    action = next((c for c in _BEFORE_WORD.finditer(label) if label[c.end()].islower()), None)
    return label[: action.start() if action else None].strip().rstrip(".:,;").strip()


def _parts(label: str) -> list[str]:
    titles = all_words().titles
    parts, start = [], 0
    for between in _AND.finditer(label):
        part = label[start : between.start()]
        # The full stop in "MR. GRAY" ends a title, and no name.
        if part and part.casefold() not in titles:
            parts.append(part)
            start = between.end()
    return [*parts, label[start:]]


def _without_action(label: str, known: set[str]) -> str:
    """A label without what its speaker does where no comma parts them: "PAULINE se retournant"."""
    for space in _SPACE.finditer(label):
        name, action = label[: space.start()], label[space.end() :]
        if name in known and name.isupper() and action[:1].islower():
            has_other = any(len(word) > 1 and word.isupper() for word in action.split())
            return label if has_other else name
    return label


def _speakers(line: str, start: int, known: set[str]) -> Iterator[Speaker]:
    """The names in a label; a label that is no list of known labels is one name."""
    label = _without_action(_bare(line), known)
    if not _SEVERAL.isdisjoint(label.casefold().split()):
        return
    # "Fr. v. Silberhaar, Fr. v. Winterau" is two names, and so is "Major. Hans".
    names = next(
        (
            parts
            for parts in (_COMMA.split(label), _AND.split(label))
            if len(parts) > 1 and known.issuperset(parts)
        ),
        [label],
    )
    parts = _parts(label)
    if names == [label] and len(parts) > 1 and all(map(_begins_with_number, parts)):
        # "ERSTER UND ZWEITER STUDENT" is what several say, though each has a label of his own.
        return
    # Full stops stand only between names; other words and marks may be within one.
    if names == [label] and ". " in label and len(parts) > 1 and not known.isdisjoint(parts):
        names = parts
    for name in names:
        # A direction may stand within a name: "JEAN (bas) PIERRE".
        printed = name if name in line else name.split()[0]
        yield Speaker(printed, start + line.index(printed))


def _without(mention: Mention, labels: Mapping[str, Sequence[int]]) -> Mention | None:
    """A mention without the names that stand in labels; None where nothing is left of it."""
    at_labels = {start for starts in labels.values() for start in starts}
    if not at_labels or not mention.names:
        return mention
    names = {
        name: left
        for name, starts in mention.names.items()
        if (left := tuple(start for start in starts if start not in at_labels))
    }
    if names == mention.names:
        return mention
    return replace(mention, names=names) if names else None


def _sentence(chunk: Chunk, sentences: Sequence[tuple[int, int]], place: int) -> str:
    start, end = next(
        (start, end) for start, end in sentences if start <= place - chunk.start < end
    )
    return " ".join(chunk.text[start:end].split())
