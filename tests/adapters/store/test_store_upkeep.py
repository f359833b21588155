from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from maintainer.adapters.store import open_store
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.inventory import ManifestContent, ManifestDigest
from maintainer.ports.store import Store
from tests.adapters.store.values import (
    MINUTE,
    NOW,
    ORDERS,
    ORDERS_UUID,
    make_grade,
    make_health,
    make_plan,
)


def test_the_store_has_a_size_and_the_disk_of_a_file_has_free_space(store: Store) -> None:
    size = store.size()
    assert size.used_bytes > 0
    assert size.free_bytes is None or size.free_bytes > 0


def test_digests_are_exactly_those_recorded_last(store: Store) -> None:
    a, b, c = (
        ManifestDigest(f"s3://lake/{name}.avro", 10, 0, ManifestContent.DATA, 1) for name in "abc"
    )
    store.record_digests(ORDERS_UUID, 512, [a, b])
    store.record_digests(ORDERS_UUID, 512, [b, c])
    store.record_digests("other", 512, [a])

    assert store.digests(ORDERS_UUID, [a.path, b.path, c.path], 512) == {b.path: b, c.path: c}
    assert store.digests(ORDERS_UUID, [c.path, "unknown"], 512) == {c.path: c}
    assert store.digests(ORDERS_UUID, [], 512) == {}
    assert store.digests(ORDERS_UUID, [b.path], 1024) == {}
    assert store.digests("other", [a.path], 512) == {a.path: a}


def test_digests_under_another_target_replace_the_old_ones(store: Store) -> None:
    digest = ManifestDigest("s3://lake/a.avro", 10, 0, ManifestContent.DATA, 1)
    store.record_digests(ORDERS_UUID, 512, [digest])
    store.record_digests(ORDERS_UUID, 1024, [replace(digest, entries_read=5)])

    assert store.digests(ORDERS_UUID, [digest.path], 512) == {}
    assert store.digests(ORDERS_UUID, [digest.path], 1024) == {
        digest.path: replace(digest, entries_read=5)
    }


def test_thousands_of_digests_come_and_go(store: Store) -> None:
    many = [
        ManifestDigest(f"s3://lake/{number}.avro", 10, 0, ManifestContent.DATA, 1)
        for number in range(2500)
    ]
    store.record_digests(ORDERS_UUID, 512, many)
    found = store.digests(
        ORDERS_UUID, ["unknown", *(digest.path for digest in many), many[0].path], 512
    )
    assert (len(found), dict(found)) == (2500, {digest.path: digest for digest in many})
    assert ("unknown" in found, found.get("unknown"), found[many[1234].path]) == (
        False,
        None,
        many[1234],
    ), "in any order"

    store.record_digests(ORDERS_UUID, 512, many[:3])
    assert len(store.digests(ORDERS_UUID, [digest.path for digest in many], 512)) == 3


def test_the_latest_plan_of_a_known_table_is_kept(store: Store) -> None:
    store.record_plan(make_plan())
    assert store.plans() == ()

    store.record_health(make_health(), make_grade())
    store.record_plan(make_plan(version="v1"))
    store.record_plan(make_plan(version="v2"))
    assert [plan.policy_version for plan in store.plans()] == ["v2"]


def test_prune_keeps_the_latest_sample_of_each_known_table(store: Store) -> None:
    for minute in range(4):
        store.record_health(make_health(at=NOW + minute * MINUTE, data_files=minute), make_grade())
    store.record_health(make_health(table_uuid="other", at=NOW + 4 * MINUTE), make_grade())

    assert store.prune(NOW + timedelta(days=1), NOW)["samples"] == 4
    assert store.history(ORDERS, "data_files", NOW, NOW + timedelta(days=1)) == (
        (NOW + 4 * MINUTE, 10.0),
    )


def test_prune_deletes_only_what_is_older(store: Store) -> None:
    for minute in range(4):
        store.record_health(make_health(at=NOW + minute * MINUTE, data_files=minute), make_grade())

    assert store.prune(NOW + 2 * MINUTE, NOW)["samples"] == 2
    times = [at for at, _ in store.history(ORDERS, "data_files", NOW, NOW + timedelta(days=1))]
    assert [later - earlier for earlier, later in pairwise(times)] == [MINUTE]


def test_the_instance_id_stays_the_same(store: Store) -> None:
    assert store.instance_id() == store.instance_id() != ""
    assert store.describe()


def test_a_time_without_a_zone_is_refused(store_url: str) -> None:
    store = open_store(store_url)
    with pytest.raises(InvalidValueError, match="no time zone"):
        store.history(ORDERS, "data_files", NOW.replace(tzinfo=None), NOW)
    store.close()
