"""What models are to Fabula: a chat, an embedder, and what a query asks of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from pydantic import BaseModel

    from fabula.text.document import Vectors


class Turn(NamedTuple):
    """A question of a conversation, as it was asked, and what was answered."""

    question: str
    answer: str


NO_ANSWER = "The passages found do not answer this question."
"""What an answerer says where the context does not hold the answer."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request to a chat model; with a `schema` the reply is to be JSON of that shape.

    `correction` tells what was wrong with the reply before; it is sent after `user`. Whatever it
    says, the same is asked for: the response cache knows a prompt without it. `sample` tells apart
    several replies to the same prompt. `stand_in` makes a reply as the model may be expected to
    write it, in the form that is asked for: what a dry run goes on with.
    """

    system: str
    user: str
    max_tokens: int
    temperature: float
    schema: type[BaseModel] | None = None
    correction: str = ""
    sample: int = 0
    stand_in: Callable[[], str] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """A reply, or a piece of a streamed one, and the tokens the endpoint counted for it.

    `trouble`: why there is no text to use in it, though it was paid for; `faults`: tries that
    failed before this one; `cached`: whether it was paid for earlier; `cached_tokens`: how many of
    the prompt's the endpoint had in its prefix cache.
    """

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    trouble: str = ""
    faults: int = 0
    cached: bool = False
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Embeddings:
    """Unit vectors, one float32 row a text, and the tokens the endpoint counted for them.

    `faults`: tries that failed before this one; `cached`: whether all were paid for earlier;
    `saved_tokens`: those of the texts that were, by our own count.
    """

    vectors: Vectors
    tokens: int = 0
    faults: int = 0
    cached: bool = False
    saved_tokens: int = 0


class Chat(Protocol):
    """A chat model."""

    def complete(self, prompt: Prompt) -> Reply:
        """The whole reply."""
        ...

    def stream(self, prompt: Prompt) -> Iterator[Reply]:
        """The reply in pieces as they arrive; token counts come with the last."""
        ...

    def reject(self, prompt: Prompt, *, forget: bool) -> None:
        """Told that the reply to `prompt` could not be used; to `forget` it, it is asked again."""
        ...


class Embedder(Protocol):
    """Turns texts into unit vectors."""

    @property
    def model(self) -> str:
        """The name recorded in the graph."""
        ...

    @property
    def batch(self) -> int:
        """The number of texts to send at once."""
        ...

    def embed(self, texts: Sequence[str]) -> Embeddings:
        """One row a text, in order; at most `batch` texts. No text is empty."""
        ...


Rewriting = Literal["queries", "answer"]
"""A question in other words, or an answer that is made up to search with."""


class Guide(Protocol):
    """What retrieval may ask of a model."""

    def rewrite(self, question: str, form: Rewriting) -> list[str]:
        """What to search with: other wordings of the question, or one made-up answer."""
        ...

    def rank(self, question: str, texts: Sequence[str]) -> list[float]:
        """How well each text serves the question, in their order; higher is better."""
        ...

    def stand_alone(self, question: str, history: Sequence[Turn]) -> str:
        """The question as it can be searched with: what it leans on put into it."""
        ...


class Answerer(Protocol):
    """What asking the graph asks of a model."""

    def answer(
        self, question: str, context: Sequence[str], history: Sequence[Turn] = ()
    ) -> Iterator[Reply]:
        """Pieces of an answer that cites the passages of `context` as [1], [2], ...

        `history` is what was said before the question.
        """
        ...
