"""The key of an endpoint in the system's own keyring: Keychain, Windows, Secret Service, KWallet.

Needs the package keyring, `pip install 'fabula[keyring]'`.
"""

from __future__ import annotations

from fabula.errors import SettingsError
from fabula.models.address import shown_url

SERVICE = "fabula"
"""What the keyring's own program lists the keys under; each is an endpoint's, by its address."""
SAFE = 1
"""keyring's own bound: below are backends that keep nothing, or plain text in a file."""


def keeper() -> str:
    """The name of the keyring that would keep a key; '' where there is none to trust."""
    try:
        import keyring

        backend = keyring.get_keyring()
        is_safe = backend.priority >= SAFE
    # Not installed; or what the user's own settings of keyring name is not there or can't run.
    except (ImportError, RuntimeError, AttributeError):
        return ""
    return str(backend.name) if is_safe else ""


def keep_key(address: str, key: str) -> None:
    """Keeps the key of the endpoint at `address`. Raises SettingsError."""
    import keyring
    from keyring.errors import KeyringError

    try:
        keyring.set_password(SERVICE, shown_url(address), key)
    except KeyringError as error:
        raise SettingsError(f"The keyring did not take the key: {error}.") from error


def read_key(address: str) -> str:
    """The key that is kept of the endpoint at `address`. Raises SettingsError where none is."""
    cure = "set OPENAI_API_KEY, or run `fabula init`"
    if not keeper():
        raise SettingsError(
            "The key is to be taken from the keyring (FABULA_KEYRING), and there is none here that "
            f"could be trusted: {cure}, or `pip install 'fabula[keyring]'`."
        )
    import keyring
    from keyring.errors import KeyringError

    try:
        key = keyring.get_password(SERVICE, shown_url(address))
    except KeyringError as error:
        raise SettingsError(f"The keyring does not give the key: {error}. Or {cure}.") from error
    if not key:
        raise SettingsError(f"The keyring has no key of {shown_url(address)}: {cure}.")
    return key
