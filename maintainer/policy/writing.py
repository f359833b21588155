"""Write a policy's values out, each as in a policy file and with its source."""

from __future__ import annotations

from datetime import timedelta

from maintainer.domain.budget import Budget
from maintainer.domain.policy import Policy, PolicyLayer, RuleName, Window
from maintainer.domain.units import GIB, KIB, MIB
from maintainer.policy.layering import BUILT_IN

_SIZES = {"average_file_size_below", "target_file_size_bytes", "bytes_per_day", "max_bytes_per_job"}


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
        _write_size(value)
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
    key = path.rpartition(".")[2]
    match value:
        case bool():
            return str(value).lower()
        case int() | float() if key in _SIZES:
            return _write_size(value)
        case int() | float() if key == "oldest_snapshot_age_above":
            return _write_seconds(value)
        case float() if value.is_integer():
            return str(int(value))
        case tuple():
            return ", ".join(write_value("", item) for item in value)
        case Window():
            return (
                f"{value.cron} for {_write_seconds(value.duration.total_seconds())} in "
                f"{value.timezone}"
            )
        case Budget():
            limits = {
                "max_jobs": value.max_jobs,
                "bytes_per_day": value.bytes_per_day,
                "gb_hours_per_day": value.gb_hours_per_day,
            }
            return ", ".join(
                f"{name} {write_value(name, limit)}"
                for name, limit in limits.items()
                if limit is not None
            )
        case timedelta() if key in {"rollback_for", "quarantine"} and not value:
            return "off"
        case timedelta():
            return _write_seconds(value.total_seconds())
        case _:
            return str(value)


def _write_size(size_bytes: float) -> str:
    for unit, length in (("GiB", GIB), ("MiB", MIB), ("KiB", KIB)):
        if size_bytes >= length and size_bytes % length == 0:
            return f"{int(size_bytes // length)}{unit}"
    return str(int(size_bytes)) if float(size_bytes).is_integer() else str(size_bytes)


def _write_seconds(seconds: float) -> str:
    if not float(seconds).is_integer() or seconds <= 0:
        return f"{seconds}s"
    text, rest = "", int(seconds)
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, rest = divmod(rest, length)
        text += f"{count}{unit}" if count else ""
    return text


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
    values |= {"blackouts": policy.blackouts or None, "budget": policy.budget}
    guards = policy.safeguards
    values |= {
        "rollback_for": guards.rollback_for,
        "canary": guards.canary,
        "checksum": guards.checksum,
        "others": policy.others,
    }
    values |= {"owner": policy.is_owner}
    values |= {"min_size": policy.min_size, "max_size": policy.max_size}
    for rule in policy.rules:
        at = f"rules.{rule.name}"
        values |= {at: True, f"{at}.enabled": rule.is_enabled}
        values |= {f"{at}.when.{threshold.metric.key}": threshold.bound for threshold in rule.when}
        values |= {
            f"{at}.cooldown": rule.cooldown,
            f"{at}.every": rule.every,
            f"{at}.timeout": rule.timeout,
            f"{at}.where": rule.where,
        }
        if rule.name is RuleName.REWRITE_DATA_FILES:
            values |= {f"{at}.strategy": rule.strategy, f"{at}.sort_order": rule.sort_order}
            values |= {
                f"{at}.hot_partition_age": rule.hot_partition_age,
                f"{at}.max_bytes_per_job": rule.max_bytes_per_job,
            }
        values |= {f"{at}.options.{name}": text for name, text in rule.options}
        values |= {
            f"{at}.max_age": rule.max_age,
            f"{at}.keep": rule.keep,
            f"{at}.older_than": rule.older_than,
            f"{at}.columns": rule.columns or None,
        }
        values |= {
            f"{at}.staged_max_age": rule.staged_max_age,
            f"{at}.imported_files": rule.imported_files,
        }
        values |= {f"{at}.approval": rule.approval, f"{at}.quarantine": rule.quarantine}
        values |= {
            f"{at}.quiet_period": rule.quiet_period,
            f"{at}.wait_for_quiet": rule.wait_for_quiet,
        }
    return {path: value for path, value in values.items() if value is not None}
