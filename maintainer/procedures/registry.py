"""The only place that names all procedures. Their order is the order of execution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from maintainer.domain.action import Action, JobAction, Procedure, RollBack
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.policy import RuleName
from maintainer.procedures.call import write_call
from maintainer.procedures.compute_partition_stats import ComputePartitionStatsChapter
from maintainer.procedures.compute_table_stats import ComputeTableStatsChapter
from maintainer.procedures.expire_snapshots import ExpireSnapshotsChapter
from maintainer.procedures.procedure import Chapter
from maintainer.procedures.remove_orphan_files.chapter import RemoveOrphanFilesChapter
from maintainer.procedures.rewrite_data_files.chapter import RewriteDataFilesChapter
from maintainer.procedures.rewrite_manifests import RewriteManifestsChapter
from maintainer.procedures.rewrite_position_delete_files import RewritePositionDeleteFilesChapter

_ALL: Final[tuple[Chapter[Any, Any], ...]] = (
    RewriteDataFilesChapter(),
    RewritePositionDeleteFilesChapter(),
    RewriteManifestsChapter(),
    ComputeTableStatsChapter(),
    ComputePartitionStatsChapter(),
    ExpireSnapshotsChapter(),
    RemoveOrphanFilesChapter(),
)
CHAPTERS: Final[Mapping[RuleName, Chapter[Any, Any]]] = {one.name: one for one in _ALL}


def chapter_of(procedure: Procedure) -> Chapter[Any, Any]:
    """The chapter of a procedure."""
    return CHAPTERS[RuleName(procedure)]


def find_chapter(action: JobAction) -> Chapter[Any, Any] | None:
    """The chapter of the action's procedure; None for a repair, which is no procedure of a rule."""
    return None if isinstance(action, RollBack) else chapter_of(action.procedure)


def call_statement(table: TableIdentifier, action: Action) -> str:
    """Write the action's statement; InvalidValueError for an unknown option or an invalid value."""
    arguments = chapter_of(action.procedure).write_arguments(action)
    return write_call(table, action.procedure, arguments)
