"""Sign people in to the page at an OpenID provider, by the authorization code flow.

The flow is that of OpenID Connect Core 1.0, section 3.1, with PKCE (RFC 7636, method S256), a
state, a nonce, and the check of the issuer in the response (RFC 9207). Between its two requests a
signed cookie of the browser has the state, so that nothing is stored for strangers.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import logging
import secrets
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import quote_plus, urlencode

import jwt

from fabula.config.serving import Serving
from fabula.service.core.errors import Unauthorized, Unavailable
from fabula.service.http.openid import AWAY, OpenID, ProviderAway, ProviderRefused, call_provider

LOG = logging.getLogger("fabula.service")
ALGORITHM = "HS256"
"""By which the cookies are signed: with a key of our own, which no other token is."""
COOKIE = "fabula_login"
"""The name of the cookie between the two requests."""
LOGIN_SECONDS = 600
"""How long somebody may take at the provider."""
MAX_CODE_CHARACTERS = 4000
REFUSED = "Signing in did not work: {reason} Try it again."


@dataclass(frozen=True, slots=True)
class LoginAttempt:
    """What a browser keeps while its person is at the provider."""

    state: str
    nonce: str
    verifier: str
    to: str
    """The path to go to afterwards."""
    exp: int
    """When it ends, in seconds since the epoch; the claim of a JSON Web Token (RFC 7519)."""


class OpenIDLogin:
    """The sign-in of one client at one issuer.

    Args:
        serving: The settings; they name the issuer and the client.
        key: Signs the cookies. It is the same in all processes that serve the same graph.
    """

    def __init__(self, serving: Serving, key: bytes) -> None:
        assert serving.oidc_issuer
        assert serving.oidc_client_id
        self._issuer, self._client = serving.oidc_issuer, serving.oidc_client_id
        secret = serving.oidc_client_secret
        self._secret = secret.get_secret_value() if secret else ""
        self._scopes = " ".join(dict.fromkeys(["openid", *serving.oidc_scopes]))
        self._groups_claim, self._claim = serving.oidc_groups_claim, serving.oidc_claim
        self._key = hmac.digest(key, b"fabula sign-in", "sha256")
        self._openid = OpenID(serving)

    def begin(self, redirect_uri: str, to: str) -> tuple[str, str]:
        """Return the address of the provider's form, and the cookie for the browser.

        Raises:
            Unavailable: The provider can't be reached.
        """
        endpoint = self._endpoint("authorization_endpoint")
        attempt = LoginAttempt(
            state=secrets.token_urlsafe(32),
            nonce=secrets.token_urlsafe(32),
            verifier=secrets.token_urlsafe(48),
            to=to,
            exp=int(time.time()) + LOGIN_SECONDS,
        )
        query = {
            "response_type": "code",
            "client_id": self._client,
            "redirect_uri": redirect_uri,
            "scope": self._scopes,
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": _challenge(attempt.verifier),
            "code_challenge_method": "S256",
        }
        separator = "&" if "?" in endpoint else "?"
        cookie = jwt.encode(asdict(attempt), self._key, ALGORITHM)
        return f"{endpoint}{separator}{urlencode(query)}", cookie

    def finish(
        self, parameters: Mapping[str, str], cookie: str, redirect_uri: str
    ) -> tuple[dict[str, Any], str]:
        """Return the verified claims of who has come back from the provider, and where to go.

        Raises:
            Unauthorized: The response is not one to a request of this browser, the provider refuses
                it, or its token is not valid.
            Unavailable: The provider can't be reached.
        """
        attempt = self._read(cookie)
        if attempt is None or not hmac.compare_digest(
            attempt.state.encode(), parameters.get("state", "").encode("utf-8", "surrogatepass")
        ):
            raise _refuse("it took too long, or was not begun in this browser.")
        if parameters.get("iss", self._issuer) != self._issuer:
            raise _refuse("the response came from another provider.")
        if error := parameters.get("error"):
            # The description is the provider's, or a stranger's: it is logged, and not shown.
            LOG.warning("A sign-in was refused by %s: %r", self._issuer, error[:200])
            raise _refuse("the provider did not allow it.")
        code = parameters.get("code", "")
        if not code or len(code) > MAX_CODE_CHARACTERS:
            raise _refuse("the provider sent no code.")
        tokens = self._exchange(code, attempt.verifier, redirect_uri)
        claims = self._openid.verify(str(tokens.get("id_token", "")), self._client)
        if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), attempt.nonce.encode()):
            raise _refuse("the token was made for another sign-in.")
        if claims.get("azp", self._client) != self._client:
            raise _refuse("the token was made for another program.")
        return self._complete(claims, str(tokens.get("access_token", ""))), attempt.to

    def sign_out_address(self, redirect_uri: str) -> str:
        """Return the address that ends the session at the provider; '' if it has none."""
        try:
            endpoint = str(self._openid.configuration().get("end_session_endpoint") or "")
        except Unavailable:
            return ""
        if not endpoint.startswith(("https://", "http://")):
            return ""
        query = {"client_id": self._client, "post_logout_redirect_uri": redirect_uri}
        return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(query)}"

    def _endpoint(self, name: str) -> str:
        endpoint = str(self._openid.configuration().get(name) or "")
        if not endpoint.startswith(("https://", "http://")):
            LOG.warning("%s names no %s.", self._issuer, name)
            raise Unavailable("The provider that people sign in at is not set up correctly.", 60)
        return endpoint

    def _exchange(self, code: str, verifier: str, redirect_uri: str) -> Mapping[str, Any]:
        """Return the provider's tokens for a code."""
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": verifier,
        }
        headers = {"Accept": "application/json"}
        methods = self._openid.configuration().get("token_endpoint_auth_methods_supported")
        by_post = isinstance(methods, list) and "client_secret_basic" not in methods
        if self._secret and not by_post:
            # RFC 6749, section 2.3.1: both parts are form-encoded first.
            pair = f"{quote_plus(self._client)}:{quote_plus(self._secret)}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            form["client_id"] = self._client
            if self._secret:
                form["client_secret"] = self._secret
        endpoint = self._endpoint("token_endpoint")
        try:
            tokens = call_provider(endpoint, headers, form)
        except ProviderRefused as error:
            LOG.warning("%s refuses a sign-in: %s", endpoint, error)
            raise _refuse("the provider did not accept its own code.") from error
        except ProviderAway as error:
            LOG.warning("A sign-in can't be completed at %s: %s", endpoint, error)
            raise Unavailable(AWAY, 10) from error
        if not isinstance(tokens, Mapping):
            raise _refuse("the provider's response can't be read.")
        return tokens

    def _complete(self, claims: dict[str, Any], access_token: str) -> dict[str, Any]:
        """Return claims with those that only the provider's userinfo has, such as groups."""
        wanted = {self._groups_claim, self._claim}
        endpoint = str(self._openid.configuration().get("userinfo_endpoint") or "")
        if wanted & claims.keys() or not (access_token and endpoint):
            return claims
        headers = {"Authorization": f"Bearer {access_token}", "Accept": "application/json"}
        try:
            info = call_provider(endpoint, headers)
        except ProviderAway as error:
            LOG.warning("The userinfo of %s can't be fetched: %s", self._issuer, error)
            return claims
        # OpenID Connect Core, section 5.3.2: another subject's claims must not be used.
        if not isinstance(info, Mapping) or info.get("sub") != claims["sub"]:
            return claims
        names = wanted | {"name", "email"}
        return {name: info[name] for name in names if name in info} | claims

    def _read(self, cookie: str) -> LoginAttempt | None:
        """Return the attempt of a cookie; None if it is not one of ours, or has ended."""
        try:
            return LoginAttempt(**jwt.decode(cookie, self._key, [ALGORITHM]))
        except (jwt.PyJWTError, ValueError):
            return None


def _challenge(verifier: str) -> str:
    """Return the code challenge of a verifier (RFC 7636, section 4.2)."""
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _refuse(reason: str) -> Unauthorized:
    return Unauthorized(REFUSED.format(reason=reason))
