"""The effect of a table's own maintainer.* properties.

Everybody who can write to a table can write them, so they only restrict and tune.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from hashlib import sha256

from maintainer.domain.admission import ScopePause
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.policy import (
    Mode,
    PolicySet,
    PropertyRights,
    RuleName,
    Setting,
)
from maintainer.domain.rule_field import Direction
from maintainer.domain.rules import find_field
from maintainer.policy.inherited import source_of
from maintainer.policy.layering import Laid

ENABLED_PROPERTY = "maintainer.enabled"
_DIGITS = 8


def is_switched_off(properties: Mapping[str, str]) -> bool:
    """True when the table's owner has disabled all maintenance of the table."""
    return properties.get(ENABLED_PROPERTY, "true").strip().lower() == "false"


def lay_properties(
    laid: Laid, policies: PolicySet, properties: Mapping[str, str]
) -> dict[str, str]:
    """Apply the table's own properties over all policies.

    Returns the ignored properties by name, with the reason.
    """
    read = policies.read_properties(properties)
    ignored = dict(read.ignored)
    for path, setting in read.settings.items():
        reason = (
            _refuse_mode(laid, setting)
            if path == "mode"
            else _refuse_settling(laid, path) or _refuse_property(laid.settings, path, setting)
        )
        if reason is None:
            laid.lay({path: setting})
        else:
            ignored[setting.source.removeprefix(source_of(""))] = reason
    if is_switched_off(properties):
        off = Setting(value=False, source=source_of(ENABLED_PROPERTY))
        laid.lay({f"rules.{name}.enabled": off for name in RuleName})
    elif properties.get(ENABLED_PROPERTY, "true").strip().lower() != "true":
        ignored[ENABLED_PROPERTY] = f"{properties[ENABLED_PROPERTY]!r} is neither true nor false"
    return ignored


def _refuse_mode(laid: Laid, setting: Setting) -> str | None:
    """Why the property must not set the mode.

    Mode observe only restricts. Mode enforce on a table that the operator observes needs the
    operator's permission.
    """
    said = laid.settings["mode"]
    is_observed = said.value is not Mode.ENFORCE or "mode" in laid.ambiguities
    if (
        setting.value is not Mode.ENFORCE
        or not is_observed
        or laid.settings["properties"].value is PropertyRights.MAY_ENFORCE
    ):
        return None
    disputed = laid.ambiguities.get("mode")
    source = disputed.settings[0].source if disputed is not None else said.source
    return (
        f"the mode is the operator's ({source}): only a policy file with properties: may_enforce "
        f"lets a property enforce"
    )


def _refuse_settling(laid: Laid, path: str) -> str | None:
    """Why the property must not decide between files of the operator that disagree."""
    disputed = laid.ambiguities.get(path)
    if disputed is None:
        return None
    sources = " and ".join(setting.source for setting in disputed.settings)
    return f"{sources} disagree, which only the operator can settle"


def _refuse_property(merged: Mapping[str, Setting], path: str, setting: Setting) -> str | None:
    """Why the property is not allowed.

    A property tunes or disables rules that the operator's policies have; it does not add rules.
    """
    rule = path.split(".")[1] if path.startswith("rules.") else None
    if rule is None:
        return None
    if f"rules.{rule}" not in merged:
        return f"no policy names the rule {rule} for this table"
    field = find_field(path)
    files_only = field.files_only if field is not None else None
    if files_only is not None and setting.value == files_only.value:
        return files_only.reason
    if field is None:
        return None
    present = merged.get(path, Setting(field.default, "the built-in default"))
    if field.direction is Direction.UP and _is_less(setting.value, present.value):
        return (
            f"{field.write(setting.value)} is less than {field.write(present.value)} "
            f"({present.source}), and a property may only raise it"
        )
    if field.direction is Direction.OFF and setting.value and not present.value:
        return f"{present.source} switches {rule} off, which a property cannot undo"
    return None


def _is_less(value: object, bound: object) -> bool:
    if isinstance(value, timedelta) and isinstance(bound, timedelta):
        return value < bound
    return isinstance(value, int) and isinstance(bound, int) and value < bound


def find_scope_pause(
    scope_pauses: Sequence[ScopePause], table: TableIdentifier
) -> ScopePause | None:
    """The pause with the widest scope that covers the table: it must be resumed last."""
    covering = [pause for pause in scope_pauses if pause.covers(table)]
    return min(
        covering,
        key=lambda pause: (not pause.is_drain, len(pause.scope), pause.scope),
        default=None,
    )


def describe_scope_pause(pause: ScopePause) -> str:
    """Who asked for the pause or drain, its scope, and the reason."""
    asked = f"{pause.by} started a drain" if pause.is_drain else f"{pause.by} paused {pause.scope}"
    return f"{asked}: {pause.reason}" if pause.reason else asked


def is_draining(scope_pauses: Sequence[ScopePause]) -> bool:
    """True while nothing may start at all."""
    return any(pause.is_drain for pause in scope_pauses)


def hash_scope_pauses(scope_pauses: Sequence[ScopePause]) -> str:
    """A hash of the pauses: equal texts mean the same pauses; empty for none."""
    return (
        sha256(
            repr(
                [(pause.scope, pause.by, pause.reason, pause.is_drain) for pause in scope_pauses]
            ).encode()
        ).hexdigest()[:_DIGITS]
        if scope_pauses
        else ""
    )
