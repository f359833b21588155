"""Digests that are added beside others."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

from maintainer.domain.inventory import ManifestContent, ManifestDigest
from maintainer.ports.store import Store
from tests.adapters.store.values import MINUTE, NOW, ORDERS_UUID, make_grade, make_health


def digest(path: str, length: int = 1) -> ManifestDigest:
    return ManifestDigest(path, length, 0, ManifestContent.DATA, 1)


def known(store: Store, target: int = 512) -> list[tuple[str, int]]:
    return sorted(
        (path, found.length_bytes)
        for path, found in store.digests(ORDERS_UUID, ["a", "b", "c"], target).items()
    )


def test_added_digests_stand_beside_those_that_are_there(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    store.record_digests(ORDERS_UUID, 512, [digest("a")])
    store.add_digests(ORDERS_UUID, 512, [digest("b"), digest("c")], NOW)
    assert known(store) == [("a", 1), ("b", 1), ("c", 1)]


def test_an_added_digest_takes_the_place_of_an_older_one_of_its_manifest(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    store.record_digests(ORDERS_UUID, 512, [digest("a"), digest("b")])
    store.add_digests(ORDERS_UUID, 512, [digest("a", 2), digest("a", 2)], NOW)
    assert known(store) == [("a", 2), ("b", 1)]


def test_an_added_digest_of_another_target_takes_the_place_too(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    store.record_digests(ORDERS_UUID, 256, [digest("a")])
    store.add_digests(ORDERS_UUID, 512, [digest("a")], NOW)
    assert (known(store, 256), known(store, 512)) == ([], [("a", 1)])


def test_digests_of_a_table_that_was_never_measured_are_kept(store: Store) -> None:
    store.add_digests(ORDERS_UUID, 512, (digest(path) for path in "ab"), NOW)
    store.record_health(make_health(), make_grade())
    assert known(store) == [("a", 1), ("b", 1)]


def test_recording_drops_what_was_added_and_is_no_longer_named(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    store.add_digests(ORDERS_UUID, 512, [digest("a"), digest("b")], NOW)
    store.record_digests(ORDERS_UUID, 512, [digest("b")])
    assert known(store) == [("b", 1)]


def test_a_manifest_that_was_read_again_takes_the_place_of_what_was_known_of_it(
    store: Store,
) -> None:
    before, after = (
        replace(digest("a"), entries_read=3),
        replace(digest("a"), entries_read=3, files=b"packed", lists_files=True),
    )
    store.record_digests(ORDERS_UUID, 512, [before])
    store.record_digests(ORDERS_UUID, 512, [after])
    assert store.digests(ORDERS_UUID, ["a"], 512) == {"a": after}
    store.record_digests(ORDERS_UUID, 512, [replace(after, entries_read=0)])
    assert store.digests(ORDERS_UUID, ["a"], 512) == {"a": after}, "what was recalled is as it was"


def test_what_was_read_of_tables_that_were_never_measured_is_dropped_with_age(store: Store) -> None:
    store.add_digests(ORDERS_UUID, 512, [digest("a"), digest("b")], NOW)
    store.record_health(make_health(table_uuid="another"), make_grade())
    assert store.prune_digests(NOW) == 0
    store.add_digests(ORDERS_UUID, 512, [digest("c")], NOW + MINUTE)
    assert store.prune_digests(NOW + MINUTE) == 0, (
        "its last portion is as old as the oldest that is kept"
    )
    assert known(store) == [("a", 1), ("b", 1), ("c", 1)]
    assert store.prune_digests(NOW + 2 * MINUTE) == 3
    assert known(store) == []


def test_what_is_known_of_measured_tables_is_never_dropped_with_age(store: Store) -> None:
    store.record_health(make_health(), make_grade())
    store.record_digests(ORDERS_UUID, 512, [digest("a")])
    store.add_digests(ORDERS_UUID, 512, [digest("b")], NOW)
    store.add_digests("other", 512, [digest("a")], NOW)
    store.record_digests("other", 512, [digest("a")])
    assert store.prune_digests(NOW + MINUTE) == 0
    assert known(store) == [("a", 1), ("b", 1)]
    assert set(store.digests("other", ["a"], 512)) == {"a"}


def test_two_readings_of_one_table_do_not_stand_in_each_others_way(store: Store) -> None:
    many = [digest(f"s3://lake/{number}.avro") for number in range(200)]

    def add(start: int) -> None:
        for first in range(0, len(many), 20):
            store.add_digests(ORDERS_UUID, 512, many[first : first + 20][::start], NOW)

    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(add, (1, -1, 1, -1))) == [None] * 4
    assert len(store.digests(ORDERS_UUID, [one.path for one in many], 512)) == 200


def test_what_two_daemons_measure_in_the_same_moment_is_recorded_once(store: Store) -> None:
    digests = [digest(f"m{number:02}") for number in range(50)]
    for turn in range(5):
        together = Barrier(2)

        def record(table_uuid: str, together: Barrier = together) -> None:
            together.wait(timeout=60)
            store.record_digests(table_uuid, 512, digests)

        with ThreadPoolExecutor(2) as pool:
            for done in [pool.submit(record, f"uuid-{turn}") for _ in range(2)]:
                done.result(timeout=60)
        assert len(store.digests(f"uuid-{turn}", [one.path for one in digests], 512)) == len(
            digests
        )
