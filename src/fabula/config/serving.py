"""The settings of `fabula serve`: where it listens, who may use it, and how much at once."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

TABLE = "serve"


class Serving(BaseModel):
    """The table `[serve]`. The file of a working folder may hold none of it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str = Field("127.0.0.1", description="address to listen at; beyond loopback, keys rule")
    port: int = Field(8040, ge=0, le=65535, description="port to listen at; 0 is any free one")
    url: str | None = Field(
        None, description="address that people type, where a proxy stands before it"
    )
    hosts: tuple[str, ...] = Field((), description="names that it answers to, beside its own")
    origins: tuple[str, ...] = Field((), description="origins whose pages may call it (CORS)")
    proxies: tuple[str, ...] = Field(
        (), description="addresses of proxies whose X-Forwarded-* headers are believed"
    )
    uploads: Path | None = Field(
        None, description="folder of uploaded files; in the private Neo4j's home if not set"
    )
    max_upload_mb: int = Field(256, ge=1, description="most of one request's body")
    requests_a_minute: int = Field(600, ge=1, description="most requests of one key in a minute")
    asks_at_once: int = Field(8, ge=1, description="most questions of one key at the same time")
    jobs_at_once: int = Field(2, ge=1, le=16, description="jobs that are worked on at once")
    queries_at_once: int = Field(4, ge=1, description="analysts' queries at the same time")
    unpriced: Literal["stop", "tokens"] = Field(
        "stop",
        description="a key with a quota of money, where a model has no price: it stops, or is held "
        "to its quota of tokens",
    )
    session_days: int = Field(30, ge=1, le=366, description="days that a browser stays signed in")
    keep_days: int = Field(
        0,
        ge=0,
        le=36_500,
        description="days that ended jobs, conversations, audit and spending are kept; 0: for ever",
    )
    grace: float = Field(
        30.0, ge=0, description="seconds that answers under way have when it is stopped"
    )
    dump_hour: int = Field(
        4,
        ge=0,
        le=23,
        description="hour, by local time, at which the private Neo4j is dumped: a minute's pause",
    )
    log: Literal["text", "json"] = Field("text", description="how it logs")
    oidc_issuer: str | None = Field(
        None, description="issuer of OpenID tokens that are let in as bearer tokens"
    )
    oidc_audience: str | None = Field(None, description="audience that those tokens must name")
    oidc_claim: str = Field(
        "fabula", description="claim of those tokens that says role and collections"
    )

    @property
    def upload_bytes(self) -> int:
        """The most bytes of one request's body; a MB is 1,000,000 bytes everywhere."""
        return self.max_upload_mb * 1_000_000

    @field_validator("hosts", "origins", "proxies", mode="before")
    @classmethod
    def _split_names(cls, value: Any) -> Any:
        """Split the names that a variable or a flag holds in one text."""
        return tuple(filter(None, re.split(r"[,\s]+", value))) if isinstance(value, str) else value
