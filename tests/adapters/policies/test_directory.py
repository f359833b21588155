from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from time import monotonic

import pytest

from maintainer.adapters.policies import directory
from maintainer.adapters.policies.directory import PolicyDirectory
from maintainer.adapters.policies.reading import parse_policy
from maintainer.domain.policy import PolicyLayer, PolicySet
from maintainer.ports.policies import Policies
from tests.fakes.adapters.policies import FakePolicies


def write(path: Path, text: str) -> None:
    """As editors do: a new file takes the old one's name."""
    path.with_suffix(".new").write_text(text)
    path.with_suffix(".new").replace(path)


def keep_of(policies: PolicySet, name: str = "a.yaml") -> object:
    layer = next((layer for layer in policies.layers if layer.name == name), None)
    return layer.settings["rules.expire_snapshots.keep"].value if layer else None


def policy(keep: object) -> str:
    return f"tables: lake.*\nrules:\n  expire_snapshots: {{keep: {keep}}}\n"


def layer(name: str, text: str) -> PolicyLayer:
    parsed = parse_policy(text, name, f"policies/{name}")
    assert isinstance(parsed, PolicyLayer)
    return parsed


# One behaviour suite for the fake and the real thing.


def make_real(tmp_path: Path, files: dict[str, str]) -> Policies:
    (tmp_path / "policies").mkdir()
    for name, text in files.items():
        (tmp_path / "policies" / name).write_text(text)
    return PolicyDirectory(tmp_path / "policies")


def make_fake(_tmp_path: Path, files: dict[str, str]) -> Policies:
    return FakePolicies(*(layer(name, text) for name, text in files.items()))


@pytest.fixture(params=[make_real, make_fake])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[dict[str, str]], Policies]:
    return lambda files: request.param(tmp_path, files)


def test_every_file_is_a_layer_in_the_order_of_names(
    make: Callable[[dict[str, str]], Policies],
) -> None:
    current = make({"b.yaml": policy(3), "a.yaml": policy(4), "c.yml": policy(5)}).current()
    assert current.layers == (
        layer("a.yaml", policy(4)),
        layer("b.yaml", policy(3)),
        layer("c.yml", policy(5)),
    )
    assert current.problems == ()


def test_without_files_there_are_no_layers_and_no_problems(
    make: Callable[[dict[str, str]], Policies],
) -> None:
    current = make({}).current()
    assert (current.layers, current.problems) == ((), ())


def test_the_version_stays_while_nothing_changes_and_differs_with_the_content(
    make: Callable[[dict[str, str]], Policies],
) -> None:
    policies = make({"a.yaml": policy(4)})
    assert policies.current() == policies.current()
    assert policies.current().version != FakePolicies(layer("a.yaml", policy(5))).current().version


# The directory alone.


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "policies").mkdir()
    return tmp_path / "policies"


def test_changed_added_and_removed_files_are_noticed(path: Path) -> None:
    policies = PolicyDirectory(path)
    write(path / "a.yaml", policy(4))
    assert keep_of(policies.current()) == 4
    write(path / "a.yaml", policy(5))
    write(path / "b.yaml", policy(6))
    assert (keep_of(policies.current()), keep_of(policies.current(), "b.yaml")) == (5, 6)
    (path / "a.yaml").unlink()
    assert [layer.name for layer in policies.current().layers] == ["b.yaml"]


def test_a_change_that_keeps_size_and_modification_time_is_noticed(path: Path) -> None:
    policies = PolicyDirectory(path)
    write(path / "a.yaml", policy(4))
    before = (path / "a.yaml").stat()
    assert keep_of(policies.current()) == 4
    deadline = monotonic() + 5
    while (
        (path / "a.yaml").stat().st_ctime_ns == before.st_ctime_ns
    ):  # the file system's clock ticks every few milliseconds
        assert monotonic() < deadline
        (path / "a.yaml").write_text(policy(5))
        os.utime(path / "a.yaml", ns=(before.st_atime_ns, before.st_mtime_ns))
    after = (path / "a.yaml").stat()
    assert (after.st_mtime_ns, after.st_size, after.st_ino) == (
        before.st_mtime_ns,
        before.st_size,
        before.st_ino,
    )
    assert keep_of(policies.current()) == 5


