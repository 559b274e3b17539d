"""The key of an endpoint in the system's keyring: Keychain, Windows, Secret Service or KWallet.

This needs the package keyring: `pip install 'fabula[keyring]'`.
"""

from __future__ import annotations

from fabula.errors import SettingsError
from fabula.models.endpoint.address import redact_url

SERVICE = "fabula"
"""The name under which keyrings list the keys; the user name of each is the endpoint's address."""
MIN_PRIORITY = 1
"""The bound that keyring itself recommends: backends below it save nothing, or plain text."""


def keyring_name() -> str:
    """Return the name of the keyring that would store a key; '' if there is no safe one."""
    try:
        import keyring

        backend = keyring.get_keyring()
        is_safe = backend.priority >= MIN_PRIORITY
    # keyring is not installed, or the backend in the user's settings of keyring does not work.
    except (ImportError, RuntimeError, AttributeError):
        return ""
    return str(backend.name) if is_safe else ""


def save_key(address: str, key: str) -> None:
    """Store the key of the endpoint at `address`.

    Raises:
        SettingsError: The keyring refused it.
    """
    import keyring
    from keyring.errors import KeyringError

    try:
        keyring.set_password(SERVICE, redact_url(address), key)
    except KeyringError as error:
        raise SettingsError(f"The keyring refused to store the key: {error}.") from error


def read_key(address: str) -> str:
    """Return the stored key of the endpoint at `address`.

    Raises:
        SettingsError: There is no safe keyring, or no key in it.
    """
    cure = "set OPENAI_API_KEY, or run `fabula init`"
    if not keyring_name():
        raise SettingsError(
            "FABULA_KEYRING is set, but there is no safe keyring on this machine: "
            f"{cure}, or `pip install 'fabula[keyring]'`."
        )
    import keyring
    from keyring.errors import KeyringError

    try:
        key = keyring.get_password(SERVICE, redact_url(address))
    except KeyringError as error:
        raise SettingsError(
            f"The keyring did not return the key: {error}. Unlock it, or {cure}."
        ) from error
    if not key:
        raise SettingsError(f"The keyring has no key for {redact_url(address)}: {cure}.")
    return key
