"""Read what kind of passage a question asks for, by its words, where no model reads it.

"Who is Poole?" asks for a sentence that introduces Poole, "When did Marley die?" for one with a
time, "How does the story end?" for the end of the book. The rules are for English; a question
about a text in another language has the form `Asks.OTHER`, which prefers no sentence.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property

from fabula.text.stems import stemmer_of


class Asks(Enum):
    """What a question asks for."""

    DEFINITION = auto()
    TIME = auto()
    NUMBER = auto()
    ENDING = auto()
    OTHER = auto()


_TITLES = (
    "mr|mrs|miss|ms|dr|doctor|sir|lady|lord|madame?|captain|colonel|professor|inspector|"
    "king|queen|prince|princess|count|countess|aunt|uncle|old|young|little|the|an|a"
)
_BOOK = "story|book|novel|tale|play|poem|narrative|text|plot|work|novella|history"
_ENDING = re.compile(
    rf"\bhow (?:does|did|do) (?:.* )?(?:end|conclude|finish)\W*$"
    rf"|\b(?:at|in|near) the (?:very )?end(?: of (?:the |this )?(?:{_BOOK}))?\W*$"
    rf"|\b(?:ending|last (?:sentence|line|words|chapter|scene)|end)"
    rf" of (?:the |this )?(?:{_BOOK})\b"
    rf"|^what is the (?:ending|conclusion|end)\W*$",
    re.IGNORECASE,
)
_CAPITALISED = r"(?-i:[^\W\d_a-zß-öø-ÿ])[\w'’-]*"
_DEFINITION = re.compile(
    rf"^(?:(?:so |and |but |then )?(?:who|what) (?:exactly )?(?:is|are|was|were)"
    rf"|describe|introduce|tell me (?:something )?about)"
    rf" (?:(?:{_TITLES})\.? )*(?P<subject>{_CAPITALISED}"
    rf"(?: (?:(?:of|the|van|von|de|la) )*{_CAPITALISED}){{0,3}})"
    rf"(?: like)?(?: (?:in|of) (?:the|this) (?:{_BOOK}))?\W*$",
    re.IGNORECASE,
)
"""Only what has a name is introduced by its book: "What was the fly afraid of?" names nobody."""
_TIME = re.compile(
    r"^(?:since |until |till |by |and |but )?when\b[^,]*$|\b(?:what|which) (?:year|date|day|month|"
    r"time|century|season|hour|age)\b|\bhow (?:long|often|old)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\bhow (?:many|much|far|tall|large|big)\b", re.IGNORECASE)

_NUMBER_WORDS = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|"
    "sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|"
    "hundred|thousand|million|dozen|half"
)
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_WEEKDAYS = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"
_UNITS = "second|minute|hour|day|night|week|fortnight|month|year|century|centuries|decade|age"
_TIME_SIGN = re.compile(
    rf"\b\d{{3,4}}\b|\b(?:{_MONTHS}|{_WEEKDAYS})\b|\bo['’]clock\b|\b(?:{_NUMBER_WORDS}|\d+|several|"
    rf"many|some|few)[ -](?:{_UNITS})s?\b|\b(?:{_UNITS})s? (?:ago|later|before|after|since)\b"
    rf"|\b(?i:hundred|thousand|million)\b|\b(?:yesterday|to-?day|to-?night|to-?morrow|midnight|noon|"
    rf"Christmas|Easter)\b",
)
_NUMBER_SIGN = re.compile(rf"\b(?:\d+|{_NUMBER_WORDS})\b", re.IGNORECASE)
_ABOUT_BOOKS = """
story book novel tale poem play text work narrative narrator author reader chapter plot passage
scene setting theme moral lesson character main role end ending title event happen important
describe description mention reveal depict involve feature identify interact discussion explain
kind sort type during within name
"""
"""Words with which questions speak about a book, which the book need not have."""

_IRREGULAR = """
arise arose arisen; awake awoke; bear bore borne; beat beaten; become became; begin began begun;
bend bent; bind bound; bite bit bitten; bleed bled; blow blew blown; break broke broken;
bring brought; build built; burn burnt; buy bought; catch caught; choose chose chosen; cling clung;
come came; creep crept; deal dealt; die dead death dying;
dig dug; draw drew drawn; dream dreamt; drink drank drunk;
drive drove driven; eat ate eaten; fall fell fallen; feed fed; feel felt; fight fought; find found;
flee fled; fly flew flown; forget forgot forgotten; forgive forgave forgiven; freeze froze frozen;
go goes went gone; grow grew grown; hang hung; hear heard; hide hid hidden; hold held; keep kept;
kneel knelt; know knew known; lead led; learn learnt; leave left; lend lent; lie lay lain;
lose lost; mean meant; meet met; pay paid; ride rode ridden; rise rose risen; run ran; see saw seen;
seek sought; sell sold; send sent; shake shook shaken; shine shone; shoot shot; sing sang sung;
sink sank sunk; sit sat; slay slew slain; sleep slept; speak spoke spoken; spend spent; stand stood;
steal stole stolen; stick stuck; strike struck stricken; swear swore sworn; swim swam; swing swung;
take took taken; teach taught; tear tore torn; think thought; throw threw thrown;
understand understood; wake woke; wear wore worn; weave wove woven; weep wept; win won;
write wrote written
"""
"""English verbs with their forms, which no stemmer knows as one word."""
_DETERMINER = "(?i:an?|the|my|his|her|our|their|its|one|some|that|this|two|no|such|another)"
_QUOTED = r"[’'”\"]?"
"""A name may be in quotation marks: "the ‘Eloi,’ the beautiful race"."""
_ASIDE = r"(?:,[^,;.?!]{{1,50}},)?"
"""As in "the Eloi, like those kings, had ..."; braces are doubled, as names are put in later."""
_OWNER = rf"(?:{_DETERMINER}|(?:[A-Z]\w+\.? )?[A-Z]\w+['’]s?)"
_INNER_WORD = r"(?!(?:of|and|or|to|in|on|at|by|with|for|from|as|that|was|is|had|but|said)\b)[a-z-]+"
_ROLES = (
    "father|mother|brother|sister|son|daughter|wife|husband|uncle|aunt|nephew|niece|cousin|"
    "grandfather|grandmother|grandson|child|boy|girl|lad|lady|gentleman|man|woman|widow|orphan|"
    "friend|neighbou?r|enemy|partner|master|mistress|servant|maid|butler|footman|cook|nurse|"
    "housekeeper|coachman|groom|gardener|clerk|apprentice|lawyer|doctor|physician|surgeon|"
    "teacher|schoolmaster|tutor|governess|professor|student|pupil|priest|parson|vicar|monk|nun|"
    "captain|sailor|soldier|officer|sergeant|colonel|general|king|queen|prince|princess|duke|duchess|count|"
    "countess|baron|knight|squire|farmer|miller|baker|tailor|merchant|shopkeeper|innkeeper|landlord|"
    "landlady|banker|detective|inspector|constable|policeman|judge|thief|convict|murderer|prisoner|"
    "ghost|spirit|witch|wizard|monster|creature|animal|dog|cat|horse|bird|race|people|tribe|nephews|"
    "artist|painter|musician|singer|actor|actress|poet|writer|author|editor|journalist|secretary|"
    "manager|mayor|minister|heir|heiress|guest|lover|sweetheart|bride|bridegroom"
)
"""What people and creatures are called by what they are."""
_NOT_ADDRESSED = r"\b(?![,.!?]*[”\"])"
"""After a name that ends a speech somebody is addressed: "That young man, Poole,” he said"."""
_SIGNS_OF_DEFINITION = (
    # "Poole was the butler", "the Eloi were a frail people"
    (
        1.0,
        (
            rf"{{name}}{_ASIDE}"
            rf" (?:is|are|was|were|has been|had been|became|am)"
            rf" (?:\w+ly |not |but |only |still |once )?(?:{_DETERMINER})\b"
        ),
    ),
    # "these Eloi were mere fatted cattle", "Edward Hyde, alone of all mankind, was pure evil"
    (
        0.9,
        (
            rf"{{name}}{_ASIDE}"
            r" (?:is|are|was|were|(?:has|have|had) (?:become|grown|turned) (?:in)?to)"
            r" (?:(?:but|only|merely|mere|simply|pure|all|like) |as (?:an?|the) )"
        ),
    ),
    # "Poole, an old servant", "Fred, Scrooge's nephew"
    (
        1.0,
        (
            rf"{{name}}(?:,| ?[(—–-]+){_QUOTED} ?{_OWNER}"
            rf" (?:{_INNER_WORD} ){{{{0,3}}}}?(?:{_ROLES})s?\b"
        ),
    ),
    (0.7, rf"{{name}}(?:,| ?[(—–-]+){_QUOTED} ?{_OWNER} [a-z-]+"),
    (0.8, r"{name},? (?:who|which|whom|whose) "),
    # "his nephew Fred", "the butler, Poole"
    (
        1.0,
        rf"\b{_OWNER} (?:{_INNER_WORD} ){{{{0,3}}}}(?:{_ROLES})s?"
        r"(?:,|—| called| named)? {name}" + _NOT_ADDRESSED,
    ),
    (0.6, rf"\b{_OWNER} (?:{_INNER_WORD} ){{{{1,3}}}}(?:called |named ){{name}}"),
    # "a man of the name of Hyde"
    (
        1.0,
        (
            r"\b(?:call(?:ed|s)?|named?|known as|(?:nick|sur)?name (?:of|was|is)|names? )"
            r"[^.;!?]{{0,20}}{name}"
        ),
    ),
    # "Hyde was pale and dwarfish"
    (
        0.7,
        (
            r"{name} (?:is|are|was|were|seemed|looked) (?:\w+ly |so |very |too )?[a-z-]+(?<!ing)"
            r"(?:,| and| or)"
        ),
    ),
    (
        0.7,
        (
            rf"{{name}}\b[^.!?;,]{{{{0,40}}}}\b(?:{_ROLES})s?\b"
            rf"|\b(?:{_ROLES})s?\b[^.!?;,]{{{{0,40}}}}{{name}}{_NOT_ADDRESSED}"
        ),
    ),
    # "in shape something like a winged sphinx"
    (0.7, r"\b(?:like|of) an? (?:[a-z-]+ )?{name}"),
    (0.4, r"{name} (?:is|are|was|were|seemed|looked|had) "),
)


@dataclass(frozen=True)
class QuestionForm:
    """What a question asks for.

    Attributes:
        asks: The kind.
        subject: Of a definition, what is to be defined, without titles: "Poole", "White Sphinx".
    """

    asks: Asks = Asks.OTHER
    subject: str = ""

    @cached_property
    def _definitions(self) -> tuple[tuple[float, re.Pattern[str]], ...]:
        name = _name_pattern(self.subject)
        return tuple(
            (weight, re.compile(sign.format(name=name))) for weight, sign in _SIGNS_OF_DEFINITION
        )

    @cached_property
    def _name(self) -> re.Pattern[str]:
        return re.compile(_name_pattern(self.subject))

    def names(self, text: str) -> bool:
        """Return whether a text names the subject."""
        return bool(self._name.search(text))

    def rate(self, sentence: str) -> float:
        """Return how much a sentence looks like what is asked for, 0 to 1."""
        if self.asks is Asks.DEFINITION:
            line = " ".join(sentence.replace("_", "").split())
            return max(
                (weight for weight, sign in self._definitions if sign.search(line)), default=0.0
            )
        sign = _SIGNS.get(self.asks)
        return 1.0 if sign and sign.search(sentence) else 0.0


_SIGNS = {Asks.TIME: _TIME_SIGN, Asks.NUMBER: _NUMBER_SIGN}


def read_form(question: str) -> QuestionForm:
    """Return what an English question asks for."""
    question = " ".join(question.split())
    if _ENDING.search(question):
        return QuestionForm(Asks.ENDING)
    if match := _DEFINITION.search(question):
        return QuestionForm(Asks.DEFINITION, match["subject"])
    if _TIME.search(question):
        return QuestionForm(Asks.TIME)
    return QuestionForm(Asks.NUMBER if _NUMBER.search(question) else Asks.OTHER)


def content_terms(question: str) -> set[str]:
    """Return the stems of an English question's content words, but of those about books."""
    return set(stemmer_of("en").search_terms(question)) - _terms_about_books()


