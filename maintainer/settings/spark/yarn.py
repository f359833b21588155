"""Settings of drivers and executors that are containers of YARN."""

from __future__ import annotations

from pathlib import Path
from re import compile as compile_regex
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from maintainer.adapters.policies.validation import matching, refuse
from maintainer.settings.paths import read_path
from maintainer.settings.spark.sizes import ContainerSettings

_ADDRESS = compile_regex(r"https?://[A-Za-z0-9.\[\]:-]{1,259}(/[A-Za-z0-9._~/-]*)?")
_MOST_MANAGERS = 5


def _read_addresses(value: object) -> object:
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, list) or not 1 <= len(found) <= _MOST_MANAGERS:
        refuse(f"must be one address, or a list of 1 to {_MOST_MANAGERS}")
    for address in found:
        if not isinstance(address, str) or _ADDRESS.fullmatch(address) is None:
            refuse(f"has {str(address)[:200]!r}, but must be such as http://rm.example:8088")
    return tuple(address.rstrip("/") for address in found)


class YarnSettings(ContainerSettings):
    """The cluster, the queue and the user of drivers on YARN."""

    resource_manager: Annotated[tuple[str, ...], BeforeValidator(_read_addresses)] = Field(
        description="The web address of the resource manager, or a list of all of them.",
        examples=["http://rm.example:8088"],
    )
    hadoop_conf_dir: Annotated[Path, BeforeValidator(read_path)] | None = Field(
        default=None,
        description="The directory of Hadoop's configuration. Default: `HADOOP_CONF_DIR`.",
    )
    queue: Annotated[
        str,
        matching(
            r"(?=.{1,200}$)[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*",
            "a queue's name such as maintenance or root.maintenance, of letters, digits, dashes "
            "and underscores",
        ),
    ] = Field(default="default", description="The queue of the drivers' applications.")
    user: str = Field(
        default="",
        max_length=100,
        pattern=r"^([A-Za-z_][A-Za-z0-9._-]*)?$",
        description="The user of the applications, if Hadoop has no authentication. Default: the "
        "user of the daemon.",
    )
    principal: (
        Annotated[str, matching(r"[^\s@/]+(/[^\s@/]+)?@[^\s@/]+", "such as maintainer@EXAMPLE.COM")]
        | None
    ) = Field(default=None, description="The Kerberos principal of the applications.")
    keytab: Annotated[Path, BeforeValidator(read_path)] | None = Field(
        default=None, description="The file with the principal's key."
    )
    python: str = Field(
        default="python3",
        min_length=1,
        max_length=500,
        pattern=r"^\S+$",
        description="Python 3.10 or newer on the nodes, by its name or path.",
    )
    authority: Annotated[Path, BeforeValidator(read_path)] | None = Field(
        default=None,
        description="The PEM file of the authority that signed the resource managers' "
        "certificates. Default: the authorities of the system.",
    )
    timeout: float = Field(
        default=10.0,
        ge=1.0,
        le=300.0,
        description="Seconds for each request to a resource manager.",
    )

    @model_validator(mode="after")
    def _check_identity(self) -> YarnSettings:
        if (self.principal is None) != (self.keytab is None):
            refuse("has a principal or a keytab, but must have both or neither")
        if self.principal is not None and self.user:
            refuse("has a user and a principal; with Kerberos the principal is the user")
        return self
