"""The system's keyring, through the package `keyring` (extra `keyring`), imported here alone."""

from __future__ import annotations

from agent_magics.errors import UsageProblem


def keyring_password(service: str, user: str) -> str:
    """What the keyring holds for a service and a user; the system may ask to unlock it.

    Raises:
        UsageProblem: The package is missing, there is no keyring, or it holds nothing.
    """
    where = f"{service}/{user}"
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        raise UsageProblem(
            f"The key {where} is in the keyring, and the package for that is missing: "
            "pip install 'agent_magics[keyring]'."
        ) from None
    try:
        found = keyring.get_password(service, user)
    except KeyringError as error:
        raise UsageProblem(
            f"The keyring cannot be asked for {where}: {type(error).__name__}. On a machine "
            "without a desktop, take api_key_command or api_key_env."
        ) from None
    if not found:
        raise UsageProblem(
            f"The keyring holds nothing for {where}. Put the key there with: "
            f"keyring set {service} {user}"
        )
    return found
