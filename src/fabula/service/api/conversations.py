"""Conversations that are kept, and what readers thought of answers."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from fabula.service.core.conversations import ConversationView, ConversationWhole
from fabula.service.core.paging import Page
from fabula.service.http.dependencies import Reader, Stocked, TheHouse
from fabula.service.http.parameters import After, Limit

router = APIRouter(tags=["conversations"])


class Beginning(BaseModel):
    """What a conversation is called; '' for as its first question says."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str = Field("", max_length=200)


class Feedback(BaseModel):
    """What a reader thought of an answer: 1 well, -1 badly, null nothing any more; and why."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: Literal[1, -1] | None
    note: str = Field("", max_length=4000)


@router.get("/collections/{collection}/conversations", summary="Your conversations")
def list_conversations(
    house: TheHouse, shelf: Stocked, caller: Reader, limit: Limit = 50, after: After = ""
) -> Page[ConversationView]:
    """The last first. Nobody sees another's, admins neither."""
    return house.conversations.page(caller, shelf.name, limit, after)


@router.post(
    "/collections/{collection}/conversations", status_code=201, summary="Begin a conversation"
)
def begin_conversation(
    house: TheHouse, shelf: Stocked, caller: Reader, beginning: Beginning
) -> ConversationView:
    """Questions that name it lean on those before them: `POST .../ask` with its id."""
    return house.conversations.begin(caller, shelf.name, beginning.title)


@router.get("/collections/{collection}/conversations/{conversation}", summary="A conversation")
def show_conversation(
    house: TheHouse, shelf: Stocked, caller: Reader, conversation: str
) -> ConversationWhole:
    """All its turns, each answer with its passages as they were then."""
    return house.conversations.find(caller, shelf.name, conversation)


@router.delete(
    "/collections/{collection}/conversations/{conversation}",
    status_code=204,
    summary="Forget a conversation",
)
def remove_conversation(house: TheHouse, shelf: Stocked, caller: Reader, conversation: str) -> None:
    """Takes it out, and all its turns."""
    house.conversations.remove(caller, shelf.name, conversation)


@router.put(
    "/collections/{collection}/turns/{turn}/feedback", status_code=204, summary="Rate an answer"
)
def rate_turn(
    house: TheHouse, shelf: Stocked, caller: Reader, turn: str, feedback: Feedback
) -> None:
    """Keeps what you thought of an answer; the last word counts."""
    house.conversations.rate(caller, shelf.name, turn, feedback.value, feedback.note)
