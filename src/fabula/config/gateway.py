"""The settings of `fabula gateway`: where it listens, and what all programs behind it may spend.

The endpoint, its key, the calls at once and the folder of the cache are the settings of the core.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from fabula.config.serving import split_names

TABLE = "gateway"
GATEWAY_QUEUE_SECONDS = 540.0
"""How long a call may wait at a gateway before it is refused: clients of OpenAI's interface wait
for 600 seconds."""


class GatewaySettings(BaseModel):
    """The table `[gateway]`. The file of a working folder may hold none of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = Field(
        "127.0.0.1", description="address to listen at; beyond loopback, keys are needed"
    )
    port: int = Field(8041, ge=0, le=65535, description="port to listen at; 0 for any free port")
    hosts: tuple[str, ...] = Field((), description="host names that it answers to, beside its own")
    require_key: bool = Field(False, description="whether calls from this machine need a key, too")
    calls_a_minute: int | None = Field(
        None, ge=1, description="maximum calls a minute; otherwise as learned from refusals"
    )
    tokens_a_day: int | None = Field(None, ge=0, description="tokens of all calls per day (UTC)")
    tokens_a_month: int | None = Field(None, ge=0, description="tokens of all calls per month")
    money_a_day: float | None = Field(None, ge=0, description="US dollars per day (UTC)")
    money_a_month: float | None = Field(None, ge=0, description="US dollars per month")
    grace: float = Field(
        30.0, ge=0, description="seconds that calls under way have left when it stops"
    )

    @field_validator("hosts", mode="before")
    @classmethod
    def _split_names(cls, value: Any) -> Any:
        """Split the names that a variable or a flag holds in one text."""
        return split_names(value)