class ConfigMap:
    """A volume as the kubelet makes it: links through ..data to a hidden directory, which is
    swapped and then removed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._number = 0

    def publish(self, **files: str) -> None:
        self._number += 1
        place = self.path / f"..2026_11_21_12_00_{self._number:02}.1234567890"
        place.mkdir()
        for name, text in files.items():
            (place / f"{name}.yaml").write_text(text)
        before = (self.path / "..data").resolve() if self._number > 1 else None
        (self.path / "..data_tmp").symlink_to(place.name)
        (self.path / "..data_tmp").rename(self.path / "..data")
        for name in files:
            if not (self.path / f"{name}.yaml").is_symlink():
                (self.path / f"{name}.yaml").symlink_to(f"..data/{name}.yaml")
        for link in self.path.glob("*.yaml"):
            if link.stem not in files:
                link.unlink()
        if before is not None:
            shutil.rmtree(before)


def keeps(policies: PolicySet) -> dict[str, object]:
    return {
        layer.name: layer.settings["rules.expire_snapshots.keep"].value for layer in policies.layers
    }


def test_a_mounted_config_map_is_read_once_and_its_swap_is_noticed(path: Path) -> None:
    volume = ConfigMap(path)
    volume.publish(a=policy(4), b=policy(4))
    policies = PolicyDirectory(path)
    assert keeps(policies.current()) == {"a.yaml": 4, "b.yaml": 4}
    assert (
        policies.current().layers[0].settings["rules.expire_snapshots.keep"].source
        == "policies/a.yaml:3"
    )
    volume.publish(a=policy(5), c=policy(5))
    assert keeps(policies.current()) == {"a.yaml": 5, "c.yaml": 5}


@pytest.mark.parametrize(
    "is_removed",
    [True, False],
    ids=["the old directory is gone", "the old directory is still there"],
)
def test_a_swap_of_files_during_a_reading_never_mixes_both_sets(
    path: Path, monkeypatch: pytest.MonkeyPatch, is_removed: bool
) -> None:
    volume = ConfigMap(path)
    volume.publish(a=policy(4), b=policy(4))
    if not is_removed:
        monkeypatch.setattr(shutil, "rmtree", lambda _: None)
    keep = [5]

    def swap_while_parsing(text: str, name: str, source: str) -> object:
        if keep:
            number = keep.pop()
            volume.publish(a=policy(number), b=policy(number))
        return parse_policy(text, name, source)

    monkeypatch.setattr(directory, "parse_policy", swap_while_parsing)
    policies = PolicyDirectory(path)
    assert keeps(policies.current()) == {"a.yaml": 5, "b.yaml": 5}
    keep.append(6)
    volume.publish(a=policy(7), b=policy(7))
    assert keeps(policies.current()) == {"a.yaml": 6, "b.yaml": 6}
    assert policies.current().problems == ()


def test_a_directory_that_is_swapped_without_end_keeps_its_last_good_set(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    volume = ConfigMap(path)
    volume.publish(a=policy(4), b=policy(4))
    policies = PolicyDirectory(path)
    good = policies.current()

    def swap_while_parsing(text: str, name: str, source: str) -> object:
        volume.publish(a=text + "# again", b=text + "# again")
        return parse_policy(text, name, source)

    monkeypatch.setattr(directory, "parse_policy", swap_while_parsing)
    volume.publish(a=policy(5), b=policy(5))
    current = policies.current()
    assert current.layers == good.layers
    assert (
        f"it was swapped {directory.MAXIMUM_SWAPS} times while it was read"
        in current.problems[0].message
    )


def test_a_link_to_a_directory_that_is_swapped_is_read_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (4, 5):
        (tmp_path / f"revision-{number}").mkdir()
        for name in ("a", "b"):
            (tmp_path / f"revision-{number}" / f"{name}.yaml").write_text(policy(number))
    (tmp_path / "policies").symlink_to("revision-4")

    def swap_while_parsing(text: str, name: str, source: str) -> object:
        (tmp_path / "new").symlink_to("revision-5")
        (tmp_path / "new").replace(tmp_path / "policies")
        return parse_policy(text, name, source)

    monkeypatch.setattr(directory, "parse_policy", swap_while_parsing)
    assert keeps(PolicyDirectory(tmp_path / "policies").current()) == {"a.yaml": 5, "b.yaml": 5}


def test_unchanged_files_are_not_read_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def parse(text: str, name: str, source: str) -> object:
        read.append(name)
        return parse_policy(text, name, source)

    monkeypatch.setattr(directory, "parse_policy", parse)
    write(path / "a.yaml", policy(4))
    write(path / "b.yaml", policy(4))
    policies = PolicyDirectory(path)
    first = policies.current()
    assert policies.current() is first
    write(path / "b.yaml", policy(5))
    policies.current()
    assert read == ["a.yaml", "b.yaml", "b.yaml"]


def test_a_bad_file_keeps_its_last_good_layer_and_is_shown_until_it_is_good_again(
    path: Path,
) -> None:
    policies = PolicyDirectory(path)
    write(path / "a.yaml", policy(4))
    good = policies.current()
    write(path / "a.yaml", policy(1))
    bad = policies.current()
    assert keep_of(bad) == 4
    assert [(problem.source, problem.message) for problem in bad.problems] == [
        ("policies/a.yaml:3", "rules.expire_snapshots.keep is 1, under the floor 2")
    ]
    assert bad.version == good.version
    assert policies.current() is bad
    write(path / "a.yaml", policy(6))
    assert (keep_of(policies.current()), policies.current().problems) == (6, ())


def test_a_file_that_was_never_good_is_only_a_problem(path: Path) -> None:
    write(path / "a.yaml", policy(1))
    write(path / "b.yaml", policy(7))
    current = PolicyDirectory(path).current()
    assert [layer.name for layer in current.layers] == ["b.yaml"]
    assert len(current.problems) == 1


def test_bytes_that_are_not_text_are_a_problem(path: Path) -> None:
    (path / "a.yaml").write_bytes(b"tables: \xff")
    assert [problem.message for problem in PolicyDirectory(path).current().problems] == [
        "is not UTF-8 text: byte 0xff at position 8"
    ]


def test_a_link_to_nothing_is_a_problem(path: Path) -> None:
    (path / "a.yaml").symlink_to("nowhere.yaml")
    assert [problem.message for problem in PolicyDirectory(path).current().problems] == [
        "cannot be read: No such file or directory"
    ]


def test_hidden_files_other_suffixes_and_directories_are_left_alone(path: Path) -> None:
    write(path / ".a.yaml", "nonsense")
    (path / "a.yaml~").write_text("nonsense")
    (path / "schema.json").write_text("{}")
    (path / "b.yaml").mkdir()
    current = PolicyDirectory(path).current()
    assert (current.layers, current.problems) == ((), ())


def test_a_missing_directory_is_a_problem_and_its_files_are_taken_when_it_comes(
    tmp_path: Path,
) -> None:
    path = tmp_path / "policies"
    policies = PolicyDirectory(path)
    problem = policies.current().problems[0]
    assert (problem.source, problem.message) == (
        "policies",
        (
            f"the policy directory {path} cannot be read (No such file or directory); only the "
            f"built-in default is in force"
        ),
    )
    path.mkdir()
    write(path / "a.yaml", policy(4))
    assert (keep_of(policies.current()), policies.current().problems) == (4, ())


def test_a_directory_that_vanishes_keeps_the_last_good_layers(path: Path) -> None:
    policies = PolicyDirectory(path)
    write(path / "a.yaml", policy(4))
    policies.current()
    path.rename(path.with_name("moved"))
    current = policies.current()
    assert keep_of(current) == 4
    assert current.problems[0].message.endswith("its last good files stay in force")
    assert policies.current() is current


def test_a_file_in_the_place_of_the_directory_is_a_problem(tmp_path: Path) -> None:
    (tmp_path / "policies").write_text("tables: x")
    assert "Not a directory" in PolicyDirectory(tmp_path / "policies").current().problems[0].message


def test_more_files_than_the_limit_are_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directory, "MAXIMUM_FILES", 2)
    for name in "abc":
        write(path / f"{name}.yaml", policy(4))
    current = PolicyDirectory(path).current()
    assert [layer.name for layer in current.layers] == ["a.yaml", "b.yaml"]
    assert [problem.message for problem in current.problems] == [
        "3 policy files, over the limit of 2; those after b.yaml are not used"
    ]
