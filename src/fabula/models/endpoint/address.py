"""The address and the key of an endpoint, checked before the first call."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from fabula.errors import SettingsError

OPENAI = "https://api.openai.com/v1"
DEFAULT_PORTS = {"http": ":80", "https": ":443"}

AZURE = re.compile(
    r"\.(?:(?:openai|cognitiveservices)\.azure\.(?:com|us|cn)|services\.ai\.azure\.(?:com|us))\Z"
)
"""The hosts of Azure's resources. Those of single models (models.ai.azure.com) have paths of their
own."""
AZURE_API_VERSION = "2024-10-21"
"""The version of Azure's deployments that is asked for where the URL names none."""
_DEPLOYMENTS = re.compile(r"(?P<before>.*/openai)/deployments(?:/(?P<name>[^/]+))?\Z")
AZURE_MODELS_VERSION = "2024-05-01-preview"
"""The same for Azure's address of all models of a resource."""
_MODELS = "/models"
_PROJECT = re.compile(r"/api/projects/[^/]+")
"""The path of a project of Azure AI Foundry, as its portal shows it."""
_OPERATION = re.compile(r"/(?:chat/completions|completions|embeddings|responses)\Z")
"""What a URL ends with that was copied with the name of a call."""
_PUBLIC_PARAMETER = "api-version"
"""The one parameter of a URL that is no secret."""


@dataclass(frozen=True, slots=True)
class EndpointAddress:
    """An endpoint's URL, taken apart for calls.

    Azure has a path for each deployment of a model, a parameter with the version of its interface,
    and a header of its own for the key. Its newer address, ending with /openai/v1, has none of
    these.

    Attributes:
        url: The whole URL, normalized.
        base: The URL that the paths of calls follow.
        query: The parameters that each call has.
        deployment: Azure's deployment for the chat model; '' if it has the model's name, None if
            this is no address with deployments.
    """

    url: str
    base: str
    query: Mapping[str, str]
    deployment: str | None

    @classmethod
    def of(cls, url: str | None) -> Self:
        """Return the address of a URL. Raises SettingsError if it can't be called."""
        normalized = normalize_url(url)
        parts = urlsplit(normalized)
        query = dict(parse_qsl(parts.query))
        path, deployment = parts.path, None
        if match := _DEPLOYMENTS.fullmatch(path):
            path, deployment = f"{match['before']}/deployments", match["name"] or ""
        base = urlunsplit(parts._replace(path=path, query="", fragment=""))
        return cls(normalized, base, query, deployment)

    def path(self, path: str, model: str, *, is_main: bool) -> str:
        """Return the path of a call below `base`.

        Args:
            path: The call, as /chat/completions.
            model: The model's name.
            is_main: Whether it is the chat model, which a deployment in the URL is of. Other models
                are in deployments of their own names.
        """
        if self.deployment is None:
            return path
        name = self.deployment if is_main and self.deployment else quote(model, safe="")
        return f"/{name}{path}"

    @property
    def has_api_key_header(self) -> bool:
        """Whether the key is sent as `api-key`, as Azure wants it where a version is named."""
        return self.deployment is not None or _PUBLIC_PARAMETER in self.query


def normalize_url(url: str | None) -> str:
    """Return the URL in one canonical form; the URL of OpenAI if it is empty.

    The host is in lower case, and there is no default port and no slash at the end, so that two
    ways to write one address have the same cache keys. A path that ends with a call's name, as it
    is copied from a page or an example, ends before it. Azure's addresses are completed.

    Raises:
        SettingsError: It is not an http or https URL with a host.
    """
    url = url or OPENAI
    try:
        parts = urlsplit(url)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:
        raise SettingsError(
            f"OPENAI_BASE_URL = {redact_url(url)!r}: expected http://... or https://..."
        )
    user, at, host = parts.netloc.rpartition("@")
    host = host.lower().removesuffix(DEFAULT_PORTS[parts.scheme])
    path = _OPERATION.sub("", parts.path.rstrip("/")).rstrip("/")
    query = parts.query
    is_azure = AZURE.search(host.partition(":")[0]) is not None
    if is_azure and path in ("", "/openai"):
        path = "/openai/deployments" if query else "/openai/v1"
    elif is_azure and _PROJECT.fullmatch(path):
        path, query = "/openai/v1", ""
    version = AZURE_MODELS_VERSION if is_azure and path == _MODELS else AZURE_API_VERSION
    needs_version = _DEPLOYMENTS.fullmatch(path) or version == AZURE_MODELS_VERSION
    if needs_version and _PUBLIC_PARAMETER not in dict(parse_qsl(query)):
        query = "&".join(filter(None, [query, f"{_PUBLIC_PARAMETER}={version}"]))
    netloc = f"{user}{at}{host}"
    return urlunsplit(parts._replace(netloc=netloc, path=path, query=query)).rstrip("/")


def redact_url(url: str) -> str:
    """Return the URL without its user name, password and secret parameters, for a message."""
    without_user = re.sub(r"(?<=//).*@", "", url)
    place, mark, query = without_user.partition("?")
    shown = urlencode([(k, v) for k, v in parse_qsl(query) if k == _PUBLIC_PARAMETER])
    return f"{place}{mark if shown else ''}{shown}"


def validate_key(key: str | None) -> str:
    """Return the key without white space around it; 'none' if it is empty.

    The client requires a key, though local endpoints need none.

    Raises:
        SettingsError: The key has characters that can't be sent in an HTTP header.
    """
    stripped = (key or "").strip()
    if not (stripped.isascii() and stripped.isprintable()):
        raise SettingsError("OPENAI_API_KEY has a character that an API key can't have.")
    return stripped or "none"
