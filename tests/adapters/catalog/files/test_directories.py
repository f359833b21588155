from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pytest

from maintainer.adapters.catalog.files import hdfs
from maintainer.adapters.catalog.files.hdfs import walk


@dataclass(frozen=True)
class Entry:
    path: str
    isdir: bool = False


class Tree:
    """Directories by their paths; how many are being listed at once is remembered."""

    def __init__(self, *files: str) -> None:
        self.files = set(files)
        self.gone: set[str] = set()
        self.listed: list[str] = []

    def list_directory(self, path: str) -> Iterator[Sequence[Entry]]:
        self.listed.append(path)
        if path in self.gone:
            raise FileNotFoundError(path)
        below = {
            file.removeprefix(f"{path}/").partition("/")[::2]
            for file in self.files
            if file.startswith(f"{path}/")
        }
        for name, rest in sorted({(name, bool(rest)) for name, rest in below}):
            yield [Entry(f"{path}/{name}", isdir=rest)]


def found(tree: Tree, workers: int = 3) -> list[str]:
    return [entry.path for page in walk(tree.list_directory, "/t", workers) for entry in page]


DEEP = (
    "/t/a",
    "/t/data/p=1/b",
    "/t/data/p=1/c",
    "/t/data/p=2/x/y/z/d",
    "/t/metadata/e",
    *(f"/t/data/h{number}/f" for number in range(50)),
)


@pytest.mark.parametrize("room", [1, 10_000])
def test_every_file_is_found_once_however_few_directories_may_wait(
    room: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hdfs, "DIRECTORIES_AHEAD", room)
    tree = Tree(*DEEP)
    assert sorted(found(tree)) == sorted(DEEP)
    assert len(tree.listed) == len(set(tree.listed)), "no directory twice"


def test_an_empty_place_has_no_files() -> None:
    assert found(Tree()) == []


def test_a_directory_that_goes_meanwhile_has_no_files_but_the_place_itself_must_be_there() -> None:
    tree = Tree(*DEEP)
    tree.gone = {"/t/data/p=1"}
    assert sorted(found(tree)) == sorted(path for path in DEEP if "/p=1/" not in path)
    tree.gone = {"/t"}
    with pytest.raises(FileNotFoundError):
        found(tree)


def test_a_directory_that_cannot_be_listed_fails_all_of_it() -> None:
    class Closed(Tree):
        def list_directory(self, path: str) -> Iterator[Sequence[Entry]]:
            if path == "/t/metadata":
                message = "Permission denied"
                raise PermissionError(message)
            return super().list_directory(path)

    with pytest.raises(PermissionError):
        found(Closed(*DEEP))


def test_directories_are_listed_concurrently() -> None:
    together = threading.Barrier(3, timeout=10)

    class Slow(Tree):
        def list_directory(self, path: str) -> Iterator[Sequence[Entry]]:
            if path != "/t":
                together.wait()  # breaks unless three are at it at once
            return super().list_directory(path)

    assert len(found(Slow("/t/a/1", "/t/b/2", "/t/c/3"), workers=3)) == 3


def test_the_caller_can_end_the_walk() -> None:
    before = set(threading.enumerate())
    tree = Tree(*(f"/t/{number}/x" for number in range(500)))
    pages = walk(tree.list_directory, "/t", 2)
    next(pages)
    pages.close()  # type: ignore[attr-defined] # it is a generator
    assert set(threading.enumerate()) <= before, "closing waits for those who look"
    assert len(tree.listed) < 500, "what nobody reads is not listed to its end"