def find_verb_forms(question: str, names: Iterable[str]) -> dict[str, str]:
    """Return by stem the other forms of a question's verbs, as the stem that the question has.

    "ate" is "eat" in "What do they eat?", and "dead" and "death" are "die".

    Args:
        question: The question.
        names: Names in it, which are no verbs: Mr. Hide hides nothing.
    """
    stemmer = stemmer_of("en")
    own = set(stemmer.search_terms(question))
    named = set(stemmer.search_terms(" ".join(names)))
    forms = _verb_forms()
    return {
        form: term
        for term in sorted(own - named)
        for form in sorted(forms.get(term, frozenset()))
        if form not in own
    }


@functools.cache
def _verb_forms() -> dict[str, frozenset[str]]:
    """Return the stems of the other forms of each verb, by the stem of a form."""
    forms: dict[str, frozenset[str]] = {}
    for line in _IRREGULAR.split(";"):
        verb = frozenset(stemmer_of("en").search_terms(line))
        forms |= {form: forms.get(form, frozenset()) | verb - {form} for form in verb}
    return forms


@functools.cache
def _terms_about_books() -> frozenset[str]:
    return frozenset(stemmer_of("en").search_terms(_ABOUT_BOOKS))


def _name_pattern(subject: str) -> str:
    """Return a pattern for a subject: as a whole, or its last or first word if it is a name."""
    words = [re.escape(word) for word in re.findall(r"[\w'’-]+", subject)] or [r"(?!)"]
    whole = r"\s".join(words)
    parts = [whole, words[-1]]
    if len(words) > 1 and words[0][:1].isupper() and words[-1][:1].isupper():
        parts.append(words[0])
    # Books print some names in capitals, above all where they stand for the first time.
    parts += [part.upper() for part in parts[:2] if part[:1].isupper()]
    titles = r"(?:(?:Mr|Mrs|Ms|Dr|Miss|Sir|Lady|Lord)\.? )?"
    return rf"\b{titles}(?:{'|'.join(dict.fromkeys(parts))})\b"
