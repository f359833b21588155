"""Engines that change rows without checking whether a rewrite has replaced the files.

Their position deletes then refer to files that are gone, and the deleted rows come back; their
updates double rows. No commit fails (Cloudera TSB 2024-746; StarRocks before pull request 77709).
"""

from __future__ import annotations

from maintainer.domain.health import TableHealth
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import Policy, Rule, UncheckedWriter
from maintainer.estimate.floors import Refusal

_HIVE_PROPERTY = "engine.hive.enabled"


def refuse_unchecked(rule: Rule, health: TableHealth, policy: Policy) -> Refusal | None:
    """Why a rewrite of data files needs a window without such writers; None: it needs none.

    In a window, the operator has seen to it that they do not write.
    """
    if not rule.replaces_data_files or policy.window is not None:
        return None
    if policy.writers is not None:
        engines, known = ", ".join(policy.writers), "`writers` of the policy"
    else:
        engines, known = _recognise(health)
    if not engines:
        return None
    advice = "" if policy.writers else "; write `writers: []` if no such engine changes rows"
    return Refusal(
        SkipCode.UNSUPPORTED,
        f"{engines} ({known}) may change rows without checking whether a rewrite has replaced "
        f"their files, so that deleted rows could come back; rewrite_data_files runs only by "
        f"itself, in a `window` of the policy without writes of {engines}{advice}",
    )


def _recognise(health: TableHealth) -> tuple[str, str]:
    """An engine that the table shows, and what shows it; empty texts: none.

    Only tables count whose rows were deleted or replaced by a kept snapshot.
    """
    if health.last_change_at is None:
        return "", ""
    for engine in UncheckedWriter:
        for rate in health.writers:
            if rate.writer.lower().startswith(engine):
                return engine, f"commits of {rate.writer}"
    if health.properties.get(_HIVE_PROPERTY, "").lower() == "true":
        return UncheckedWriter.HIVE, f"table property {_HIVE_PROPERTY}=true"
    return "", ""
