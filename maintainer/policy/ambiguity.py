"""Ambiguities between equally specific layers, and unknown pools, as sentences with sources."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from itertools import combinations

from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.policy import Ambiguity, Policy, PolicyLayer, PolicyProblem, PolicySet
from maintainer.policy.layering import DEFAULT_FILES, agree, lay_layers
from maintainer.policy.writing import write_path, write_value

MAX_PROBLEMS = 100  # in one check; more would not help
RUNS_ON = "runs_on"


def find_ambiguities(
    policies: PolicySet, tables: Iterable[TableIdentifier] = ()
) -> tuple[PolicyProblem, ...]:
    """Ambiguous fields of layers with the same pattern, and of these tables.

    Each pair of sources appears once.
    """
    found: dict[tuple[str, ...], PolicyProblem] = {}
    for ambiguity, where in (
        *_find_same_patterns(policies.layers),
        *_find_for_tables(policies, tables),
    ):
        found.setdefault(
            (ambiguity.path, *(setting.source for setting in ambiguity.settings)),
            describe_ambiguity(ambiguity, where),
        )
        if len(found) >= MAX_PROBLEMS:
            break
    return tuple(found.values())


def _find_same_patterns(layers: Iterable[PolicyLayer]) -> Iterable[tuple[Ambiguity, str]]:
    """Ambiguities between layers with the same pattern.

    They affect every table that only this pattern selects, even if no such table exists yet.
    """
    by_pattern: dict[tuple[bool, str, int], list[PolicyLayer]] = defaultdict(list)
    for layer in layers:
        for pattern in dict.fromkeys(layer.tables):
            by_pattern[layer.name in DEFAULT_FILES, pattern.text, layer.precedence].append(layer)
    for (_, text, _), group in sorted(by_pattern.items()):
        for first, second in combinations(group, 2):
            if not first.family or first.family != second.family:
                yield from (
                    (ambiguity, f"both files are for {text}")
                    for ambiguity in agree([first, second])[1].values()
                )


def _find_for_tables(
    policies: PolicySet, tables: Iterable[TableIdentifier]
) -> Iterable[tuple[Ambiguity, str]]:
    for table in tables:
        laid = lay_layers({}, policies.layers, table)
        yield from (
            (laid.ambiguities[path], f"as for {table}") for path in sorted(laid.ambiguities)
        )


def describe_ambiguity(ambiguity: Ambiguity, where: str) -> PolicyProblem:
    """The ambiguity as a problem at its first source, naming the others."""
    first, *others = [
        (write_value(ambiguity.path, setting.value), setting.source)
        for setting in ambiguity.settings
    ]
    elsewhere = " and ".join(f"{text} at {source}" for text, source in others)
    reason = "which are equally narrow; make one narrower, or set it in one place"
    return PolicyProblem(
        first[1],
        f"{write_path(ambiguity.path)} is {first[0]} here and {elsewhere}, {reason} ({where})",
    )


def explain_ambiguities(policy: Policy) -> str:
    """Why nothing runs under this policy, as one sentence."""
    reported = [
        describe_ambiguity(ambiguity, "the table gets no action until then")
        for ambiguity in policy.ambiguities
    ]
    return "; ".join(f"{problem.source}: {problem.message}" for problem in reported)


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
