"""Policies that name a pool which is not configured."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from maintainer.domain.policy import PolicyLayer, PolicyProblem

RUNS_ON = "runs_on"


def find_unknown_pools(
    layers: Iterable[PolicyLayer], pools: Collection[str]
) -> tuple[PolicyProblem, ...]:
    """The layers whose `runs_on` is none of these pools; the layers stay in force."""
    named = [layer.settings[RUNS_ON] for layer in layers if RUNS_ON in layer.settings]
    return tuple(
        PolicyProblem(setting.source, explain_unknown(str(setting.value), "", pools))
        for setting in named
        if setting.value not in pools
    )


def explain_unknown(name: str, source: str, pools: Collection[str]) -> str:
    """Why no job runs under a policy with an unknown pool, and where it names the pool."""
    where = f"{source}: " if source else ""
    return (
        f"{where}{RUNS_ON} is {name!r}, but spark.pools has no such pool (there is "
        f"{', '.join(sorted(pools))}); no job runs on these tables until then"
    )
