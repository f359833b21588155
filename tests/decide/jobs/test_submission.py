"""A rollback is checked for its table alone; what else is asked is the chapters' answer."""

from __future__ import annotations

from maintainer.decide.jobs.submission import check_before_submit
from maintainer.domain.action import (
    ExpireSnapshots,
    RemoveOrphanFiles,
    RewriteDataFiles,
    RewriteManifests,
    RollBack,
    orphans_of,
    where_of,
)
from maintainer.procedures.registry import chapter_of
from tests.samples import NOW, UUID, health_of_partitions

LOCKED = health_of_partitions({}, properties={"gc.enabled": "false"})


def test_a_rollback_deletes_no_file_and_may_run_on_a_table_that_forbids_it() -> None:
    assert check_before_submit(RollBack(1, "m-1", 2), LOCKED, UUID) is None
    assert check_before_submit(ExpireSnapshots(NOW, 2), LOCKED, UUID) is not None
    assert "was replaced" in str(check_before_submit(RollBack(1, "m-1", 2), LOCKED, "another"))


def test_only_a_removal_of_orphan_files_can_restore() -> None:
    rewrite = RewriteManifests(0)
    assert not chapter_of(rewrite.procedure).restores(rewrite)
    removal = RemoveOrphanFiles(NOW, "s3://lake/orders")
    assert (orphans_of(removal), orphans_of(rewrite)) == (removal, None)


def test_only_a_rewrite_of_files_has_a_condition_for_its_rows() -> None:
    assert where_of(RewriteDataFiles(where="a = 1")) == "a = 1"
    assert where_of(RewriteManifests(0)) is None
