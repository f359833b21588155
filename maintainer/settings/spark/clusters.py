"""Settings of drivers and executors on a cluster: pods, containers of YARN, and the link."""

from __future__ import annotations

from pathlib import Path
from re import compile as compile_regex
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from maintainer.adapters.policies.validation import Strict, matching, refuse
from maintainer.settings.paths import read_path
from maintainer.settings.server import ListeningHost, ListeningPort
from maintainer.settings.spark.pool_parts import ContainerSettings

CLUSTERS_CHOICE = "cluster"  # a file cannot contain null
Label = Annotated[
    str,
    matching(
        r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?",
        "a DNS label: at most 63 lower-case letters, digits and dashes",
    ),
]
_ADDRESS = compile_regex(r"https?://[A-Za-z0-9.\[\]:-]{1,259}(/[A-Za-z0-9._~/-]*)?")
_MOST_MANAGERS = 5
_HERE = compile_regex(r"http://(localhost|127(\.[0-9]+){3}|\[::1\])(:[0-9]+)?(/.*)?")


def _read_list(value: object) -> object:
    if not isinstance(value, list):
        refuse("must be a list")
    return tuple(value)


def _read_user(value: object) -> object:
    return None if value == CLUSTERS_CHOICE else value


class KubernetesSettings(ContainerSettings):
    """Where the pods run, from which image, and what every pod gets."""

    namespace: Label = Field(description="The namespace of the pods.")
    image: str = Field(
        min_length=1,
        max_length=500,
        description="The image of drivers and executors, with this package, Java and Spark.",
    )
    operator: Literal["none", "kubeflow", "apache"] = Field(
        default="none",
        description="Who creates the driver's pod: the daemon, or an operator for Spark.",
    )
    kubeconfig: Annotated[Path, BeforeValidator(read_path)] | None = Field(
        default=None,
        description="The file with the cluster's address and credentials. Default: the daemon's "
        "own service account, else `KUBECONFIG`.",
    )
    context: str = Field(default="", description="The kubeconfig's context. Default: its current.")
    image_pull_policy: Literal["Always", "IfNotPresent", "Never"] = Field(
        default="IfNotPresent", description="The pull policy of the image."
    )
    image_pull_secrets: Annotated[tuple[Label, ...], BeforeValidator(_read_list)] = Field(
        default=(), description="The Secrets with the registry's credentials."
    )
    service_account: Label = Field(
        default="maintainer-spark",
        description="The service account of drivers, which creates their executors.",
    )
    run_as_user: Annotated[
        Annotated[int, Field(ge=1)] | None,
        BeforeValidator(_read_user),
        WithJsonSchema({"anyOf": [{"type": "integer", "minimum": 1}, {"const": CLUSTERS_CHOICE}]}),
    ] = Field(
        default=10001, description="The user id of all pods. `cluster` lets the cluster choose."
    )
    pod_template: dict[str, Any] = Field(
        default_factory=dict,
        description="A pod template (metadata and spec) on which all pods are based, for volumes, "
        "affinity and the like.",
    )
    node_selector: dict[str, str] = Field(
        default_factory=dict, description="Labels that a node must have."
    )
    tolerations: Annotated[tuple[dict[str, Any], ...], BeforeValidator(_read_list)] = Field(
        default=(), description="Tolerations of the pods, as Kubernetes writes them."
    )
    priority_class: str = Field(default="", description="The PriorityClass of the pods.")
    labels: dict[str, str] = Field(default_factory=dict, description="Further labels of all pods.")
    annotations: dict[str, str] = Field(
        default_factory=dict, description="Annotations of all pods."
    )
    env: dict[str, str] = Field(
        default_factory=dict,
        description="Environment variables of drivers. They are visible in the pod's manifest, so "
        "use no secrets here.",
    )
    queueing: Literal["none", "kueue", "yunikorn"] = Field(
        default="none", description="The queueing system, if the cluster has one."
    )
    queue: str = Field(default="", description="The queue of that system.")
    timeout: float = Field(
        default=10.0, ge=1.0, le=300.0, description="Seconds for each request to the API server."
    )


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
