"""Limit a rewrite to a part of the work: first by partitions, then by a number of files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from maintainer.decide.rewrite.scope import choose_scope
from maintainer.domain.health import TableHealth
from maintainer.domain.policy import Rule
from maintainer.domain.rules import RewriteDataFilesRule
from maintainer.domain.units import format_size
from maintainer.estimate.rewrite_data_files import Place, PlannerOptions

MOST_FILES = "max-files-to-rewrite"


@dataclass(frozen=True, slots=True)
class Bounded:
    """The rule with the limits of its job, and the reason as text; empty: no limit was needed."""

    rule: Rule
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Slice:
    """The rule with a job of about this many bytes, and the size as text."""

    rule: RewriteDataFilesRule
    bytes: int
    amount: str


def take_at_most(
    most: int,
    rule: RewriteDataFilesRule,
    health: TableHealth,
    now: datetime,
    too_heavy: frozenset[Place] = frozenset(),
) -> Slice | None:
    """Limit a rewrite to `most` bytes.

    None where it is already below, or cannot be split. The policy's own values stay.
    """
    bounded = replace(rule, max_bytes_per_job=min(most, rule.max_bytes_per_job or most))
    scope = choose_scope(bounded, health, now, too_heavy)
    if scope.is_hot or scope.is_too_heavy or sum(group.bytes for group in scope.groups) <= most:
        return None
    taken = [
        group
        for group in scope.groups
        if scope.within is None or scope.within.intersection(group.places)
    ]
    files, size = sum(group.files for group in taken), sum(group.bytes for group in taken)
    # At least as many as Iceberg needs for a group, and two: a single file gains nothing.
    fitting = max(
        2, PlannerOptions.read(health, rule).min_input_files, most * files // max(1, size)
    )
    options = dict(rule.options)
    chosen = (
        int(options.setdefault(MOST_FILES, str(fitting)))
        if size > most or MOST_FILES in options
        else files
    )
    if chosen < files:
        size = size * chosen // files
        return Slice(
            replace(bounded, options=tuple(sorted(options.items()))),
            size,
            f"{chosen:,} files of {format_size(size)}",
        )
    # A few large files in the whole table: there is nothing to split.
    return Slice(bounded, size, format_size(size)) if scope.within is not None else None
