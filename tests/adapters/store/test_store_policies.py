from __future__ import annotations

from datetime import datetime

import pytest

from maintainer.domain.errors import InvalidValueError
from maintainer.domain.policy import PolicyProblem
from maintainer.domain.policy_version import PolicyVersion, WrittenLayer
from maintainer.ports.store import Store
from tests.adapters.store.values import MINUTE, NOW

LAYER = WrittenLayer(
    "a.yaml",
    ("lake.*", "x.y.z"),
    (
        ("priority", "7", "policies/a.yaml:2"),
        ("rules.expire_snapshots.keep", "5", "policies/a.yaml:4"),
    ),
)
PROBLEM = PolicyProblem("policies/b.yaml:3", "priority is 101, over the greatest value 100")


def version(
    name: str, at: datetime = NOW, *layers: WrittenLayer, problems: tuple[PolicyProblem, ...] = ()
) -> PolicyVersion:
    return PolicyVersion(name, at, at, len(layers), problems, layers)


def names(store: Store) -> list[str]:
    return [one.version for one in store.policy_versions().items]


def test_a_version_is_kept_with_what_its_files_say(store: Store) -> None:
    kept = version("abc", NOW, LAYER, problems=(PROBLEM,))
    assert store.record_policies(kept)
    assert store.policy_version("abc") == kept
    assert store.policy_version("abd") is None


def test_a_list_has_no_layers_but_their_number(store: Store) -> None:
    store.record_policies(version("abc", NOW, LAYER, problems=(PROBLEM,)))
    (listed,) = store.policy_versions().items
    assert (listed.version, listed.layers, listed.layer_count, listed.problems) == (
        "abc",
        (),
        1,
        (PROBLEM,),
    )


def test_the_version_in_force_is_not_kept_again(store: Store) -> None:
    assert store.record_policies(version("abc", NOW, LAYER))
    assert not store.record_policies(version("abc", NOW + MINUTE, LAYER))
    (listed,) = store.policy_versions().items
    assert (listed.first_seen_at, listed.last_seen_at) == (NOW, NOW)


def test_new_problems_of_the_same_files_are_reported(store: Store) -> None:
    store.record_policies(version("abc", NOW, LAYER))
    assert store.record_policies(version("abc", NOW + MINUTE, LAYER, problems=(PROBLEM,)))
    (listed,) = store.policy_versions().items
    assert listed.problems == (PROBLEM,)
    assert (listed.first_seen_at, listed.last_seen_at) == (NOW, NOW + MINUTE)


def test_a_version_that_comes_back_is_in_force_again_and_was_first_seen_before(
    store: Store,
) -> None:
    for minute, name in enumerate(["a", "b", "a"]):
        assert store.record_policies(version(name, NOW + minute * MINUTE, LAYER))
    assert names(store) == ["a", "b"]
    newest = store.policy_versions().items[0]
    assert (newest.first_seen_at, newest.last_seen_at) == (NOW, NOW + 2 * MINUTE)


def test_versions_are_paged_from_the_one_in_force(store: Store) -> None:
    for minute in range(5):
        store.record_policies(version(f"v{minute}", NOW + minute * MINUTE))
    first = store.policy_versions(2)
    second = store.policy_versions(2, first.next_cursor)
    last = store.policy_versions(2, second.next_cursor)
    assert [[one.version for one in page.items] for page in (first, second, last)] == [
        ["v4", "v3"],
        ["v2", "v1"],
        ["v0"],
    ]
    assert (first.total, last.next_cursor) == (5, None)
    for bad in (0, 1001):
        with pytest.raises(InvalidValueError):
            store.policy_versions(bad)
    with pytest.raises(InvalidValueError):
        store.policy_versions(2, "nonsense")


def test_only_so_many_versions_are_kept(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (
        "maintainer.adapters.store.policy_versions",
        "tests.fakes.adapters.store_policies",
    ):
        monkeypatch.setattr(f"{module}.MAX_POLICY_VERSIONS", 3)
    for minute, name in enumerate(["a", "b", "c", "a", "d"]):
        store.record_policies(version(name, NOW + minute * MINUTE))
    assert names(store) == ["d", "a", "c"]
