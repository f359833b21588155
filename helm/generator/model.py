"""The chart's values. `config` is maintainer.yaml, and the daemon's own settings define it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from helm.generator.parts import (
    AccountValues,
    ApiValues,
    DashboardValues,
    DefinitionValues,
    GitSyncValues,
    GlobalValues,
    HookValues,
    HttpRouteValues,
    ImageValues,
    IngressValues,
    JobsValues,
    LinkValues,
    MonitorValues,
    Name,
    NetworkPolicyValues,
    Part,
    PersistenceValues,
    PullSecret,
    Raw,
    RbacValues,
    RuleValues,
    SecretKey,
    ServiceValues,
    SimpleValues,
    StoreValues,
    Texts,
    WorkerValues,
)

Variable = Annotated[str, Field(pattern="^[A-Za-z_][A-Za-z0-9_]*$")]
PolicyFile = Annotated[str, Field(pattern=r"^[A-Za-z0-9_-][A-Za-z0-9._-]*\.ya?ml$")]


class Values(Part):
    """All values of the chart."""

    mode: Literal["simple", "cluster"] = Field(
        default="simple",
        description="`simple`: one replica with a volume, SQLite and local Spark. `cluster`: "
        "replicas of `api` and `worker`, PostgreSQL, and Spark in pods.",
    )
    config: dict[str, Any] = Field(
        default={},
        description="The contents of maintainer.yaml. `catalogs` is required. Keys that the "
        "chart itself sets are not allowed.",
    )
    secret_env: dict[Variable, SecretKey] = Field(
        default={}, description="Environment variables from Secrets, for `${NAME}` in `config`."
    )
    store: StoreValues = Field(default_factory=StoreValues, description="The database.")
    migration: Literal["job", "init", "none"] = Field(
        default="job",
        description="How the store's schema is migrated in mode `cluster`. `job`: by a hook before "
        "each install and upgrade. `init`: by an init container of each pod, which may use Secrets "
        "and sidecars of the release itself. `none`: by you; pods wait for it.",
    )
    policies: dict[PolicyFile, str] = Field(
        default={}, description="Policy files: names and contents."
    )
    policy_config_maps: list[Name] = Field(
        default=[],
        description="Names of further ConfigMaps with policy files, such as one for each team. "
        "File names must differ.",
    )
    policy_definition: DefinitionValues = Field(
        default_factory=DefinitionValues,
        description="The definition of policies that are resources of Kubernetes.",
    )
    git_sync: GitSyncValues = Field(
        default_factory=GitSyncValues, description="Policies from a Git repository."
    )
    image: ImageValues = Field(default_factory=ImageValues, description="The daemon's image.")
    image_pull_secrets: list[Name | PullSecret] = Field(
        default=[], description="Secrets for the registry, by name or as objects."
    )
    simple: SimpleValues = Field(
        default_factory=SimpleValues, description="The replica of mode `simple`."
    )
    persistence: PersistenceValues = Field(
        default_factory=PersistenceValues, description="The volume of mode `simple`."
    )
    api: ApiValues = Field(
        default_factory=ApiValues,
        description="The replicas of the API and the page, in mode `cluster`.",
    )
    worker: WorkerValues = Field(
        default_factory=WorkerValues,
        description="The replicas that scan, plan and run jobs, in mode `cluster`.",
    )
    jobs: JobsValues = Field(
        default_factory=JobsValues, description="Where drivers and executors in pods run."
    )
    link: LinkValues = Field(
        default_factory=LinkValues, description="How drivers in pods reach the daemon."
    )
    service_account: AccountValues = Field(
        default_factory=AccountValues, description="The daemon's service account."
    )
    api_service_account: AccountValues = Field(
        default_factory=AccountValues,
        description="The service account of the replicas of `api` in mode `cluster`. Its only "
        "right is to list policies that are resources.",
    )
    spark_service_account: AccountValues = Field(
        default_factory=AccountValues,
        description="The service account of drivers in pods, in the namespace of the jobs.",
    )
    rbac: RbacValues = Field(
        default_factory=RbacValues, description="The daemon's rights in Kubernetes."
    )
    service: ServiceValues = Field(
        default_factory=ServiceValues, description="The Service of the API and the page."
    )
    without_sign_in: bool = Field(
        default=False,
        description="`true` allows an Ingress or HTTPRoute without `config.auth`. Set it only "
        "if a proxy in front of the page asks for a sign-in.",
    )
    ingress: IngressValues = Field(default_factory=IngressValues, description="An Ingress.")
    http_route: HttpRouteValues = Field(
        default_factory=HttpRouteValues, description="An HTTPRoute."
    )
    network_policy: NetworkPolicyValues = Field(
        default_factory=NetworkPolicyValues, description="NetworkPolicies."
    )
    pod_monitor: MonitorValues = Field(default_factory=MonitorValues, description="A PodMonitor.")
    service_monitor: MonitorValues = Field(
        default_factory=MonitorValues,
        description="A ServiceMonitor, and a Service of all replicas for it. Use one of the two.",
    )
    prometheus_rule: RuleValues = Field(
        default_factory=RuleValues, description="A PrometheusRule with the alerts."
    )
    dashboards: DashboardValues = Field(
        default_factory=DashboardValues, description="Dashboards for Grafana."
    )
    openshift: bool = Field(
        default=False,
        description="OpenShift: the cluster chooses the user id of all pods.",
    )
    hooks: HookValues = Field(
        default_factory=HookValues, description="The pods of the migration and of `helm test`."
    )
    hook_resources: Raw = Field(
        default={"requests": {"cpu": "100m", "memory": "256Mi"}, "limits": {"memory": "1Gi"}},
        description="Resources of the migration and of `helm test`.",
    )
    startup_seconds: Annotated[int, Field(ge=10)] = Field(
        default=300, description="Seconds that a start may take before the pod is restarted."
    )
    revision_history_limit: Annotated[int, Field(ge=0)] = Field(
        default=10, description="The number of former ReplicaSets or revisions that are kept."
    )
    common_annotations: Texts = Field(default={}, description="Annotations of every object.")
    pod_annotations: Texts = Field(default={}, description="Annotations of the daemon's pods.")
    common_labels: Texts = Field(
        default={}, description="Labels of every object. `podLabels` adds labels of pods."
    )
    pod_labels: Texts = Field(default={}, description="Labels of the daemon's pods.")
    pod_security_context: Raw = Field(
        default={}, description="Changes to the pods' security context."
    )
    security_context: Raw = Field(
        default={}, description="Changes to the containers' security context."
    )
    node_selector: Texts = Field(default={}, description="Labels that a node must have.")
    tolerations: list[Raw] = Field(default=[], description="Tolerations of the daemon's pods.")
    affinity: Raw = Field(
        default={},
        description="Affinity of the daemon's pods. Default: replicas of one kind run on "
        "different nodes.",
    )
    topology_spread_constraints: list[Raw] = Field(
        default=[],
        description="Topology spread constraints. Default: replicas of one kind are spread over "
        "zones.",
    )
    priority_class_name: Name = Field(
        default="", description="The PriorityClass of the daemon's pods."
    )
    runtime_class_name: Name = Field(default="", description="The RuntimeClass of all pods.")
    dns_policy: Literal["", "ClusterFirst", "ClusterFirstWithHostNet", "Default", "None"] = Field(
        default="", description="The DNS policy of all pods. Default: Kubernetes' own."
    )
    dns_config: Raw = Field(default={}, description="The DNS settings of all pods.")
    host_aliases: list[Raw] = Field(
        default=[], description="Addresses of host names, in all pods: `[{ip, hostnames}]`."
    )
    extra_env: list[Raw] = Field(default=[], description="Further environment variables.")
    extra_env_from: list[Raw] = Field(
        default=[], description="ConfigMaps and Secrets whose keys become environment variables."
    )
    extra_volumes: list[Raw] = Field(default=[], description="Further volumes.")
    extra_volume_mounts: list[Raw] = Field(default=[], description="Mounts of the further volumes.")
    init_containers: list[Raw] = Field(
        default=[],
        description="Further init containers, which run first. Those with `restartPolicy: Always` "
        "(native sidecars, such as a proxy to the store) run in the migration too.",
    )
    sidecars: list[Raw] = Field(default=[], description="Further containers.")
    extra_objects: list[Raw | str] = Field(
        default=[],
        description="Further objects, as they are; a text is a template that is rendered.",
    )
    name_override: Name = Field(
        default="", description="Replaces the chart's name in the names of objects."
    )
    fullname_override: Name = Field(
        default="", description="Replaces the beginning of the names of all objects."
    )
    global_: GlobalValues = Field(
        default_factory=GlobalValues, alias="global", description="Values that a parent chart sets."
    )
