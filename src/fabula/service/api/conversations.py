"""Stored conversations, and ratings of answers."""

from __future__ import annotations

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field

from fabula.service.core.conversations import ConversationView, ConversationWhole
from fabula.service.core.paging import Page
from fabula.service.http.dependencies import FilledCollection, Reader, State
from fabula.service.http.parameters import After, Limit

router = APIRouter(tags=["conversations"])


class NewConversation(BaseModel):
    """A conversation to create; without a title it is named after its first question."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str = Field("", max_length=200)


class Feedback(BaseModel):
    """A rating of an answer: 1 is good, -1 is bad, null removes the rating; and a note."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: Literal[1, -1] | None
    note: str = Field("", max_length=4000)


@router.get("/collections/{collection}/conversations", summary="List your conversations")
def list_conversations(
    state: State, collection: FilledCollection, caller: Reader, limit: Limit = 50, after: After = ""
) -> Page[ConversationView]:
    """List your conversations, the latest first. Nobody else can see them, not even admins."""
    return state.conversations.page(caller, collection.name, limit, after)


@router.post(
    "/collections/{collection}/conversations", status_code=201, summary="Begin a conversation"
)
def begin_conversation(
    state: State, collection: FilledCollection, caller: Reader, new: NewConversation
) -> ConversationView:
    """Create a conversation. Questions are added to it by `POST .../ask` with its id."""
    return state.conversations.begin(caller, collection.name, new.title)


@router.get("/collections/{collection}/conversations/{conversation}", summary="A conversation")
def show_conversation(
    state: State, collection: FilledCollection, caller: Reader, conversation: str
) -> ConversationWhole:
    """Return all turns of a conversation, with the passages as they were when it was answered."""
    return state.conversations.find(caller, collection.name, conversation)


@router.delete(
    "/collections/{collection}/conversations/{conversation}",
    status_code=204,
    summary="Delete a conversation",
)
def remove_conversation(
    state: State, collection: FilledCollection, caller: Reader, conversation: str
) -> None:
    """Delete a conversation and all of its turns."""
    state.conversations.remove(caller, collection.name, conversation)


@router.put(
    "/collections/{collection}/turns/{turn}/feedback", status_code=204, summary="Rate an answer"
)
def rate_turn(
    state: State, collection: FilledCollection, caller: Reader, turn: str, feedback: Feedback
) -> None:
    """Save your rating of an answer; it replaces a previous rating."""
    state.conversations.rate(caller, collection.name, turn, feedback.value, feedback.note)
