"""The protocols of the models that Fabula calls: chats, embedders and guides."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from pydantic import BaseModel

    from fabula.text.document import Vectors


class Turn(NamedTuple):
    """One turn of a conversation: the question as the user wrote it, and its answer."""

    question: str
    answer: str


NO_ANSWER = "The passages found do not answer this question."
"""The sentence an answerer writes where the context does not hold the answer."""


@dataclass(frozen=True, slots=True)
class OfferedTool:
    """A tool that a model may call: its name, what it does, and its arguments."""

    name: str
    about: str
    arguments: type[BaseModel]


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """The tools that a model may call in its reply.

    The reply's text is JSON in either case: {"calls": [{"tool": name, "arguments": {...}}]}, made
    from the calls of an endpoint that has tools, or written so by a model at one that has none.

    Attributes:
        tools: The tools.
        instructions: How to call them by JSON. They are added to the prompt where the endpoint
            refuses tools, and the reply is asked for in the prompt's schema.
    """

    tools: tuple[OfferedTool, ...]
    instructions: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request to a chat model.

    Attributes:
        system: The system message.
        user: The user message.
        max_tokens: The limit of the reply's length, in tokens of the model.
        temperature: The sampling temperature.
        schema: Where it is given, the reply has to be JSON of this shape.
        correction: What was wrong with the previous reply; it is sent after `user`. It is not part
            of the response cache's key, as it asks for the same thing again.
        sample: A number that distinguishes several replies to the same prompt.
        offer: The tools that the model may call; None for none.
        placeholder: Makes a reply in the form that is asked for, and about as long as the model's
            would be. A dry run continues with it.
    """

    system: str
    user: str
    max_tokens: int
    temperature: float
    schema: type[BaseModel] | None = None
    correction: str = ""
    sample: int = 0
    offer: ToolOffer | None = None
    placeholder: Callable[[], str] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Reply:
    """A model's reply, or one piece of a streamed reply.

    Attributes:
        text: The text of the reply or of the piece.
        prompt_tokens: The tokens of the prompt as the endpoint counted them; 0 if it did not say.
        completion_tokens: The tokens of the reply, likewise.
        problem: Why the reply has no usable text, though it was paid for; '' if it has. Of the last
            piece of a stream, why the reply is not cached.
        faults: The number of failed tries before this reply.
        cached: Whether the reply comes from the response cache, and was paid for earlier.
        cached_tokens: How many of the prompt's tokens the endpoint had in its prefix cache.
        incomplete: Whether the reply, or the streamed reply that this piece is the last of, did not
            end by itself: it was cut at a limit of tokens or withheld. It is never cached.
        batched: Whether it came by a batch, and is paid at the price of batches.
    """

    text: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    problem: str = ""
    faults: int = 0
    cached: bool = False
    cached_tokens: int = 0
    incomplete: bool = False
    batched: bool = False


@dataclass(frozen=True, slots=True)
class Embeddings:
    """The vectors of some texts.

    Attributes:
        vectors: Unit vectors, float32, shape (texts, dimensions).
        tokens: The tokens of the texts as the endpoint counted them; 0 if it did not say.
        faults: The number of failed tries before this answer.
        cached: Whether all vectors come from the response cache.
        cut: The texts that are longer than the model takes, and how many tokens of their beginnings
            their vectors stand for.
    """

    vectors: Vectors
    tokens: int = 0
    faults: int = 0
    cached: bool = False
    cut: Mapping[str, int] = field(default_factory=dict)


class Chat(Protocol):
    """A chat model."""

    def complete(self, prompt: Prompt) -> Reply:
        """Return the whole reply."""
        ...

    def stream(self, prompt: Prompt) -> Iterator[Reply]:
        """Yield the reply in pieces as they arrive; the last one has the token counts."""
        ...

    def reject(self, prompt: Prompt, *, forget: bool) -> None:
        """Report that the reply to `prompt` could not be used.

        Args:
            prompt: The prompt that was replied to.
            forget: Whether a cache has to forget the reply, so that the model is asked again.
        """
        ...


TextKind = Literal["query", "passage"]
"""What a text is to an embedder: a question to search with, or what is found. Many models embed
them differently. Texts that are compared with each other are all passages."""


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

    def embed(self, texts: Sequence[str], kind: TextKind = "passage") -> Embeddings:
        """Return one vector for each text, in the same order.

        Args:
            texts: At most `batch` texts, none of them empty.
            kind: What the texts are.
        """
        ...


Rewriting = Literal["queries", "answer"]
"""How a question is rewritten: in other words, or as an invented answer to search with."""


class Guide(Protocol):
    """What retrieval asks a model to do."""

    def rewrite(self, question: str, form: Rewriting) -> list[str]:
        """Return texts to search with: other wordings of the question, or an invented answer."""
        ...

    def rank(self, question: str, texts: Sequence[str]) -> list[float]:
        """Return how relevant each text is to the question; higher is better."""
        ...

    def stand_alone(self, question: str, history: Sequence[Turn]) -> str:
        """Return the question with everything in it that it takes from the conversation."""
        ...


class NumberedText(NamedTuple):
    """A passage as a prompt lists it: its number, where it is in its work, and its text."""

    number: int
    place: str
    text: str
