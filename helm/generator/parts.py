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
Port = Annotated[int, Field(ge=1, le=65535)]


class Part(BaseModel):
    """A section with known keys only, written in camel case."""

    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, populate_by_name=True)


class PullSecret(Part):
    """A Secret for a registry, as a pod names it."""

    name: Annotated[Name, Field(min_length=1)] = Field(description="The Secret's name.")


class GlobalValues(Part):
    """What a chart above this one sets for all of its charts."""

    image_registry: str = Field(
        default="", description="A registry that replaces the registry of every image."
    )
    image_pull_secrets: list[Name | PullSecret] = Field(
        default=[], description="Secrets for the registries of all images, by name or as objects."
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
        default="IfNotPresent", description="The image's pull policy."
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
    key: str = Field(
        default="uri", min_length=1, description="The key in this Secret, with `postgresql://...`."
    )


class GitSyncValues(Part):
    """Policies from a Git repository, by a sidecar."""

    enabled: bool = Field(
        default=False, description="Read policies from Git instead of ConfigMaps."
    )
    image: str = Field(default="", description="The full name of an image of git-sync 4.")
    repository: str = Field(default="", description="The repository's address.")
    ref: str = Field(default="HEAD", min_length=1, description="The branch, tag or commit.")
    path: Annotated[str, Field(pattern=r"^[^/.][^.]*$|^$")] = Field(
        default="", description="The directory of the policies in the repository."
    )
    period: Duration = Field(
        default="60s", description="The interval at which the repository is read."
    )
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
        default_factory=IssuerValues,
        description="An issuer of cert-manager that creates the Secret.",
    )
    without_tls: bool = Field(
        default=False,
        description="Allow HTTP. Use it only if the network is encrypted: catalog secrets go "
        "over the link.",
    )


class AccountValues(Part):
    """A service account."""

    create: bool = Field(default=True, description="Create the service account.")
    name: Name = Field(
        default="", description="The account's name. Default: made from the name of the release."
    )
    annotations: Texts = Field(
        default={},
        description="Annotations of the account, such as those for an identity in a cloud.",
    )


class RbacValues(Part):
    """The Roles in the namespace of the jobs."""

    create: bool = Field(default=True, description="Create Roles and RoleBindings.")


class JobsNamespaceValues(Part):
    """The namespace of the drivers and executors of pools that name none."""

    create: bool = Field(
        default=True, description="Create the namespace; needs the right to create namespaces."
    )
    name: Name = Field(
        default="",
        description="The name. Default: the release's namespace, followed by `-jobs`.",
    )
    labels: Texts = Field(
        default={"pod-security.kubernetes.io/enforce": "restricted"},
        description="Labels of the namespace, such as its Pod Security standard.",
    )
    annotations: Texts = Field(default={}, description="Annotations of the namespace.")
    keep: bool = Field(
        default=True,
        description="`helm uninstall` does not delete the namespace, nor what others put there.",
    )


class JobsValues(Part):
    """Where the drivers and executors that are pods run."""

    namespace: JobsNamespaceValues = Field(
        default_factory=JobsNamespaceValues,
        description="The namespace, unless `config.spark.kubernetes.namespace` or that of a pool "
        "names another one, which must exist.",
    )
    in_release_namespace: bool = Field(
        default=False,
        description="Allow drivers in the release's namespace, and use it by default. The account "
        "of drivers may create pods, so code in a driver can then read the daemon's Secrets.",
    )
    quota: Raw = Field(
        default={},
        description="The `hard` limits of a ResourceQuota in each namespace of jobs. Default: no "
        "quota.",
    )


class PersistenceValues(Part):
    """The volume of mode `simple`, with the SQLite store and Spark's logs."""

    enabled: bool = Field(default=True, description="Keep the data on a volume.")
    existing_claim: Name = Field(default="", description="An existing PersistentVolumeClaim.")
    size: Quantity = Field(default="10Gi", description="The size of the volume.")
    storage_class: str = Field(
        default="", description="The volume's storage class. Default: the cluster's."
    )
    access_mode: Literal["ReadWriteOnce", "ReadWriteOncePod"] = Field(
        default="ReadWriteOnce", description="How the volume may be mounted."
    )
    keep: bool = Field(default=True, description="`helm uninstall` does not delete the claim.")


class SimpleValues(Part):
    """The one replica of mode `simple`."""

    replicas: Annotated[int, Field(ge=0)] = Field(
        default=1, description="The number of replicas: 1, or 0 to stop the daemon."
    )
    resources: Raw = Field(
        default={"requests": {"cpu": "500m", "memory": "3Gi"}, "limits": {"memory": "6Gi"}},
        description="Resources of the daemon and of Spark's drivers in its pod.",
    )
    annotations: Texts = Field(default={}, description="Annotations of the StatefulSet.")


