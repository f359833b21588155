"""The policy for one table: all layers merged field by field, each value with its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from types import MappingProxyType
from typing import TypeVar

from maintainer.domain.action import Canary, Checksum, Safeguards
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.metric import Metric
from maintainer.domain.policy import (
    Budget,
    Mode,
    Others,
    Policy,
    PolicyLayer,
    PolicySet,
    PropertyRights,
    Rule,
    RuleName,
    Setting,
    Window,
)
from maintainer.domain.pool import DEFAULT_POOL, JobSize
from maintainer.domain.rules import RULES
from maintainer.policy.inherited import TableProperties, source_of
from maintainer.policy.layering import BUILT_IN, build_rule, built_in_rules, lay_layers
from maintainer.policy.restriction import is_switched_off, lay_properties
from maintainer.policy.writing import flatten, write_value

# A policy that names the rule sets its own thresholds. The built-in threshold would be an
# additional condition.
DANGLING_RULE = f"rules.{RuleName.REWRITE_POSITION_DELETE_FILES}"
DANGLING_THRESHOLD = f"{DANGLING_RULE}.when.{Metric.DANGLING_DELETE_FILE_COUNT.key}"

_DEFAULTS: dict[str, object] = {
    "mode": Mode.OBSERVE,
    "properties": PropertyRights.MAY_RESTRICT,
    "priority": 50,
    "others": Others.STAND_BACK,
    "owner": False,
    "min_size": JobSize.SMALL,
    "max_size": JobSize.LARGE,
    "runs_on": DEFAULT_POOL,
    "rollback_for": timedelta(days=1),
    "canary": Canary.SAMPLE,
    "checksum": Checksum.OFF,
}
_BUILT_IN_SETTINGS = MappingProxyType(
    {path: Setting(value, BUILT_IN) for path, value in (_DEFAULTS | built_in_rules(RULES)).items()}
)
_WINDOW_DURATION = timedelta(hours=1)
_VERSION_DIGITS = 12

_Value = TypeVar("_Value")
_Settings = dict[str, Setting]


def effective(
    layers: PolicySet | tuple[PolicyLayer, ...],
    table: TableIdentifier,
    properties: Mapping[str, str],
) -> Policy:
    """The policy for the table.

    The layers are, in order: built-in default, default.yaml, globs from general to specific, exact
    name, the table's own properties.
    """
    policies = layers if isinstance(layers, PolicySet) else PolicySet(layers)
    laid = lay_layers(_BUILT_IN_SETTINGS, policies.layers, table)
    merged = laid.settings
    if merged[DANGLING_RULE].source != BUILT_IN and merged[DANGLING_THRESHOLD].source == BUILT_IN:
        del merged[DANGLING_THRESHOLD]
    own = TableProperties(properties)
    for path, setting in own.settings().items():
        if path not in merged or merged[path].source == BUILT_IN:
            merged[path] = setting
    refused = lay_properties(laid, policies, properties)
    if table.catalog in policies.unread:
        laid.lay(
            {
                "mode": Setting(
                    Mode.OBSERVE,
                    f"the other policies of catalog {table.catalog}, which could not be read yet",
                )
            }
        )
    policy = Policy(
        mode=_get(merged, "mode", Mode) or Mode.OBSERVE,
        properties=_get(merged, "properties", PropertyRights) or PropertyRights.MAY_RESTRICT,
        is_enabled=not is_switched_off(properties),
        priority=_get_whole(merged, "priority", 50) or 0,
        target_file_size_bytes=_get_whole(merged, "target_file_size_bytes", None),
        window=_build_window(merged),
        rules=tuple(build_rule(kind, merged) for kind in RULES.values() if _is_named(kind, merged)),
        ambiguities=tuple(laid.ambiguities[path] for path in sorted(laid.ambiguities)),
        budget=_find_budget(merged),
        blackouts=tuple(
            window
            for window in _get(merged, "blackouts", tuple) or ()
            if isinstance(window, Window)
        ),
        stream_trigger=_get(merged, "stream.trigger", timedelta),
        safeguards=_read_safeguards(merged),
        others=_get(merged, "others", Others) or Others.STAND_BACK,
        writers=_get(merged, "writers", tuple),
        is_owner=_get(merged, "owner", bool) is True,
        min_size=_get(merged, "min_size", JobSize) or JobSize.SMALL,
        max_size=_get(merged, "max_size", JobSize) or JobSize.LARGE,
        runs_on=_get(merged, "runs_on", str) or DEFAULT_POOL,
    )
    values = flatten(policy)
    inherited = {path: setting for path, setting in own.inherited().items() if path not in values}
    notes = {
        name: f"{source_of(name)} (ignored: {reason})"
        for name, reason in (own.ignored | refused).items()
    }
    sources = {path: merged[path].source if path in merged else BUILT_IN for path in values} | notes
    version = _digest(values, policy)
    return replace(
        policy,
        version=version,
        sources=MappingProxyType(sources),
        inherited=MappingProxyType(inherited),
    )


def built_in_values() -> Mapping[str, object]:
    """The value of each setting that no layer sets, by its path."""
    return {path: setting.value for path, setting in _BUILT_IN_SETTINGS.items()}


def _is_named(kind: type[Rule], merged: _Settings) -> bool:
    return _get(merged, f"rules.{kind.name}", bool) is True


def _get(merged: _Settings, path: str, kind: type[_Value]) -> _Value | None:
    """The value at the path if it has that type, else None.

    A layer that our reader did not make must not break a scan.
    """
    setting = merged.get(path)
    return setting.value if setting is not None and isinstance(setting.value, kind) else None


def _get_whole(merged: _Settings, path: str, default: int | None) -> int | None:
    value = _get(merged, path, int)
    return default if value is None or isinstance(value, bool) else value


def _build_window(merged: _Settings) -> Window | None:
    cron = _get(merged, "window.cron", str)
    if cron is None:
        return None
    return Window(
        cron,
        _get(merged, "window.duration", timedelta) or _WINDOW_DURATION,
        _get(merged, "window.timezone", str) or "UTC",
    )


def _find_budget(merged: _Settings) -> Budget | None:
    """The budget of the most specific file, as a whole and under the file's name.

    All tables that get the budget from this file share it.
    """
    budget = _get(merged, "budget", Budget)
    return (
        None
        if budget is None or budget.is_unlimited
        else replace(budget, name=merged["budget"].source.rpartition(":")[0])
    )


def _read_safeguards(merged: _Settings) -> Safeguards:
    return Safeguards(
        rollback_for=_get(merged, "rollback_for", timedelta) or timedelta(0),
        canary=_get(merged, "canary", Canary) or Canary.OFF,
        checksum=_get(merged, "checksum", Checksum) or Checksum.OFF,
    )


def _digest(values: Mapping[str, object], policy: Policy) -> str:
    """A hash of the content; the source and the order of the values do not matter."""
    written = sorted((path, write_value(path, value)) for path, value in values.items())
    disputed = [
        (
            dispute.path,
            sorted(write_value(dispute.path, setting.value) for setting in dispute.settings),
        )
        for dispute in policy.ambiguities
    ]
    return sha256(repr((written, disputed) if disputed else written).encode()).hexdigest()[
        :_VERSION_DIGITS
    ]
