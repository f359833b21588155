"""Settings of the link: where drivers on other machines reach the daemon."""

from __future__ import annotations

from pathlib import Path
from re import compile as compile_regex
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from maintainer.adapters.policies.validation import Strict, refuse
from maintainer.settings.paths import read_path
from maintainer.settings.server import ListeningHost, ListeningPort

_ADDRESS = compile_regex(r"https?://[A-Za-z0-9.\[\]:-]{1,259}(/[A-Za-z0-9._~/-]*)?")
_HERE = compile_regex(r"http://(localhost|127(\.[0-9]+){3}|\[::1\])(:[0-9]+)?(/.*)?")


def _check_address(value: object) -> object:
    if isinstance(value, str) and _ADDRESS.fullmatch(value) is None:
        refuse(f"is {value[:200]!r}, but must be an address such as https://maintainer-link:8090")
    return value.rstrip("/") if isinstance(value, str) else value


class LinkSettings(Strict):
    """The port on which drivers poll for their jobs; it is separate from the page's."""

    host: ListeningHost = "127.0.0.1"
    port: ListeningPort = 8090
    address: Annotated[str, BeforeValidator(_check_address)] | None = Field(
        default=None,
        description="The address by which drivers reach the port. Default: the host and the port "
        "above.",
        examples=["https://maintainer-link:8090"],
    )
    certificate: Annotated[Path, BeforeValidator(read_path)] | None = Field(
        default=None, description="The PEM file of the certificate for HTTPS, with its chain."
    )
    key: Annotated[Path, BeforeValidator(read_path)] | None = Field(
        default=None, description="The PEM file of the certificate's private key."
    )
    authority: Annotated[Path, BeforeValidator(read_path)] | None = Field(
        default=None,
        description="The PEM file of the authority that signed the certificate, for the drivers. "
        "Default: the authorities of the driver's system.",
    )
    without_tls: bool = Field(
        default=False,
        description="Allow HTTP to other machines. Use it only if the network itself is "
        "encrypted: catalog secrets go over the link.",
    )

    @model_validator(mode="after")
    def _check_encryption(self) -> LinkSettings:
        if (self.certificate is None) != (self.key is None):
            refuse("has a certificate or a key, but must have both or neither")
        address = self.address_at(self.port)
        if (
            self.certificate is None
            and not self.without_tls
            and address.startswith("http:")
            and _HERE.fullmatch(address) is None
        ):
            refuse(
                f"would carry catalog secrets to {address} without encryption; give a certificate "
                f"and a key, or write without_tls: true where the network itself encrypts"
            )
        return self

    def address_at(self, port: int) -> str:
        """Return the address for drivers, of a daemon that listens on this port."""
        if self.address is not None:
            return self.address
        scheme = "http" if self.certificate is None else "https"
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{scheme}://{host}:{port}"
