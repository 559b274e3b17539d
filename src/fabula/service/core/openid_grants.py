"""What the claims of an OpenID token let its subject do: by a claim of its own, or by groups."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from fabula.config.serving import Serving, read_group_grant
from fabula.jobs.callers import ROLES, Caller, Role

MAX_NAME_CHARACTERS = 100
MAX_GROUPS = 1000
"""Groups of a person that are looked at."""


class NoGrant(Exception):
    """The claims give no role here. The message says why."""


def find_openid_caller(serving: Serving, claims: Mapping[str, Any]) -> Caller:
    """Return the caller that verified claims are of.

    The claim `serve.oidc_claim` counts first. It has the form {"role": "read", "collections":
    ["novels"]}; the string "*" for `collections` means all. Without it, the groups of the claim
    `serve.oidc_groups_claim` count as `serve.oidc_groups` says: the strongest role of them, with
    the collections of those groups that give it.

    Raises:
        NoGrant: Neither gives a role.
    """
    if serving.oidc_claim in claims or not serving.oidc_groups:
        role, collections = _read_grant(claims.get(serving.oidc_claim), serving.oidc_claim)
    else:
        role, collections = _read_groups(serving, claims.get(serving.oidc_groups_claim))
    name = str(claims.get("name") or claims.get("email") or claims["sub"])
    return Caller(
        id=f"openid:{claims['sub']}",
        name=name[:MAX_NAME_CHARACTERS],
        role=role,
        collections=collections,
    )


def select_claims(serving: Serving, claims: Mapping[str, Any]) -> str:
    """Return, as JSON, the claims by which `find_openid_caller` finds a session's caller again."""
    names = ("iss", "sub", "name", "email", serving.oidc_claim, serving.oidc_groups_claim)
    return json.dumps({name: claims[name] for name in names if name in claims})


def _read_grant(grant: Any, claim: str) -> tuple[Role, frozenset[str] | None]:
    if isinstance(grant, str):
        try:
            grant = json.loads(grant)
        except (ValueError, RecursionError):
            grant = None
    if not isinstance(grant, Mapping) or grant.get("role") not in ROLES:
        raise NoGrant(f"That token's claim {claim!r} gives no role here.")
    names = grant.get("collections", [])
    if names == "*":
        return grant["role"], None
    if not (isinstance(names, list) and all(isinstance(name, str) for name in names)):
        raise NoGrant(f"That token's claim {claim!r} can't be read.")
    return grant["role"], frozenset(names)


def _read_groups(serving: Serving, groups: Any) -> tuple[Role, frozenset[str] | None]:
    if isinstance(groups, str):
        groups = [groups]
    if not isinstance(groups, Sequence):
        groups = []
    members = {group for group in groups[:MAX_GROUPS] if isinstance(group, str)}
    grants = [read_group_grant(line) for line in serving.oidc_groups]
    mine = [grant for grant in grants if grant.group in members]
    if not mine:
        raise NoGrant("You are in no group that may use this service: ask its administrator.")
    role = max((cast(Role, grant.role) for grant in mine), key=ROLES.index)
    granted = [grant.collections for grant in mine if grant.role == role]
    if None in granted:
        return role, None
    return role, frozenset(name for names in granted for name in names or ())
