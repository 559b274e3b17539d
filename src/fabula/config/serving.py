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

    host: str = Field(
        "127.0.0.1", description="address to listen at; beyond loopback, keys are needed"
    )
    port: int = Field(8040, ge=0, le=65535, description="port to listen at; 0 for any free port")
    url: str | None = Field(
        None, description="address that people type, if a proxy stands in front of it"
    )
    hosts: tuple[str, ...] = Field((), description="host names that it answers to, beside its own")
    origins: tuple[str, ...] = Field((), description="origins whose pages may call it (CORS)")
    proxies: tuple[str, ...] = Field(
        (), description="addresses of proxies whose X-Forwarded-* headers are believed"
    )
    uploads: Path | None = Field(
        None, description="folder for uploaded files; by default in the private Neo4j's home"
    )
    max_upload_mb: int = Field(256, ge=1, description="maximum size of one request's body, in MB")
    requests_a_minute: int = Field(600, ge=1, description="maximum requests per key and minute")
    asks_at_once: int = Field(8, ge=1, description="maximum questions per key at the same time")
    jobs_at_once: int = Field(2, ge=1, le=16, description="maximum jobs that run at the same time")
    queries_at_once: int = Field(4, ge=1, description="maximum analysts' queries at the same time")
    unpriced: Literal["stop", "tokens"] = Field(
        "stop",
        description="what happens to a key with a quota of money if a model has no price: it "
        "stops, or only its quota of tokens counts",
    )
    session_days: int = Field(30, ge=1, le=366, description="days that a browser stays signed in")
    keep_days: int = Field(
        0,
        ge=0,
        le=36_500,
        description="days that ended jobs, conversations, audit and spending are kept; 0: forever",
    )
    grace: float = Field(
        30.0, ge=0, description="seconds that answers have left to end when the service stops"
    )
    dump_hour: int = Field(
        4,
        ge=0,
        le=23,
        description="hour, in local time, at which the private Neo4j is dumped; takes a minute",
    )
    log: Literal["text", "json"] = Field("text", description="format of the log")
    oidc_issuer: str | None = Field(
        None, description="issuer of the OpenID tokens that are accepted as bearer tokens"
    )
    oidc_audience: str | None = Field(None, description="audience that those tokens must name")
    oidc_claim: str = Field(
        "fabula", description="claim of those tokens with the role and the collections"
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
