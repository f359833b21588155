"""Write a policy's values out, each as in a policy file and with its source."""

from __future__ import annotations

from datetime import timedelta

from maintainer.domain.metric import Metric
from maintainer.domain.policy import Budget, Policy, PolicyLayer, Window
from maintainer.domain.rules import find_field
from maintainer.domain.units import write_duration, write_size
from maintainer.policy.layering import BUILT_IN, flatten_rule

_SIZES = {"target_file_size_bytes", "bytes_per_day"}
_METRICS = {metric.key: metric for metric in Metric}


def describe(policy: Policy) -> tuple[tuple[str, str, str], ...]:
    """(path, value as written, source) of every value.

    It includes the values that the policy leaves to the table, and the ignored properties.
    """
    values = flatten(policy)
    lines = [
        (path, write_value(path, value), policy.sources.get(path, BUILT_IN))
        for path, value in values.items()
    ]
    lines += [
        (path, _write_inherited(path, setting.value), setting.source)
        for path, setting in policy.inherited.items()
    ]
    notes = [
        (path, "ignored", source) for path, source in policy.sources.items() if path not in values
    ]
    return tuple(
        (write_path(path), text, source)
        for path, text, source in lines + notes
        if not _is_marker(path)
    )


def _write_inherited(path: str, value: object) -> str:
    return (
        write_size(value)
        if isinstance(value, int) and not isinstance(value, bool)
        else write_value(path, value)
    )


def describe_layer(layer: PolicyLayer) -> tuple[tuple[str, str, str], ...]:
    """(path, value as written, source) of every value in one file."""
    settings = layer.settings.items()
    return tuple(
        (write_path(path), write_value(path, setting.value), setting.source)
        for path, setting in settings
        if not _is_marker(path)
    )


def _is_marker(path: str) -> bool:
    return path.count(".") == 1 and path.startswith("rules.")


def write_path(path: str) -> str:
    """A setting's path, as in a policy file."""
    return "target_file_size" if path == "target_file_size_bytes" else path


def write_value(path: str, value: object) -> str:
    """A setting's value, as in a policy file.

    Nothing is rounded, so that equal texts are equal values.
    """
    field = find_field(path)
    if field is not None and field.accepts(value):
        return field.write(value)
    return _write_other(path.rpartition(".")[2], value)


def _write_other(key: str, value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case int() | float() if key in _SIZES:
            return write_size(value)
        case int() | float() if key in _METRICS:
            return _METRICS[key].write_bound(value)
        case float() if value.is_integer():
            return str(int(value))
        case tuple():
            return ", ".join(write_value("", item) for item in value) or "[]"
        case Window():
            return (
                f"{value.cron} for {write_duration(value.duration.total_seconds())} in "
                f"{value.timezone}"
            )
        case Budget():
            return _write_budget(value)
        case timedelta() if key == "rollback_for" and not value:
            return "off"
        case timedelta():
            return write_duration(value.total_seconds())
        case _:
            return str(value)


def _write_budget(budget: Budget) -> str:
    limits = {
        "max_jobs": budget.max_jobs,
        "bytes_per_day": budget.bytes_per_day,
        "gb_hours_per_day": budget.gb_hours_per_day,
    }
    return ", ".join(
        f"{name} {write_value(name, limit)}" for name, limit in limits.items() if limit is not None
    )


def flatten(policy: Policy) -> dict[str, object]:
    """All values of the policy by setting path, in reading order."""
    values: dict[str, object] = {
        "mode": policy.mode,
        "priority": policy.priority,
        "target_file_size_bytes": policy.target_file_size_bytes,
    }
    values["properties"] = policy.properties
    if policy.window is not None:
        values |= {
            "window.cron": policy.window.cron,
            "window.duration": policy.window.duration,
            "window.timezone": policy.window.timezone,
        }
    values |= {"blackouts": policy.blackouts or None, "stream.trigger": policy.stream_trigger}
    values |= {"budget": policy.budget}
    guards = policy.safeguards
    values |= {
        "rollback_for": guards.rollback_for,
        "canary": guards.canary,
        "checksum": guards.checksum,
        "others": policy.others,
        "writers": policy.writers,
    }
    values |= {"owner": policy.is_owner}
    values |= {"min_size": policy.min_size, "max_size": policy.max_size}
    values |= {"runs_on": policy.runs_on}
    for rule in policy.rules:
        values |= flatten_rule(rule)
    return {path: value for path, value in values.items() if value is not None}
