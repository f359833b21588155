"""All settings in one model."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field, PrivateAttr, model_validator

from maintainer.adapters.policies.validation import DurationBetween, Strict, refuse
from maintainer.domain.redaction import HIDDEN, hide_secrets, names_secret, redact_url
from maintainer.policy.writing import write_value
from maintainer.settings.admission import AdmissionSettings
from maintainer.settings.auth import AuthSettings
from maintainer.settings.catalogs import CatalogSettings, StorageSettings, check_catalogs
from maintainer.settings.paths import read_path
from maintainer.settings.policy_sources import KubernetesPolicySettings, PolarisSettings
from maintainer.settings.server import ServerSettings
from maintainer.settings.spark import SparkSettings
from maintainer.settings.steps import (
    RENEWALS_PER_LEASE,
    LeaseSettings,
    PlanSettings,
    PruneSettings,
    ReviewSettings,
    ScanSettings,
    SubmitSettings,
    WatchSettings,
)
from maintainer.settings.telemetry import (
    LineageSettings,
    LogSettings,
    MetricsSettings,
    NotificationSettings,
    TracingSettings,
    WebhookSettings,
)

_WebhookName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,62}$")]


def _check_store(value: object) -> object:
    if isinstance(value, str) and not value.startswith(
        ("sqlite:///", "postgresql://", "postgresql+")
    ):
        refuse(f"is {redact_url(value)!r}, but must begin with sqlite:/// or postgresql://")
    return value


class Settings(Strict):
    """All settings of the operator; paths are absolute."""

    catalogs: Annotated[dict[str, CatalogSettings], BeforeValidator(check_catalogs)] = Field(
        description="PyIceberg's own properties of a catalog; under `spark`, properties for Spark "
        "only; under `locations`, where the daemon reads directories that have another address "
        "for Spark; under `storage`, prices and speed of the storage."
    )
    store: Annotated[str, BeforeValidator(_check_store)] = Field(
        default="sqlite:///maintainer.db",
        description="The daemon's database: `sqlite:///FILE`, or `postgresql://...` for "
        "several daemons. The default file is in `$STATE_DIRECTORY`, if that is set.",
    )
    policies: Annotated[Path, BeforeValidator(read_path)] = Field(
        default=Path("policies"),
        description="The directory of policy files. It is reloaded when a file changes.",
    )
    scan: ScanSettings = ScanSettings()
    plan: PlanSettings = PlanSettings()
    submit: SubmitSettings = SubmitSettings()
    watch: WatchSettings = WatchSettings()
    review: ReviewSettings = ReviewSettings()
    prune: PruneSettings = PruneSettings()
    spark: SparkSettings = SparkSettings()
    server: ServerSettings = ServerSettings()
    metrics: MetricsSettings = MetricsSettings()
    log: LogSettings = LogSettings()
    tracing: TracingSettings | None = None
    lineage: LineageSettings | None = None
    webhooks: Annotated[
        dict[_WebhookName, WebhookSettings],
        Field(
            max_length=20,
            description="Requests to other services after jobs, by a name of your choice.",
        ),
    ] = Field(default_factory=dict)
    impact: StorageSettings = StorageSettings()
    notifications: NotificationSettings = NotificationSettings()
    admission: AdmissionSettings = AdmissionSettings()
    lease: LeaseSettings = LeaseSettings()
    polaris_policies: PolarisSettings | None = None
    kubernetes_policies: KubernetesPolicySettings | None = None
    drain_timeout: Annotated[timedelta, DurationBetween("0s", "1d")] = Field(
        default=timedelta(seconds=60),
        description="The time that running jobs have to finish after SIGTERM. Then they are "
        "cancelled.",
    )
    auth: AuthSettings = AuthSettings()

    # The values that were given: in copies with resolved paths, defaults count as given too.
    _given: dict[str, object] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _check_names(self) -> Settings:
        polaris = self.polaris_policies
        named = {f"scan.catalogs.{name}": name for name in sorted(self.scan.catalogs)}
        named |= {f"admission.per_catalog.{name}": name for name in self.admission.per_catalog}
        named |= {f"polaris_policies.catalog {polaris.catalog}": polaris.catalog} if polaris else {}
        named |= self._name_policy_catalogs()
        for place, name in named.items():
            if name not in self.catalogs:
                known = ", ".join(sorted(self.catalogs)) or "none"
                refuse(f"has {place}, but catalogs has only {known}")
        return self

    def _name_policy_catalogs(self) -> dict[str, str]:
        """The catalogs for which policies in Kubernetes decide, where no glob stands for them."""
        wanted = self.kubernetes_policies
        return {
            f"kubernetes_policies.namespaces.{namespace} {bound}": bound.split(".")[0]
            for namespace, bounds in (wanted.namespaces.items() if wanted else ())
            for bound in bounds
            if "*" not in bound.split(".")[0]
        }

    @model_validator(mode="after")
    def _check_lease(self) -> Settings:
        most = self.lease.duration / RENEWALS_PER_LEASE
        if self.watch.interval > most:
            refuse(
                f"has watch.interval {write_value('', self.watch.interval)} above "
                f"{write_value('', most)}, a third of lease.duration: leases would run out"
            )
        return self

    @model_validator(mode="after")
    def _check_polaris(self) -> Settings:
        polaris = self.polaris_policies
        if (
            polaris is not None
            and polaris.uri is None
            and not self.catalogs[polaris.catalog].properties.get("uri", "").startswith("http")
        ):
            refuse(
                f"has polaris_policies without a uri, and catalog {polaris.catalog} has none "
                f"that begins with http:// or https://"
            )
        return self

    def model_post_init(self, _context: object, /) -> None:
        """Note what the operator gave before paths are resolved."""
        self._given = self.model_dump(exclude_unset=True)

    def is_given(self, path: tuple[str, ...]) -> bool:
        """True when the file or the environment sets the value at the path, or a part of it."""
        found: object = self._given
        for name in path:
            if not isinstance(found, dict):
                return True  # the file gives a value for a parent of the path
            if name not in found:
                return path[0] == "catalogs"  # the properties of catalogs have no defaults
            found = found[name]
        return True

    def redacted(self) -> dict[str, object]:
        """Return the settings as plain values for printing, every secret as ***."""
        values = self.model_dump()
        for name, catalog in self.catalogs.items():
            values["catalogs"][name] = {
                **catalog.properties,
                **({"spark": catalog.spark} if catalog.spark else {}),
                **({"locations": catalog.locations} if catalog.locations else {}),
                **(
                    {"storage": catalog.storage.model_dump(exclude_none=True)}
                    if catalog.storage != StorageSettings()
                    else {}
                ),
            }
        values["auth"]["tokens"] = {
            name: {**token.model_dump(), "token": HIDDEN}
            for name, token in self.auth.tokens.items()
        }
        if self.tracing is not None:
            values["tracing"]["headers"] = dict.fromkeys(self.tracing.headers, HIDDEN)
        values["webhooks"] = {
            name: {
                **hook.model_dump(),
                "url": HIDDEN,
                "headers": dict.fromkeys(hook.headers, HIDDEN),
            }
            for name, hook in self.webhooks.items()
        }
        values["notifications"]["targets"] = dict.fromkeys(self.notifications.targets, HIDDEN)
        return {name: _redact(name, value) for name, value in values.items()}

    def __repr__(self) -> str:
        return f"Settings({self.redacted()!r})"

    __str__ = __repr__


def _redact(name: str, value: object) -> object:
    match value:
        case dict():
            return {key: _redact(str(key), inner) for key, inner in value.items()}
        case list() | tuple() | set() | frozenset():
            return type(value)(_redact(name, inner) for inner in value)
        case str() if names_secret(name):
            return HIDDEN
        case str() | Path():
            # Options of a JVM and headers may contain a secret inside a text.
            return hide_secrets(str(value), ())
        case timedelta():
            return write_value(name, value)
        case _:
            return value