class AutoscalingValues(Part):
    """A HorizontalPodAutoscaler."""

    enabled: bool = Field(default=False, description="Change the number of replicas with the load.")
    min_replicas: Annotated[int, Field(ge=1)] = Field(
        default=2, description="The smallest number of replicas."
    )
    max_replicas: Annotated[int, Field(ge=1)] = Field(
        default=5, description="The largest number of replicas."
    )
    cpu_percent: Annotated[int, Field(ge=1, le=1000)] = Field(
        default=75, description="The target load, as a percentage of the requested CPU."
    )


class DisruptionValues(Part):
    """A PodDisruptionBudget."""

    enabled: bool = Field(
        default=True, description="Create a PodDisruptionBudget, for drains of nodes."
    )
    max_unavailable: Annotated[int, Field(ge=1)] = Field(
        default=1, description="The number of pods that may be unavailable at the same time."
    )


class RoleValues(Part):
    """The replicas of one role of mode `cluster`."""

    replicas: Annotated[int, Field(ge=0)] = Field(default=2, description="The number of replicas.")
    resources: Raw = Field(default={}, description="Resources of each replica.")
    autoscaling: AutoscalingValues = Field(
        default_factory=AutoscalingValues, description="A HorizontalPodAutoscaler."
    )
    disruption_budget: DisruptionValues = Field(
        default_factory=DisruptionValues, description="A PodDisruptionBudget."
    )
    annotations: Texts = Field(default={}, description="Annotations of the Deployment.")
    pod_annotations: Texts = Field(
        default={}, description="Annotations of these pods, besides `podAnnotations` of all."
    )
    pod_labels: Texts = Field(
        default={}, description="Labels of these pods, besides `podLabels` of all."
    )
    node_selector: Texts = Field(
        default={}, description="Labels that a node must have, instead of `nodeSelector` of all."
    )
    tolerations: list[Raw] = Field(
        default=[], description="Tolerations of these pods, instead of `tolerations` of all."
    )
    extra_env: list[Raw] = Field(
        default=[], description="Variables of these pods, besides `extraEnv` of all."
    )


