"""The sections of the chart's values."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema
from pydantic.alias_generators import to_camel

AS_KUBERNETES = "as Kubernetes defines it"
Raw = Annotated[dict[str, Any], WithJsonSchema({"type": "object", "$comment": AS_KUBERNETES})]
Texts = dict[str, str]
Quantity = Annotated[str, Field(pattern=r"^[0-9]+(\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti)?$")]
Name = Annotated[str, Field(pattern=r"^([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?)?$")]
Duration = Annotated[str, Field(pattern=r"^[0-9]+(ms|s|m|h)$")]


class Part(BaseModel):
    """A section with known keys only, written in camel case."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True)


class GlobalValues(Part):
    """What a chart above this one sets for all of its charts."""

    image_registry: str = Field(
        default="", description="A registry that replaces that of every image."
    )
    image_pull_secrets: list[Name] = Field(
        default=[], description="Names of Secrets, for every image."
    )


class ImageValues(Part):
    """An image."""

    registry: str = Field(default="", description="The registry with this project's image.")
    repository: str = Field(
        default="iceberg-maintainer", min_length=1, description="The image's name."
    )
    tag: str = Field(default="", description="The tag. Default: the chart's `appVersion`.")
    digest: Annotated[str, Field(pattern="^(sha256:[0-9a-f]{64})?$")] = Field(
        default="", description="The digest, such as `sha256:...`; it replaces the tag."
    )
    pull_policy: Literal["Always", "IfNotPresent", "Never"] = Field(
        default="IfNotPresent", description="When the image is pulled."
    )


class SecretKey(Part):
    """One key of a Secret."""

    secret_name: Annotated[Name, Field(min_length=1)] = Field(description="The Secret's name.")
    key: Annotated[str, Field(min_length=1)] = Field(description="The key in the Secret.")


class StoreValues(Part):
    """The daemon's database; its URL holds a password, so it comes from a Secret."""

    secret_name: Name = Field(
        default="", description="The Secret with PostgreSQL's URL; required in mode `cluster`."
    )
    key: str = Field(default="uri", min_length=1, description="Its key with `postgresql://...`.")


class GitSyncValues(Part):
    """Policies from a Git repository, by a sidecar."""

    enabled: bool = Field(
        default=False, description="Read policies from Git and not from ConfigMaps."
    )
    image: str = Field(default="", description="The whole name of an image of git-sync 4.")
    repository: str = Field(default="", description="The repository's address.")
    ref: str = Field(default="HEAD", min_length=1, description="The branch, tag or commit.")
    path: Annotated[str, Field(pattern=r"^[^/.][^.]*$|^$")] = Field(
        default="", description="The directory of the policies in the repository."
    )
    period: Duration = Field(default="60s", description="How often the repository is asked.")
    secret_name: Name = Field(
        default="", description="A Secret with `username` and `password`, for HTTPS."
    )
    resources: Raw = Field(default={}, description="Resources of the sidecar.")


class IssuerValues(Part):
    """An issuer of cert-manager."""

    name: Name = Field(
        default="", description="The issuer's name; empty: no certificate is requested."
    )
    kind: Literal["Issuer", "ClusterIssuer"] = Field(
        default="Issuer", description="The issuer's kind."
    )


class LinkValues(Part):
    """The port on which drivers that are pods poll for their jobs."""

    secret_name: Name = Field(
        default="", description="A Secret with `tls.crt`, `tls.key` and `ca.crt`."
    )
    issuer: IssuerValues = Field(
        default_factory=IssuerValues, description="An issuer of cert-manager that makes the Secret."
    )
    without_tls: bool = Field(
        default=False,
        description="Allow HTTP. Only where the network encrypts: catalog secrets go over the "
        "link.",
    )


class AccountValues(Part):
    """A service account."""

    create: bool = Field(default=True, description="Create the service account.")
    name: Name = Field(default="", description="Its name. Default: made from the release's.")
    annotations: Texts = Field(
        default={},
        description="Its annotations, such as those that give it an identity in a cloud.",
    )


class RbacValues(Part):
    """The Roles in the namespace of the jobs."""

    create: bool = Field(default=True, description="Create Roles and RoleBindings.")


class PersistenceValues(Part):
    """The volume of mode `simple`, with the SQLite store and Spark's logs."""

    enabled: bool = Field(default=True, description="Keep the data on a volume.")
    existing_claim: Name = Field(
        default="", description="A PersistentVolumeClaim that exists already."
    )
    size: Quantity = Field(default="10Gi", description="The size of the volume.")
    storage_class: str = Field(default="", description="Its storage class. Default: the cluster's.")
    access_mode: Literal["ReadWriteOnce", "ReadWriteOncePod"] = Field(
        default="ReadWriteOnce", description="How the volume may be mounted."
    )
    keep: bool = Field(default=True, description="`helm uninstall` leaves the claim.")


class SimpleValues(Part):
    """The one replica of mode `simple`."""

    replicas: Annotated[int, Field(ge=0)] = Field(
        default=1, description="1, or 0 while it is stopped."
    )
    resources: Raw = Field(
        default={"requests": {"cpu": "500m", "memory": "3Gi"}, "limits": {"memory": "6Gi"}},
        description="Resources of the daemon, with the Spark drivers that run beside it.",
    )


class AutoscalingValues(Part):
    """A HorizontalPodAutoscaler."""

    enabled: bool = Field(default=False, description="Let the load decide the number of replicas.")
    min_replicas: Annotated[int, Field(ge=1)] = Field(default=2, description="The fewest replicas.")
    max_replicas: Annotated[int, Field(ge=1)] = Field(default=5, description="The most replicas.")
    cpu_percent: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=75, description="The share of the requested CPU that is aimed at."
    )


