"""The settings of `fabula serve`: where it listens, who may use it, and how much at once."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from fabula.text.names import collection_problem, quote_name

TABLE = "serve"
GROUP_LINE = re.compile(r"(.*\S)\s*=\s*(read|write|admin)\s+(\S.*)")


def split_names(value: Any, separators: str = r"[,\s]+") -> Any:
    """Return the names that a variable or a flag holds in one text; any other value as it is.

    A list of JSON is read, too: other variables hold JSON, and no name begins with a bracket.
    """
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            return tuple(json.loads(value))
        except ValueError as error:
            raise ValueError("write names with separators, or a list of JSON") from error
    return tuple(filter(None, map(str.strip, re.split(separators, value))))


@dataclass(frozen=True, slots=True)
class GroupGrant:
    """What the members of a group may do."""

    group: str
    role: str
    """read, write or admin."""
    collections: tuple[str, ...] | None
    """The names of the collections; None for all."""


def read_group_grant(line: str) -> GroupGrant:
    """Read a line such as 'editors = write novels, poems'; '*' stands for all collections.

    Raises:
        ValueError: It has another form.
    """
    match = GROUP_LINE.fullmatch(line.strip())
    if match is None:
        raise ValueError(
            f"{line!r} does not say what a group may do: write it as 'editors = write novels, "
            "poems', with the role read, write or admin, or with * for all collections"
        )
    group, role, names = match.groups()
    collections = tuple(filter(None, (name.strip() for name in names.split(","))))
    if not collections or ("*" in collections and len(collections) > 1):
        raise ValueError(f"{line!r} names no collections: name some, or * for all")
    return GroupGrant(group, role, None if collections == ("*",) else collections)


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
    batch_poll: float = Field(
        60.0, gt=0, description="poll interval in seconds for the batches of a job"
    )
    scheduler: str | None = Field(
        None,
        description="Dask scheduler whose workers read and build for jobs, as tcp://host:8786",
    )
    queries_at_once: int = Field(4, ge=1, description="maximum analysts' queries at the same time")
    cypher_tool: bool = Field(
        False,
        description="whether assistants with a key of the whole library may run their own Cypher, "
        "which reads all collections; a text that they read could ask for that",
    )
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
    oidc_client_id: str | None = Field(
        None,
        description="client id at that issuer with which people sign in to the page; none: by "
        "keys and links alone",
    )
    oidc_client_secret: SecretStr | None = Field(
        None, description="secret of that client; none for a public client, which uses PKCE alone"
    )
    oidc_name: str = Field(
        "your account", max_length=60, description="what the button to sign in calls the issuer"
    )
    oidc_scopes: tuple[str, ...] = Field(
        ("openid", "profile", "email"), description="scopes that are asked for at a sign-in"
    )
    oidc_groups_claim: str = Field(
        "groups", description="claim with a person's groups, where no other claim gives a role"
    )
    oidc_groups: tuple[str, ...] = Field(
        (),
        description="what groups may do, as 'editors = write novels, poems' or 'staff = read *'; "
        "in a variable separated by semicolons",
    )
    oidc_hours: int = Field(
        12, ge=1, le=8784, description="hours after which such a person has to sign in again"
    )
    public: tuple[str, ...] = Field(
        (),
        description="collections that anybody may read and ask without signing in; in a variable "
        "separated by semicolons",
    )
    public_tokens_a_day: int = Field(
        0,
        ge=0,
        description="tokens of models that visitors may use in a day, all together; 0: no model is "
        "asked for them, and answers are passages",
    )
    public_requests_a_minute: int = Field(
        60, ge=1, description="maximum requests per minute of a visitor's address"
    )

    @property
    def upload_bytes(self) -> int:
        """The most bytes of one request's body; a MB is 1,000,000 bytes everywhere."""
        return self.max_upload_mb * 1_000_000

    @field_validator("oidc_groups", "public", mode="before")
    @classmethod
    def _split_lines(cls, value: Any) -> Any:
        """Split the text at semicolons: names of collections and groups have spaces."""
        return split_names(value, ";")

    @field_validator("public")
    @classmethod
    def _refuse_impossible_names(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for name in value:
            if problem := collection_problem(name):
                raise ValueError(f"the name of a collection, {quote_name(name)}, {problem}")
        return value

    @field_validator("oidc_groups")
    @classmethod
    def _refuse_unreadable_groups(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for line in value:
            read_group_grant(line)
        return value

    @field_validator("oidc_scopes", mode="before")
    @classmethod
    def _split_scopes(cls, value: Any) -> Any:
        return split_names(value)

    @field_validator("hosts", "origins", "proxies", mode="before")
    @classmethod
    def _split_names(cls, value: Any) -> Any:
        """Split the names that a variable or a flag holds in one text."""
        return split_names(value)