class ApiValues(RoleValues):
    """The replicas of mode `cluster` that serve the API and the page."""

    resources: Raw = Field(
        default={"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
        description="Resources of each replica.",
    )


class WorkerValues(RoleValues):
    """The replicas of mode `cluster` that scan, plan and run jobs."""

    resources: Raw = Field(
        default={"requests": {"cpu": "250m", "memory": "512Mi"}, "limits": {"memory": "3Gi"}},
        description="Resources of each replica.",
    )


class HookValues(Part):
    """The pods of the migration and of `helm test`."""

    annotations: Texts = Field(default={}, description="Annotations of the migration's Job.")
    pod_annotations: Texts = Field(
        default={}, description="Annotations of hooks' pods, such as those of a service mesh."
    )
    pod_labels: Texts = Field(
        default={}, description="Labels of hooks' pods, such as those of a workload identity."
    )
    service_account: AccountValues = Field(
        default_factory=AccountValues,
        description="The service account of the migration. `helm test` runs as the daemon, whose "
        "rights it checks.",
    )


class DefinitionValues(Part):
    """The CustomResourceDefinition of policies that are resources."""

    install: bool = Field(
        default=True,
        description="Install the definition if `config.kubernetes_policies` is set. The "
        "definition is cluster-wide: set `false` if another release or an "
        "administrator installs it.",
    )
    keep: bool = Field(
        default=True,
        description="`helm uninstall` does not delete the definition. With `false` it does, and "
        "with it all policies of this kind in every namespace.",
    )


class ServiceValues(Part):
    """The Service of the API and the page."""

    type: Literal["ClusterIP", "NodePort", "LoadBalancer"] = Field(
        default="ClusterIP", description="The Service's type."
    )
    port: Port = Field(default=8080, description="The Service's port.")
    load_balancer_source_ranges: list[str] = Field(
        default=[], description="The addresses (CIDRs) that a `LoadBalancer` lets in. Default: all."
    )
    annotations: Texts = Field(default={}, description="Annotations of the object.")


PathType = Literal["Prefix", "Exact", "ImplementationSpecific"]


class IngressPathValues(Part):
    """A path of a host that leads to the page."""

    path: Annotated[str, Field(pattern="^/")] = Field(description="The path.")
    path_type: PathType = Field(default="Prefix", description="How the path is compared.")


class IngressHostValues(Part):
    """A host name under which the page is published."""

    host: Annotated[Name, Field(min_length=1)] = Field(description="The host name.")
    paths: list[IngressPathValues] = Field(
        default=[], description="Its paths. Default: `config.server.prefix`."
    )


class IngressValues(Part):
    """An Ingress for the API and the page."""

    enabled: bool = Field(default=False, description="Create an Ingress.")
    class_name: Name = Field(default="", description="The IngressClass.")
    host: Name = Field(default="", description="The host name. It or `hosts` is required.")
    path_type: PathType = Field(
        default="Prefix", description="How the path is compared where `hosts` names none."
    )
    hosts: list[IngressHostValues] = Field(
        default=[], description="Further hosts: `[{host, paths: [{path, pathType}]}]`."
    )
    tls_secret_name: Name = Field(
        default="", description="A Secret with the certificate for HTTPS of `host`."
    )
    tls: list[Raw] = Field(
        default=[],
        description="Certificates of further hosts, as IngressTLS: `[{hosts, secretName}]`.",
    )
    is_https: bool = Field(
        default=False,
        description="The page is served by HTTPS although there is no `tlsSecretName`: with a "
        "certificate of the controller, or by a load balancer in front of it.",
    )
    annotations: Texts = Field(default={}, description="Annotations of the object.")


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
    annotations: Texts = Field(default={}, description="Annotations of the object.")


class NetworkPolicyValues(Part):
    """NetworkPolicies of the daemon's pods and of its jobs' pods, in both directions."""

    enabled: bool = Field(default=False, description="Create NetworkPolicies.")
    from_: list[Raw] = Field(
        default=[],
        alias="from",
        description="The clients that may reach the API, the page and the metrics, as "
        "NetworkPolicyPeers. Default: all.",
    )
    api_server_ports: list[int] = Field(
        default=[443, 6443],
        description="The API server's ports, for the pods that start drivers or read policies.",
    )
    store_port: int = Field(default=5432, description="PostgreSQL's port.")
    ports: list[int] = Field(
        default=[443],
        description="Ports of catalogs, storage and notifications, besides those of the addresses "
        "in `config`.",
    )
    egress: list[Raw] = Field(
        default=[],
        description="Further egress rules, as NetworkPolicyEgressRules, for the daemon, its hooks, "
        "drivers and executors.",
    )


class MonitorTokenValues(Part):
    """One key of a Secret, or none."""

    secret_name: Name = Field(default="", description="The Secret's name.")
    key: Annotated[str, Field(min_length=1)] = Field(
        default="token", description="The key in the Secret."
    )


class MonitorValues(Part):
    """A PodMonitor or a ServiceMonitor of the Prometheus operator."""

    enabled: bool = Field(default=False, description="Create the object.")
    interval: Duration = Field(
        default="60s", description="The interval at which Prometheus reads the metrics."
    )
    labels: Texts = Field(
        default={}, description="Labels by which a Prometheus selects the object."
    )
    token: MonitorTokenValues = Field(
        default_factory=MonitorTokenValues,
        description="The token of Prometheus, if a sign-in is configured.",
    )
    scheme: Literal["http", "https"] = Field(
        default="http", description="`https` where a sidecar proxy serves the metrics."
    )
    tls_config: Raw = Field(default={}, description="How the certificate is checked.")
    relabelings: list[Raw] = Field(default=[], description="Changes to the labels of targets.")
    metric_relabelings: list[Raw] = Field(
        default=[], description="Changes to the labels of metrics."
    )


class DashboardValues(Part):
    """A ConfigMap with Grafana's dashboards of fleet, jobs and daemon."""

    enabled: bool = Field(default=False, description="Create the ConfigMap.")
    labels: Texts = Field(
        default={"grafana_dashboard": "1"},
        description="Labels by which Grafana's sidecar finds the ConfigMap.",
    )
    annotations: Texts = Field(
        default={}, description="Annotations of the ConfigMap, such as the sidecar's folder."
    )


class RuleValues(Part):
    """A PrometheusRule of the Prometheus operator with the alerts of monitoring/alerts.yaml."""

    enabled: bool = Field(default=False, description="Create a PrometheusRule.")
    labels: Texts = Field(
        default={}, description="Labels by which a Prometheus selects the object."
    )
    runbooks: Annotated[str, Field(pattern="^(https?://.+)?$")] = Field(
        default="",
        description="The address of the page about alerts (docs/alerts.md), where you publish it. "
        "Each alert then links to its runbook by `runbook_url`. The runbook's text is always in "
        "its `description`.",
    )
