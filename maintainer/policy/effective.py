"""The policy for one table: all layers merged field by field, each value with its source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from types import MappingProxyType
from typing import TypeVar

from maintainer.domain.budget import Budget
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.job_size import JobSize
from maintainer.domain.metric import Metric, Threshold
from maintainer.domain.policy import (
    Approval,
    ImportedFiles,
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
from maintainer.domain.rule_defaults import DEFAULT_QUIET_WAIT, DEFAULT_TIMEOUTS
from maintainer.domain.safeguards import Canary, Checksum, Safeguards
from maintainer.domain.units import MIB
from maintainer.policy.inherited import TableProperties, source_of
from maintainer.policy.layering import BUILT_IN, lay_layers
from maintainer.policy.restriction import is_switched_off, lay_properties
from maintainer.policy.writing import flatten, write_value

DEFAULT_QUARANTINE = timedelta(days=7)  # of orphan files
# A policy that names the rule sets its own thresholds. The built-in threshold would be an
# additional condition.
DANGLING_RULE = "rules.rewrite_position_delete_files"
DANGLING_THRESHOLD = f"{DANGLING_RULE}.when.dangling_delete_file_count_above"

# Default values of each rule; docs/policies.md documents them.
_RULE_DEFAULTS: Mapping[RuleName, Mapping[str, object]] = MappingProxyType(
    {
        RuleName.REWRITE_DATA_FILES: {
            "enabled": True,
            "cooldown": timedelta(hours=6),
            "strategy": "binpack",
            "hot_partition_age": timedelta(minutes=15),
            "wait_for_quiet": DEFAULT_QUIET_WAIT,
        },
        RuleName.REWRITE_POSITION_DELETE_FILES: {
            "enabled": True,
            "cooldown": timedelta(hours=6),
            "wait_for_quiet": DEFAULT_QUIET_WAIT,
        },
        RuleName.REWRITE_MANIFESTS: {
            "enabled": True,
            "cooldown": timedelta(hours=6),
            "wait_for_quiet": DEFAULT_QUIET_WAIT,
        },
        # Column statistics cost a full scan; partition statistics only read the new manifests.
        RuleName.COMPUTE_TABLE_STATS: {
            "enabled": True,
            "cooldown": timedelta(hours=6),
            "every": timedelta(days=7),
        },
        RuleName.COMPUTE_PARTITION_STATS: {
            "enabled": True,
            "cooldown": timedelta(hours=6),
            "every": timedelta(days=1),
        },
        RuleName.EXPIRE_SNAPSHOTS: {
            "enabled": True,
            "cooldown": timedelta(hours=6),
            "max_age": timedelta(days=5),
            "keep": 10,
            "staged_max_age": timedelta(days=14),
            "imported_files": ImportedFiles.KEEP,
        },
        RuleName.REMOVE_ORPHAN_FILES: {
            "enabled": True,
            "cooldown": timedelta(hours=6),
            "every": timedelta(days=7),
            "older_than": timedelta(days=7),
            "approval": Approval.REQUIRED,
            "quarantine": DEFAULT_QUARANTINE,
        },
    }
)
_DEFAULTS: Mapping[str, object] = MappingProxyType(
    {
        "mode": Mode.OBSERVE,
        "properties": PropertyRights.MAY_RESTRICT,
        "priority": 50,
        "others": Others.STAND_BACK,
        "owner": False,
        "min_size": JobSize.SMALL,
        "max_size": JobSize.LARGE,
        "rollback_for": timedelta(days=1),
        "canary": Canary.SAMPLE,
        "checksum": Checksum.OFF,
        "rules.rewrite_data_files": True,
        "rules.rewrite_data_files.when.average_file_size_below": 32.0 * MIB,
        DANGLING_RULE: True,
        DANGLING_THRESHOLD: 5.0,
        "rules.rewrite_manifests": True,
        "rules.rewrite_manifests.when.manifest_count_above": 100.0,
        "rules.expire_snapshots": True,
        "rules.expire_snapshots.when.snapshot_count_above": 100.0,
    }
)
_BUILT_IN_SETTINGS = MappingProxyType(
    {path: Setting(value, BUILT_IN) for path, value in _DEFAULTS.items()}
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
    _fill_defaults(merged)
    policy = Policy(
        mode=_get(merged, "mode", Mode) or Mode.OBSERVE,
        properties=_get(merged, "properties", PropertyRights) or PropertyRights.MAY_RESTRICT,
        is_enabled=not is_switched_off(properties),
        priority=_get_whole(merged, "priority", 50) or 0,
        target_file_size_bytes=_get_whole(merged, "target_file_size_bytes", None),
        window=_build_window(merged),
        rules=tuple(_build_rule(name, merged) for name in RuleName if _is_named(name, merged)),
        ambiguities=tuple(laid.ambiguities[path] for path in sorted(laid.ambiguities)),
        budget=_find_budget(merged),
        blackouts=tuple(
            window
            for window in _get(merged, "blackouts", tuple) or ()
            if isinstance(window, Window)
        ),
        safeguards=_read_safeguards(merged),
        others=_get(merged, "others", Others) or Others.STAND_BACK,
        is_owner=_get(merged, "owner", bool) is True,
        min_size=_get(merged, "min_size", JobSize) or JobSize.SMALL,
        max_size=_get(merged, "max_size", JobSize) or JobSize.LARGE,
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


def _is_named(name: RuleName, merged: _Settings) -> bool:
    return _get(merged, f"rules.{name}", bool) is True


def _fill_defaults(merged: _Settings) -> None:
    for name in RuleName:
        for field, value in _RULE_DEFAULTS[name].items():
            merged.setdefault(f"rules.{name}.{field}", Setting(value, BUILT_IN))
        merged.setdefault(f"rules.{name}.timeout", Setting(DEFAULT_TIMEOUTS[name], BUILT_IN))


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


def _build_rule(name: RuleName, merged: _Settings) -> Rule:
    at = f"rules.{name}"
    thresholds = ((metric, _get(merged, f"{at}.when.{metric.key}", float)) for metric in Metric)
    options = f"{at}.options."
    return Rule(
        name=name,
        when=tuple(Threshold(metric, bound) for metric, bound in thresholds if bound is not None),
        is_enabled=_get(merged, f"{at}.enabled", bool) is not False,
        cooldown=_get(merged, f"{at}.cooldown", timedelta) or Rule(name).cooldown,
        every=_get(merged, f"{at}.every", timedelta),
        timeout=_get(merged, f"{at}.timeout", timedelta),
        where=_get(merged, f"{at}.where", str),
        strategy=_get(merged, f"{at}.strategy", str) or Rule(name).strategy,
        sort_order=_get(merged, f"{at}.sort_order", str),
        options=tuple(
            (path.removeprefix(options), str(merged[path].value))
            for path in sorted(merged)
            if path.startswith(options)
        ),
        max_age=_get(merged, f"{at}.max_age", timedelta),
        staged_max_age=_get(merged, f"{at}.staged_max_age", timedelta),
        imported_files=_get(merged, f"{at}.imported_files", ImportedFiles),
        keep=_get_whole(merged, f"{at}.keep", None),
        older_than=_get(merged, f"{at}.older_than", timedelta),
        columns=_get(merged, f"{at}.columns", tuple) or (),
        hot_partition_age=_get(merged, f"{at}.hot_partition_age", timedelta),
        max_bytes_per_job=_get_whole(merged, f"{at}.max_bytes_per_job", None),
        approval=_get(merged, f"{at}.approval", Approval),
        quarantine=_get(merged, f"{at}.quarantine", timedelta),
        quiet_period=_get(merged, f"{at}.quiet_period", timedelta),
        wait_for_quiet=_get(merged, f"{at}.wait_for_quiet", timedelta),
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
