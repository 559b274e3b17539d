"""Read what kind of passage a question asks for, by its words, where no model reads it.

"Who is Poole?" asks for a sentence that introduces Poole, "When did Marley die?" for one with a
time, "How does the story end?" for the end of the book. The rules are for English; a question
about a text in another language has the form `Asks.OTHER`, which prefers no sentence.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from functools import cached_property

from fabula.text.folding import fold
from fabula.text.stems import stemmer_of


class Asks(Enum):
    """What a question asks for."""

    DEFINITION = auto()
    TIME = auto()
    PLACE = auto()
    REASON = auto()
    NUMBER = auto()
    FATE = auto()
    RELATION = auto()
    CONTENT = auto()
    ENDING = auto()
    OTHER = auto()


_TITLES = (
    "mr|mrs|miss|ms|dr|doctor|sir|lady|lord|madame?|captain|colonel|professor|inspector|"
    "king|queen|prince|princess|count|countess|aunt|uncle|old|young|little|the|an|a"
)
_TITLE_BEFORE_NAME = re.compile(r"\b(?:Mr|Mrs|Miss|Ms|Dr|Sir|Lady|Lord|Madame?)\.? (?=[^\W\d_a-z])")
_BOOK = "story|book|novel|tale|play|poem|narrative|text|plot|work|novella|history"
_ENDING = re.compile(
    rf"\bhow (?:does|did|do) (?:.* )?(?:end|conclude|finish)\W*$"
    rf"|\b(?:at|in|near) the (?:very )?end(?: of (?:the |this )?(?:{_BOOK}))?\W*$"
    rf"|\b(?:ending|last (?:sentence|line|words|chapter|scene)|end)"
    rf" of (?:the |this )?(?:{_BOOK})\b"
    rf"|^what is the (?:ending|conclusion|end)\W*$",
    re.IGNORECASE,
)
_DEFINITION = re.compile(
    rf"^(?:so |and |but |then )?(?:who|what) (?:exactly )?(?:is|are|was|were)"
    rf" (?P<subject>(?:(?:{_TITLES})\.? )*[\w'’-]+"
    rf"(?: (?:(?:of|the|van|von|de|la) )*[\w'’-]+){{0,3}}?)"
    rf"(?: (?:in|of) (?:the|this) (?:{_BOOK}))?\s*\W*$"
    rf"|^(?:describe|introduce|tell me (?:something )?about) (?P<described>[^,;?]+?)\s*\W*$",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"^(?:since |until |till |by |and |but )?when\b|\b(?:what|which) (?:year|date|day|month|time|"
    r"century|season|hour|age)\b|\bhow (?:long|often|old)\b",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"^(?:from |to |and |but )?where\b|\b(?:what|which) (?:place|city|town|country|street|house|"
    r"room|village)\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"^(?:and |but )?why\b|\b(?:what|which) (?:reason|cause|made)\b|\bwhat .*\bfor\W*$",
    re.IGNORECASE,
)
_FATE = re.compile(
    r"^what (?:happen(?:s|ed)|has happened|had happened) to (?P<whom>[^,;?]+?)\W*$"
    r"|^what (?:became|becomes) of (?P<of>[^,;?]+?)\W*$"
    r"|^how (?:did|does|do) (?P<who>[^,;?]+?) die\W*$",
    re.IGNORECASE,
)
_RELATION = re.compile(
    r"\b(?:relation|relationship|connection|difference|bond|link) (?:between|of)"
    r" (?P<first>[^,;?]+?) (?:and|to|with) (?P<second>[^,;?]+?)\W*$"
    r"|^how (?:is|are|was|were) (?P<one>[^,;?]+?) (?:related|connected) to (?P<other>[^,;?]+?)\W*$"
    r"|^what (?:is|was) (?P<who>[^,;?]+?) to (?P<whom>[A-Z][^,;?]*?)\W*$",
    re.IGNORECASE,
)
_WRITINGS = (
    "will|testament|codicil|letter|note|telegram|message|manuscript|inscription|epitaph|gravestone|"
    "tombstone|diary|journal|document|parchment|paper|newspaper|notice|advertisement|placard|sign|"
    "label|card|ticket|contract|treaty|law|clause|oath|prophecy|curse|poem|song|verse|legend|report"
)
_CONTENT = re.compile(
    rf"^what (?:do|does|did) (?:[\w'’.]+ )*?(?:{_WRITINGS})s?"
    r" (?:say|contain|state|read|provide|tell)\W*$"
    r"|^what (?:is|was|stands|stood) (?:written|said|stated|printed|carved|engraved|inscribed)"
    rf" (?:in|on|upon) (?:[\w'’-]+ )*?(?:{_WRITINGS}|stone|wall|ring|watch|door)s?\b"
    r"|^what (?:is|are|was|were) the (?:contents?|terms|words) of"
    rf" (?:[\w'’.]+ )*?(?:{_WRITINGS})s?\b",
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
    rf"|\b(?:hundred|thousand|million)\b|\b(?:yesterday|to-?day|to-?night|to-?morrow|midnight|noon|"
    rf"Christmas|Easter)\b",
)
_YEAR_SIGN = re.compile(
    r"\b1\d{3}\b|\b\d{2},\d{3}\b|\b(?:hundred|thousand)\b.*\b(?:hundred|thousand|A\.?D)\b|\bA\.D\.",
    re.IGNORECASE,
)
_REASON_SIGN = re.compile(
    r"\b(?:because|in order|so that|lest|on account of|owing to|the reason|therefore|"
    r"for fear|for the sake)\b|[,;:—-]\s?(?:for|since|as) (?=(?:I|you|he|she|it|we|they|the|"
    r"his|her|their|my|there|that|this)\b)",
    re.IGNORECASE,
)
_PLACE_SIGN = re.compile(
    r"\b(?:in|at|near|to|from|into|towards?|on|through|beyond|behind|beside|under)\s"
    r"(?:(?:the|a|an|his|her|their|my|our|its)\s)?(?:[A-Z]\w+|(?:[\w-]+\s){0,2}"
    r"(?:house|street|road|town|city|village|room|chamber|chambers|hall|castle|church|garden|wood|"
    r"forest|hill|valley|river|sea|island|country|court|square|bank|moor|mill|shop|inn|door|"
    r"tree|bough))\b"
)
_FATE_SIGN = re.compile(
    r"\b(?:dead|death|die[sd]?|dying|killed|murdered|drowned|perished|lost|gone|vanished|disappeared|"
    r"escaped|fled|married|buried|grave|body|bodies|fainted|never (?:saw|seen|came|returned))\b",
    re.IGNORECASE,
)
_CONTENT_SIGN = re.compile(
    r"\b(?:provid(?:es?|ed|ing)|stat(?:es?|ed|ing)|contain(?:s|ed|ing)?|as follows|ran|reads?|"
    r"began|begins|written|wrote|signed|in these (?:words|terms)|the (?:words|contents?|terms) of|"
    r"in the following|inscribed|inscription|clause|it said|that said|leaving)\b",
    re.IGNORECASE,
)
_NUMBER_SIGN = re.compile(rf"\b(?:\d+|{_NUMBER_WORDS})\b", re.IGNORECASE)

_NOUN_BEFORE = re.compile(
    r"(?:\b(?:the|a|an|this|that|his|her|their|my|your|our|its|whose|no|any|last|own)\s+(?:[a-z]+\s+)?|['’]s\s+|s['’]\s+)$",
    re.IGNORECASE,
)
NOUN_REACH = 80
"""Characters before a word in which its determiner is looked for."""
_AMBIGUOUS = ("will", "might", "can", "being", "may", "mine", "must")
"""English function words that are nouns, too: "Jekyll's will", "with all his might"."""
_AMBIGUOUS_WORD = re.compile(rf"\b(?:{'|'.join(_AMBIGUOUS)})s?\b", re.IGNORECASE)
_POSSESSIVE_IS = re.compile(
    r"\b(?:it|that|what|he|she|there|who|here|where)['’]s\s+$", re.IGNORECASE
)

_WITH_DO = re.compile(r"\b(?:do|does|did)\b.* (\w+)\W*$", re.IGNORECASE)
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
_OTHER_WORDS = """
kill: murder slay stab shoot strangle poison drown assassinate murderer
murder: kill slay stab strangle murderer
die: deathbed perish decease grave funeral
weapon: knife dagger sword pistol gun revolver axe club cane stick rifle poker razor spear
live: dwell reside lodge house home lodging inhabit abode
marry: wed wedding wife husband bride bridegroom marriage
eat: food meat feed flesh devour dine meal supper dinner
drink: wine beer glass bottle drunk drunken
buy: purchase pay bargain
steal: rob theft thief thieves robber
work: trade profession employ clerk occupation business
job: trade profession employ clerk occupation business
profession: trade occupation clerk lawyer doctor
poor: poverty beggar hunger want
rich: wealth wealthy fortune money
wear: dress clothes clothed coat cloak gown clad
look: appearance face eyes hair countenance figure
appearance: face eyes hair countenance figure look
sick: ill illness fever disease sickness
afraid: fear terror fright frighten dread
fear: terror fright frighten dread afraid
angry: anger rage fury furious wrath
sad: grief sorrow weep tears
happy: joy glad delight happiness
travel: journey voyage
escape: flee fly
hide: conceal secret
inherit: heir legacy bequeath estate will
heir: inherit legacy bequeath
proof: evidence prove token testimony witness
evidence: proof prove token testimony witness
punish: punishment prison gaol sentence hang
prison: gaol jail cell dungeon
fight: battle struggle quarrel blow
attack: assault strike assail
leave: depart departure
arrive: arrival come reach
find: discover discovery
see: behold perceive
gift: present
family: father mother brother sister son daughter wife
child: son daughter boy girl baby
parent: father mother
moral: lesson
ghost: spirit spectre phantom apparition
letter: note message
scared: afraid fear terror fright
home: house
end: last final
dream: nightmare vision
"""
"""What a book says where an English question has the word before the colon. Written from the words
that questions about novels use, with words that are as common in books of the last centuries."""

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
_AFTER_PREPOSITION = re.compile(
    r"\b(?:of|by|to|in|with|for|from|at|on|upon|near|about|behind|round|under|than)"
    r" (?:(?:the|a|an|his|her|my|our|their) )?$",
    re.IGNORECASE,
)
"""What stands before a name that is no subject: "by the White Sphinx were the heads of men"."""


@dataclass(frozen=True)
class QuestionForm:
    """What a question asks for.

    Attributes:
        asks: The kind.
        subject: Of a definition, what is to be defined, without titles: "Poole", "White Sphinx".
        wants_year: Whether it asks for a year.
        nouns: Function words that the question uses as nouns, folded: "will".
        pair: Of a relation, the two that it is between, without titles; otherwise empty.
        is_thing: Of a definition, whether it asks "what", not "who": the book may print a thing
            with a capital or without.
    """

    asks: Asks = Asks.OTHER
    subject: str = ""
    wants_year: bool = False
    nouns: frozenset[str] = field(default_factory=frozenset)
    pair: tuple[str, ...] = ()
    is_thing: bool = False

    @property
    def _flags(self) -> re.RegexFlag:
        is_name = self.subject != self.subject.lower() and not self.is_thing
        return re.NOFLAG if is_name else re.IGNORECASE

    @cached_property
    def _pair_names(self) -> tuple[re.Pattern[str], ...]:
        return tuple(re.compile(_name_pattern(name)) for name in self.pair)

    @cached_property
    def _definitions(self) -> tuple[tuple[float, re.Pattern[str]], ...]:
        name = _name_pattern(self.subject)
        flags = self._flags
        return tuple(
            (weight, re.compile(sign.format(name=name), flags))
            for weight, sign in _SIGNS_OF_DEFINITION
        )

    @cached_property
    def _name(self) -> re.Pattern[str]:
        return re.compile(_name_pattern(self.subject), self._flags)

    def names(self, text: str) -> bool:
        """Return whether a text names the subject."""
        return bool(self._name.search(text))

    @cached_property
    def _whole_name(self) -> re.Pattern[str]:
        flags = self._flags
        words = r"\s+".join(map(re.escape, re.findall(r"[\w'’-]+", self.subject)))
        return re.compile(rf"\b{words}\b", flags)

    def names_whole(self, text: str) -> bool:
        """Return whether a text has the whole name of the subject, as "Jacob Marley"."""
        return bool(self.subject and self._whole_name.search(text))

    def rate(self, sentence: str) -> float:
        """Return how much a sentence looks like what is asked for, 0 to 1."""
        if self.asks is Asks.DEFINITION:
            line = " ".join(sentence.replace("_", "").split())
            return max(
                (
                    weight
                    for weight, sign in self._definitions
                    if any(
                        not sign.pattern.startswith(self._name.pattern)
                        or not _AFTER_PREPOSITION.search(line, 0, match.start())
                        for match in sign.finditer(line)
                    )
                ),
                default=0.0,
            )
        if self.asks is Asks.RELATION:
            if not (self.pair and all(name.search(sentence) for name in self._pair_names)):
                return 0.0
            return 1.0 if _RELATION_SIGN.search(sentence) else 0.5
        if self.wants_year:
            return 1.0 if _YEAR_SIGN.search(sentence) else 0.0
        sign = _SIGNS.get(self.asks)
        return 1.0 if sign and sign.search(sentence) else 0.0


_SIGNS = {
    Asks.TIME: _TIME_SIGN,
    Asks.PLACE: _PLACE_SIGN,
    Asks.REASON: _REASON_SIGN,
    Asks.NUMBER: _NUMBER_SIGN,
    Asks.FATE: _FATE_SIGN,
    Asks.CONTENT: _CONTENT_SIGN,
}


_RELATION_SIGN = re.compile(
    rf"\b(?:{_ROLES})(?:s|['’]s)?\b"
    r"|\b(?:hat(?:e[ds]?|red)|lov(?:e[ds]?|ing)|trust(?:ed|s)?|fear(?:ed|s)?|"
    r"married|betrothed|engaged|indifferent|resembl\w+|alike|same|identical|both|between|"
    r"related|relations?|kin|kinsman|son-in-law|heir|rivals?|allies|ally|employ\w*|serv(?:ed|es)|"
    r"(?:smaller|younger|older|better|worse|more|less|other) than)\b",
    re.IGNORECASE,
)


def read_form(question: str) -> QuestionForm:
    """Return what an English question asks for."""
    question = " ".join(question.split())
    nouns = frozenset(noun_uses(question))
    if _ENDING.search(question):
        return QuestionForm(Asks.ENDING, nouns=nouns)
    if _CONTENT.search(question):
        return QuestionForm(Asks.CONTENT, nouns=nouns)
    if match := _RELATION.search(question):
        pair = tuple(re.sub(r"['’]s$", "", _bare(name)) for name in match.groups() if name)
        if all(name != name.lower() for name in pair):
            return QuestionForm(Asks.RELATION, nouns=nouns, pair=pair)
    if match := _DEFINITION.search(question):
        subject = _bare(match["subject"] or match["described"])
        if not re.search(r"['’]s\b|s['’]$", subject):
            is_thing = bool(re.match(r"(?:\w+ )?what\b", question, re.IGNORECASE))
            return QuestionForm(Asks.DEFINITION, subject, nouns=nouns, is_thing=is_thing)
    if match := _FATE.search(question):
        return QuestionForm(
            Asks.FATE, _bare(match["whom"] or match["of"] or match["who"]), nouns=nouns
        )
    for asks, pattern in (
        (Asks.TIME, _TIME),
        (Asks.NUMBER, _NUMBER),
        (Asks.PLACE, _PLACE),
        (Asks.REASON, _REASON),
    ):
        if pattern.search(question):
            wants_year = asks is Asks.TIME and bool(re.search(r"\byear\b", question, re.I))
            return QuestionForm(asks, wants_year=wants_year, nouns=nouns)
    return QuestionForm(nouns=nouns)


def _bare(subject: str) -> str:
    """Return a subject without the articles and titles before it, and without "like" after it."""
    return re.sub(rf"^(?:(?:{_TITLES})\.? )+| like$", "", subject, flags=re.IGNORECASE)


def content_terms(question: str) -> set[str]:
    """Return the stems of an English question's content words, but of those about books."""
    return set(stemmer_of("en").search_terms(question)) - _terms_about_books()


