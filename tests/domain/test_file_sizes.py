from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from maintainer.domain.errors import InvalidValueError
from maintainer.domain.file_sizes import (
    FINEST_BITS,
    MAX_LISTED_SIZES,
    MIN_LISTED_SIZES,
    FileSizes,
    GatheredSizes,
    ListedFile,
    find_runs,
    list_limit,
    pack_files,
    path_key,
    unpack_files,
)

SIZES = st.lists(st.integers(0, 2**50), max_size=30)


def gather(parts: Iterable[FileSizes], limit: int, bits: int = FINEST_BITS) -> FileSizes:
    gathered = GatheredSizes()
    for part in parts:
        gathered.add(part, bits)
    gathered.shorten(limit, bits)
    return gathered.tell()


@given(SIZES)
def test_a_run_holds_sizes_that_differ_by_at_most_an_eighth(sizes: list[int]) -> None:
    runs = find_runs(sorted(sizes))
    assert sum(run.files for run in runs) == len(sizes)
    assert sum(run.bytes for run in runs) == sum(sizes)
    for run in runs:
        assert run.smallest * run.files <= run.bytes <= run.largest * run.files
        assert run.largest - run.smallest <= run.smallest / 8


@given(SIZES, st.integers(1, 5))
def test_runs_of_any_parts_add_up(sizes: list[int], parts: int) -> None:
    split = [
        FileSizes(runs=tuple(find_runs(sorted(sizes[start::parts])))) for start in range(parts)
    ]
    assert gather(split, 0) == FileSizes(runs=tuple(find_runs(sorted(sizes))))
    listed = [FileSizes(tuple(sizes[start::parts])) for start in range(parts)]
    assert gather(listed, 0).runs == tuple(find_runs(sorted(sizes)))


@given(SIZES, st.integers(0, 2))
def test_wider_runs_are_the_same_whether_made_so_or_widened_later(
    sizes: list[int], bits: int
) -> None:
    narrow = [FileSizes(runs=tuple(find_runs(sorted(sizes[start::2])))) for start in range(2)]
    gathered = GatheredSizes()
    for part in narrow:
        gathered.add(part)
    gathered.widen(bits)
    assert gathered.tell() == gather(narrow, 0, bits)
    runs = gathered.tell().runs
    assert (sum(run.files for run in runs), sum(run.bytes for run in runs)) == (
        len(sizes),
        sum(sizes),
    )
    assert all(run.largest - run.smallest <= run.smallest / 2**bits for run in runs)
    assert all(one.largest < other.smallest for one, other in pairwise(runs))


def test_few_sizes_stay_listed_in_their_order() -> None:
    parts = [FileSizes((3, 1)), FileSizes((2,)), FileSizes()]
    assert gather(parts, 3) == FileSizes((3, 1, 2))
    assert gather(parts, 2).listed == ()
    assert gather([FileSizes((3, 1))], 2) == FileSizes((3, 1))
    assert (gather(parts, 2).count, gather(parts, 3).bytes) == (3, 6)


def test_each_partition_lists_some_and_all_together_not_too_many() -> None:
    assert list_limit(0) == list_limit(1) == MAX_LISTED_SIZES
    assert list_limit(10_000) == list_limit(10_000, 10_000) == MIN_LISTED_SIZES
    assert list_limit(1_000, 250_000) == 250
    assert list_limit(10, 250_000) == MAX_LISTED_SIZES


FILES = st.lists(
    st.builds(
        ListedFile,
        st.integers(0, 9),
        st.integers(0, 2**32 - 1),
        st.integers(0, 2**50),
        st.integers(0, 2**50),
        st.integers(0, 2**40),
    )
)


@given(FILES)
@example([ListedFile(255, 2**32 - 1, 65_536, 2**32, 2**64 - 1)])
@example([ListedFile(256, 2**16, 2**32 - 1, 65_535, 0)])
def test_packed_files_come_back(files: list[ListedFile]) -> None:
    assert list(unpack_files(pack_files(files))) == sorted(files)


def test_bytes_that_no_list_was_packed_to_are_refused() -> None:
    with pytest.raises(InvalidValueError, match="3 bytes are no list of files"):
        list(unpack_files(b"abc"))
    import zlib  # noqa: PLC0415 - for this line alone

    for malformed in (b"", b"BBBB", b"BBBBx", b"BBBBB1234567", b"\xff" * 8):
        with pytest.raises(InvalidValueError, match="are no list of files"):
            list(unpack_files(zlib.compress(malformed)))


def test_a_thousand_files_take_under_twelve_bytes_each() -> None:
    files = [
        ListedFile(
            0,
            path_key(f"file:///lake/table/data/{n}.parquet".encode()),
            4_000_000 + n * 37 % 9973,
            10_000,
            n // 50,
        )
        for n in range(1000)
    ]
    assert len(pack_files(files)) < 12_000
