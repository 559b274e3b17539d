"""Two stories that the tests of several files read."""

from __future__ import annotations

WINTER = "\n\n".join(
    f"CHAPTER {number}\n\n"
    + " ".join(
        f"{name} walked to the {place} on day {day} of the long winter, and told nobody why."
        for day, (name, place) in enumerate(
            [("Anna", "harbour"), ("Boris", "mill"), ("Clara", "church"), ("Dmitri", "forest")] * 4
        )
    )
    for number in ("I", "II", "III", "IV", "V")
)
LIGHTHOUSE = """Title: The Lighthouse
Author: Jane Doe
Language: en

CHAPTER I

The keeper Elias lit the lamp every evening at six. He had promised his dying wife Marta that the
light would never fail. The sea was grey and the gulls were loud. He wrote every ship into a black
ledger, and every storm as well.

CHAPTER II

In November a storm broke the great lens. Elias carried his wife's mirror up the stairs and bound
it where the lens had been. The schooner Aurora saw the light and turned away from the rocks.

CHAPTER III

The captain of the Aurora came to thank him. Elias said nothing of the mirror. When the captain
had gone he wept, and then he climbed the stairs, because it was nearly six.
"""

CONVICT = """Title: The Convict
Author: Nobody
Language: en

PART ONE

CHAPTER I

Pip met the stranger on the marsh, because the churchyard lay there. "Bring me a file," said the
stranger. Pip ran home to Joe Gargery, and Joe Gargery asked him nothing. The stranger waited on the
marsh until Pip came back.

CHAPTER II

Pip brought the file to the stranger before dawn. "You are a good boy," said the stranger. Joe
Gargery sat by the fire and told Pip of the soldiers. In the evening Joe Gargery and Pip heard the
guns, because a prisoner had fled.

PART TWO

CHAPTER I

Pip went to London and lived with Herbert Pocket. "Estella is proud," said Herbert Pocket. Pip loved
Estella, although Estella laughed at him. Joe Gargery wrote a letter to Pip.

CHAPTER II: THE SECRET OF PROVIS

The stranger came to London, and his name was Provis. "I am your benefactor," said Provis. Pip heard
that Provis was the father of Estella. Provis had sent the money, so Pip was ashamed. Herbert Pocket
hid Provis at the Temple. "Compeyson will find me," said Provis.
"""
HALES = """CHAPTER I

"You are late," said Anna Hale to Captain Reed. "The mill is shut."

"I am late," said Captain Reed, and he looked at Anna Hale.

CHAPTER II

"Good day," said Elias Stone to Anna Hale. Then Anna Hale went away.

The storm came in the night. Nobody slept, and the boats broke. "So it goes," said Captain Reed.
"""
HOUSE = ("Anna", "Berta", "Clara", "Dora")
MILL = ("Ulrich", "Victor", "Walter", "Xaver")
"""Two groups of four, as communities."""


def harbour_story(word: str, chapters: int = 3) -> str:
    """Return a small story whose chapters all say that Anna did something, as `slept`."""
    return "\n\n".join(
        f"CHAPTER {number}\n\nAnna {word} at the harbour on day {number}, and nobody knew why. "
        f"Boris rang the bell of the {word} mill {number} times. A lamp burned until the morning."
        for number in range(1, chapters + 1)
    )


def winter_story(word: str) -> str:
    """Five chapters; another `word` changes every second one of them."""
    names = ("Anna", "Boris", "Clara", "Dmitri", "Elena", "Fyodor")
    places = ("harbour", "mill", "church", "forest", "market", "bridge")
    chapters = []
    for number, title in enumerate(("I", "II", "III", "IV", "V")):
        sentences = [
            f"{name} went to the {place} on day {day} of the "
            f"{word if number % 2 else 'long'} winter, in chapter {title}, and told nobody why."
            for day, (name, place) in enumerate(zip(names * 4, places * 4, strict=True))
        ]
        chapters.append(f"CHAPTER {title}\n\n{' '.join(sentences)}")
    return "\n\n".join(chapters)