def without_titles(question: str) -> str:
    """Return a question without titles before names, which say nothing of whom it asks: "Mr."."""
    return _TITLE_BEFORE_NAME.sub("", question)


def find_verb_forms(question: str, names: Iterable[str]) -> dict[str, str]:
    """Return by stem the other forms of a question's verbs, as the stem that the question has.

    "ate" is "eat" in "What do they eat?", and "dead" and "death" are "die".

    Args:
        question: The question.
        names: Names in it, which are no verbs: Mr. Hide hides nothing.
    """
    return _find_standing_for(question, names, _verb_forms())


def find_other_words(question: str, names: Iterable[str]) -> dict[str, str]:
    """Return by stem what stands in English texts for a word of a question, as that word's stem.

    "murdered" stands for "kill", and "meat" for "eat". Takes the same as `find_verb_forms`.
    """
    return _find_standing_for(question, names, _other_words())


def _find_standing_for(
    question: str, names: Iterable[str], table: Mapping[str, frozenset[str]]
) -> dict[str, str]:
    stemmer = stemmer_of("en")
    own = set(stemmer.search_terms(question))
    named = set(stemmer.search_terms(" ".join(names)))
    return {
        other: term
        for term in sorted(own - named)
        for other in sorted(table.get(term, frozenset()))
        if other not in own
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
def _other_words() -> dict[str, frozenset[str]]:
    """Return the stems of words that stand for a word, by its stem and those of its forms."""
    stem, forms = stemmer_of("en").search_terms, _verb_forms()
    others: dict[str, frozenset[str]] = {}
    for line in _OTHER_WORDS.strip().splitlines():
        word, _, listed = line.partition(":")
        senses = frozenset(stem(listed)).union(*(forms.get(each, ()) for each in stem(listed)))
        for term in stem(word):
            for form in {term} | forms.get(term, frozenset()):
                others[form] = others.get(form, frozenset()) | senses - {form}
    return others


def final_verb(question: str) -> set[str]:
    """Return the stem of the word that ends a question with "do", as in "did the sexton dig"."""
    match = _WITH_DO.search(question)
    return set(stemmer_of("en").search_terms(match[1])) if match else set()


@functools.cache
def _terms_about_books() -> frozenset[str]:
    return frozenset(stemmer_of("en").search_terms(_ABOUT_BOOKS))


def noun_uses(text: str) -> Iterable[str]:
    """Yield the function words of a text that stand as nouns, folded: "will" in "the will".

    A determiner or a possessive before the word tells: "Will you dine?" has no noun, and neither
    has "that'll be the will of God" more than one.
    """
    for match in _AMBIGUOUS_WORD.finditer(text):
        before = max(0, match.start() - NOUN_REACH), match.start()
        if _NOUN_BEFORE.search(text, *before) and not _POSSESSIVE_IS.search(text, *before):
            yield fold(match[0]).rstrip("s")


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
