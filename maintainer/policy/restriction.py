"""The effect of a table's own maintainer.* properties.

Everybody who can write to a table can write them, so they only restrict and tune.
"""

from __future__ import annotations

from collections.abc import Mapping

from maintainer.domain.policy import (
    Mode,
    PolicySet,
    PropertyRights,
    RuleName,
    Setting,
)
from maintainer.domain.rules import find_field
from maintainer.policy.inherited import source_of
from maintainer.policy.layering import Laid

ENABLED_PROPERTY = "maintainer.enabled"


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
            else _refuse_property(laid.settings, path, setting)
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
    switch = merged.get(f"rules.{rule}.enabled")
    if (
        path == f"rules.{rule}.enabled"
        and setting.value is True
        and switch is not None
        and switch.value is False
    ):
        return f"{switch.source} switches {rule} off, which a property cannot undo"
    return None
