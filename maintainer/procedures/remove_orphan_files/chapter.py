"""The chapter of remove_orphan_files."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from maintainer.domain.action import Disposal, RemoveOrphanFiles
from maintainer.domain.condition_tokens import quote_text
from maintainer.domain.cost import Benefit
from maintainer.domain.effect import Effect
from maintainer.domain.health import TableHealth
from maintainer.domain.orphan import LISTING_VIEW, OrphanList, quarantine_of, view_of
from maintainer.domain.plan import Estimate
from maintainer.domain.policy import Approval
from maintainer.domain.rules import RemoveOrphanFilesRule
from maintainer.domain.units import format_duration, format_size
from maintainer.estimate.cost import FILE_WEIGHT, Pace
from maintainer.estimate.floors import Refusal
from maintainer.procedures.call import write_options, write_timestamp
from maintainer.procedures.procedure import (
    Argument,
    Chapter,
    Gain,
    KnownFault,
    Situation,
)
from maintainer.procedures.remove_orphan_files.approval import describe_disposal, find_disposal
from maintainer.procedures.remove_orphan_files.scan import refuse_orphans, wants_restore

_LISTED_BY_PREFIX = ("s3://", "gs://", "abfs://", "abfss://", "oss://")


class RemoveOrphanFilesChapter(Chapter[RemoveOrphanFilesRule, RemoveOrphanFiles]):
    """Lists files that the table does not reference, and removes those of an approved list."""

    rule = RemoveOrphanFilesRule
    doing = "Removing orphan files"
    first_pace = Pace(30.0, 0.5)
    needs_newest_state = True
    faults = (
        KnownFault(
            (1, 11, 0),
            "remove_orphan_files has no stream_results, without which no list of files is removed",
            # apache/iceberg 14278
        ),
    )

    def only_restores(self, situation: Situation) -> bool:
        return wants_restore(situation.surroundings)

    def refuse(
        self, rule: RemoveOrphanFilesRule, health: TableHealth, situation: Situation
    ) -> Refusal | None:
        if self.only_restores(situation):
            return None
        return refuse_orphans(rule, health, situation.surroundings, situation.now)

    def restores(self, action: RemoveOrphanFiles) -> bool:
        return action.approved is not None and action.approved.disposal is Disposal.RESTORE

    def takes_away(self, action: RemoveOrphanFiles) -> bool:
        return not self.restores(action)

    def find_gain(
        self, rule: RemoveOrphanFilesRule, health: TableHealth, situation: Situation
    ) -> Gain:
        around = situation.surroundings
        lists = around.lists if around is not None else ()
        removal = _find_removal(rule, health, lists, situation.now)
        return removal or _find_scan(rule, health, situation.now)

    def measure_work(self, estimate: Estimate, health: TableHealth) -> float:
        return float(estimate.bytes_rewritten)

    def find_benefit(self, estimate: Estimate) -> Benefit:
        return Benefit(value=FILE_WEIGHT * estimate.items_removed)

    def write_arguments(self, action: RemoveOrphanFiles) -> list[Argument]:
        """Write a dry run, or the deletion of exactly the files in an approved list's view.

        A path with another prefix than the table's own paths must be an error.
        """
        approved = action.approved
        deletes = approved is not None and approved.disposal in {Disposal.DELETE, Disposal.EMPTY}
        fixed = [
            ("older_than", write_timestamp(action.older_than, action.procedure)),
            ("dry_run", str(not deletes).lower()),
        ]
        fixed.append(("prefix_mismatch_mode", quote_text("ERROR")))
        own = (
            action.location.rstrip("/") + "/"
            # A view's paths are compared with startsWith. Without the slash at its end the location
            # would also match neighbouring directories.
        )
        if approved is None:
            listing = (
                [("location", quote_text(own)), ("file_list_view", quote_text(LISTING_VIEW))]
                if action.is_listed
                else []
            )
            listed_so = tuple(
                option for option in action.options if option[0] != "max_concurrent_deletes"
            )  # a dry run deletes nothing
            return [*fixed, *listing, *write_options(action.procedure, listed_so)]
        place = (
            quarantine_of(action.location, approved.list_id)
            if approved.disposal is Disposal.EMPTY
            else own
        )
        listed = [
            ("location", quote_text(place)),
            ("file_list_view", quote_text(view_of(approved))),
        ]
        if not deletes:
            return [*fixed, *listed]
        threads = tuple(
            option for option in action.options if option[0] == "max_concurrent_deletes"
        )
        return [
            *fixed,
            *listed,
            *write_options(action.procedure, threads),
            ("stream_results", "true"),
        ]  # the rows of the result are then a sample

    def describe(self, effect: Effect) -> str:
        return "Orphan files were listed; nothing was deleted."


def _find_removal(
    rule: RemoveOrphanFilesRule,
    health: TableHealth,
    lists: Iterable[OrphanList],
    now: datetime,
) -> Gain | None:
    """The next job for an orphan list with a decision; None when there is none."""
    found = find_disposal(lists, rule, health, now)
    if found is None:
        return None
    orphans, approved = found
    action = RemoveOrphanFiles(orphans.older_than, health.location, rule.options, approved)
    frees = approved.disposal in {Disposal.DELETE, Disposal.EMPTY}
    estimate = Estimate(
        orphans.files,
        0,
        orphans.files,
        0,
        note=f"{format_size(orphans.bytes)} would be freed" if frees else "",
    )
    return Gain(
        action,
        estimate,
        is_worthwhile=True,
        sentence=describe_disposal(orphans, approved.disposal),
        is_continued=True,
    )


def _find_scan(rule: RemoveOrphanFilesRule, health: TableHealth, now: datetime) -> Gain:
    age = rule.older_than
    # The time is rounded to the full hour, so that the same work has the same statement.
    action = RemoveOrphanFiles(
        (now - age).replace(minute=0, second=0, microsecond=0),
        health.location,
        _listing_options(rule, health),
    )
    sentence = (
        f"files older than {format_duration(age)} that the table does not reference would be listed"
    )
    sentence += (
        ", and are removed without an approval"
        if rule.approval is Approval.AUTOMATIC
        else "; nothing is deleted before a person approves the list"
    )
    return Gain(
        action,
        Estimate(0, 0, 0, 0, note="a dry run: what it finds is listed"),
        is_worthwhile=True,
        sentence=sentence,
    )


def _listing_options(
    rule: RemoveOrphanFilesRule, health: TableHealth
) -> tuple[tuple[str, str], ...]:
    """The rule's options on listing.

    A storage that Hadoop only lists with a separate connector is listed by the table's own access,
    unless the rule says otherwise.
    """
    if any(
        name == "prefix_listing" for name, _ in rule.options
    ) or not health.location.lower().startswith(_LISTED_BY_PREFIX):
        return rule.options
    return (*rule.options, ("prefix_listing", "true"))