class DisruptionValues(Part):
    """A PodDisruptionBudget."""

    enabled: bool = Field(
        default=True, description="Limit how many pods a drain of nodes may take away."
    )
    max_unavailable: Annotated[int, Field(ge=1)] = Field(default=1, description="Pods at once.")


class ApiValues(Part):
    """The replicas of mode `cluster` that serve the API and the page."""

    replicas: Annotated[int, Field(ge=0)] = Field(default=2, description="How many there are.")
    resources: Raw = Field(
        default={"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
        description="Resources of each.",
    )
    autoscaling: AutoscalingValues = Field(
        default_factory=AutoscalingValues, description="Their number by load."
    )
    disruption_budget: DisruptionValues = Field(
        default_factory=DisruptionValues, description="Their PodDisruptionBudget."
    )


class WorkerValues(Part):
    """The replicas of mode `cluster` that scan, plan and run jobs."""

    replicas: Annotated[int, Field(ge=0)] = Field(default=2, description="How many there are.")
    resources: Raw = Field(
        default={"requests": {"cpu": "250m", "memory": "512Mi"}, "limits": {"memory": "3Gi"}},
        description="Resources of each.",
    )
    disruption_budget: DisruptionValues = Field(
        default_factory=DisruptionValues, description="Their PodDisruptionBudget."
    )


class DefinitionValues(Part):
    """The CustomResourceDefinition of policies that are resources."""

    install: bool = Field(
        default=True,
        description="Install it with `config.kubernetes_policies`. `false` where another release "
        "or an administrator of the cluster does: a definition belongs to the whole cluster.",
    )
    keep: bool = Field(
        default=True,
        description="`helm uninstall` leaves it. Without it all policies of this kind are deleted, "
        "in every namespace.",
    )


class ServiceValues(Part):
    """The Service of the API and the page."""

    type: Literal["ClusterIP", "NodePort", "LoadBalancer"] = Field(
        default="ClusterIP", description="Its type."
    )
    port: Annotated[int, Field(ge=1, le=65535)] = Field(default=8080, description="Its port.")
    annotations: Texts = Field(default={}, description="Its annotations.")


class IngressValues(Part):
    """An Ingress for the API and the page."""

    enabled: bool = Field(default=False, description="Create an Ingress.")
    class_name: Name = Field(default="", description="The IngressClass.")
    host: Name = Field(default="", description="The host name; required.")
    tls_secret_name: Name = Field(
        default="", description="A Secret with the certificate for HTTPS."
    )
    annotations: Texts = Field(default={}, description="Its annotations.")


class HttpRouteValues(Part):
    """An HTTPRoute of the Gateway API for the API and the page."""

    enabled: bool = Field(default=False, description="Create an HTTPRoute.")
    parent_refs: list[Raw] = Field(
        default=[], description="The Gateways; at least one is required."
    )
    hostnames: list[Name] = Field(
        default=[], description="The host names; at least one is required."
    )
    is_https: bool = Field(default=True, description="The Gateway serves HTTPS.")
    annotations: Texts = Field(default={}, description="Its annotations.")


class NetworkPolicyValues(Part):
    """NetworkPolicies of the daemon's pods, in both directions."""

    enabled: bool = Field(default=False, description="Create them.")
    from_: list[Raw] = Field(
        default=[],
        alias="from",
        description="Who may reach the API, the page and the metrics, as NetworkPolicyPeers. "
        "Default: everybody.",
    )
    api_server_ports: list[int] = Field(
        default=[443, 6443],
        description="The API server's ports, for the pods that start drivers or read policies.",
    )
    store_port: int = Field(default=5432, description="PostgreSQL's port.")
    ports: list[int] = Field(
        default=[443], description="Ports of catalogs, storage and notifications."
    )
    egress: list[Raw] = Field(default=[], description="Further rules, as NetworkPolicyEgressRules.")


class MonitorTokenValues(Part):
    """One key of a Secret, or none."""

    secret_name: Name = Field(default="", description="The Secret's name.")
    key: Annotated[str, Field(min_length=1)] = Field(
        default="token", description="The key in the Secret."
    )


class MonitorValues(Part):
    """A PodMonitor of the Prometheus operator."""

    enabled: bool = Field(default=False, description="Create a PodMonitor.")
    interval: Duration = Field(default="60s", description="How often metrics are read.")
    labels: Texts = Field(default={}, description="Its labels, by which a Prometheus selects it.")
    token: MonitorTokenValues = Field(
        default_factory=MonitorTokenValues,
        description="The token with which Prometheus reads, once reading needs one.",
    )


class DashboardValues(Part):
    """A ConfigMap with Grafana's dashboards of fleet, jobs and daemon."""

    enabled: bool = Field(default=False, description="Create the ConfigMap.")
    labels: Texts = Field(
        default={"grafana_dashboard": "1"},
        description="Its labels, by which Grafana's sidecar finds it.",
    )
    annotations: Texts = Field(
        default={}, description="Its annotations, such as the sidecar's folder."
    )


class RuleValues(Part):
    """A PrometheusRule of the Prometheus operator with the alerts of monitoring/alerts.yaml."""

    enabled: bool = Field(default=False, description="Create a PrometheusRule.")
    labels: Texts = Field(default={}, description="Its labels, by which a Prometheus selects it.")
    runbooks: Annotated[str, Field(min_length=1)] = Field(
        default="docs/alerts.md",
        description="Where the alerts' page is; the links to the runbooks begin with it.",
    )
