"""What counts as a change of a table, for rules whose last run came to nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.decide.circumstances import digest_state
from maintainer.domain.health import SnapshotStamp, TableHealth
from maintainer.domain.inventory import Ref
from tests.samples import NOW, health_of_partitions

OLD = SnapshotStamp(1, None, NOW - timedelta(hours=1))
TABLE = replace(
    health_of_partitions({"day=1": [1000] * 60}),
    snapshot_id=1,
    history=(OLD,),
    refs=(Ref("main", 1, is_branch=True),),
    properties={"owner": "ada", "nessie.commit.id": "a1"},
)


def with_refs(*refs: Ref) -> TableHealth:
    return replace(TABLE, refs=(*TABLE.refs, *refs))


def test_what_a_job_does_beside_its_work_is_no_change() -> None:
    tagged = replace(
        with_refs(Ref("maintainer-before-m-1", 1, is_branch=False, max_ref_age_ms=60_000)),
        metadata_location="s3://lake/2.json",
        tags=1,
    )
    assert digest_state(tagged) == digest_state(TABLE)
    measured_again = replace(TABLE, measured_at=NOW + timedelta(hours=6), commits_per_hour=0.5)
    assert digest_state(measured_again) == digest_state(TABLE)
    nessie = replace(TABLE, properties={"nessie.commit.id": "b2", "owner": "ada"})
    assert digest_state(nessie) == digest_state(TABLE), (
        "Nessie writes it anew when any table is committed to"
    )


@pytest.mark.parametrize(
    "changed",
    [
        replace(TABLE, table_uuid="another"),
        replace(TABLE, snapshot_id=2),
        replace(TABLE, snapshot_id=None),
        replace(TABLE, history=(OLD, SnapshotStamp(2, 1, NOW))),
        replace(TABLE, format_version=TABLE.format_version + 1),
        replace(TABLE, default_spec_id=TABLE.default_spec_id + 1),
        replace(TABLE, sort_order="a"),
        replace(TABLE, sort_order="b"),
        replace(TABLE, properties={**TABLE.properties, "write.target-file-size-bytes": "1048576"}),
        replace(TABLE, properties={**TABLE.properties, "owner": "bob"}),
        with_refs(Ref("audit", 1, is_branch=True)),
        with_refs(Ref("release", 1, is_branch=False)),
        with_refs(Ref("maintainer-pin-ada", 1, is_branch=False)),
        with_refs(Ref("maintainer-before-m-1", 1, is_branch=True)),
        replace(TABLE, refs=(Ref("main", 1, is_branch=True, min_snapshots_to_keep=9),)),
    ],
)
def test_what_others_do_to_a_table_is_a_change(changed: TableHealth) -> None:
    assert digest_state(changed) != digest_state(TABLE)
