"""The procedure options that a policy may set: an allow-list, because the texts reach Spark."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from re import DOTALL, IGNORECASE
from re import compile as compile_regex
from typing import assert_never

from maintainer.domain.action import Procedure
from maintainer.domain.units import GIB, MIB

MINIMUM_TARGET_FILE_SIZE_BYTES = MIB
MAXIMUM_TARGET_FILE_SIZE_BYTES = 10 * GIB
_LARGEST_INTEGER = 2**31 - 1  # Iceberg reads counts into a Java int
_LARGEST_LONG = 2**63 - 1  # Iceberg reads sizes into a Java long

# Only ASCII digits, because int() and float() accept other digits, underscores and "nan", which
# Java does not.
_INTEGER = compile_regex(r"[0-9]{1,19}")
_DECIMAL = compile_regex(r"[0-9]{1,9}(?:\.[0-9]{1,18})?")


class OptionKind(StrEnum):
    """How Iceberg parses an option's text."""

    BYTES = "bytes"
    COUNT = "count"
    RATIO = "ratio"
    BOOLEAN = "boolean"
    CHOICE = "choice"


@dataclass(frozen=True, slots=True)
class OptionBound:
    """The allowed texts of one option: within both bounds, or one of the choices."""

    kind: OptionKind
    minimum: float = 0
    maximum: float = 0
    choices: tuple[str, ...] = ()


def _count(minimum: int, maximum: int = _LARGEST_INTEGER) -> OptionBound:
    return OptionBound(OptionKind.COUNT, minimum, maximum)


_BOOLEAN = OptionBound(OptionKind.BOOLEAN, choices=("true", "false"))

REWRITE_DATA_FILES_OPTIONS: Mapping[str, OptionBound] = {
    "target-file-size-bytes": OptionBound(
        OptionKind.BYTES, MINIMUM_TARGET_FILE_SIZE_BYTES, MAXIMUM_TARGET_FILE_SIZE_BYTES
    ),
    "min-file-size-bytes": OptionBound(OptionKind.BYTES, 0, MAXIMUM_TARGET_FILE_SIZE_BYTES),
    "max-file-size-bytes": OptionBound(OptionKind.BYTES, 1, _LARGEST_LONG),
    "min-input-files": _count(1),
    "max-file-group-size-bytes": OptionBound(OptionKind.BYTES, MIB, _LARGEST_LONG),
    "max-file-group-input-files": _count(1),
    "max-concurrent-file-group-rewrites": _count(1, 1000),
    "partial-progress.enabled": _BOOLEAN,
    "partial-progress.max-commits": _count(1, 1000),
    "partial-progress.max-failed-commits": _count(0, 1000),
    # Only Iceberg's default is allowed: false causes conflicts with equality deletes written in
    # the meantime.
    "use-starting-sequence-number": OptionBound(OptionKind.BOOLEAN, choices=("true",)),
    "rewrite-job-order": OptionBound(
        OptionKind.CHOICE,
        choices=("none", "bytes-asc", "bytes-desc", "files-asc", "files-desc"),
    ),
    "rewrite-all": _BOOLEAN,
    "delete-file-threshold": _count(1),
    "delete-ratio-threshold": OptionBound(OptionKind.RATIO, 0, 1),
    "output-spec-id": _count(0),
    "remove-dangling-deletes": _BOOLEAN,
    "max-files-to-rewrite": _count(1),
    "compression-factor": OptionBound(OptionKind.RATIO, 0.01, 100),
    "shuffle-partitions-per-file": _count(1, 1000),
    "max-output-size": OptionBound(OptionKind.BYTES, 1, _LARGEST_INTEGER),
    # this memory is needed for each row and column
    "var-length-contribution": OptionBound(OptionKind.BYTES, 1, MIB),
}
_SORT_OPTIONS = frozenset({"compression-factor", "shuffle-partitions-per-file"})
_ZORDER_OPTIONS = frozenset({"max-output-size", "var-length-contribution"})
_ZORDER = compile_regex(r"\s*zorder\s*\(.*", IGNORECASE | DOTALL)

REWRITE_POSITION_DELETE_FILES_OPTIONS: Mapping[str, OptionBound] = {
        name: REWRITE_DATA_FILES_OPTIONS[name]
        for name in (
            "target-file-size-bytes", "min-file-size-bytes", "max-file-size-bytes",
            "min-input-files", "max-file-group-size-bytes", "max-concurrent-file-group-rewrites",
            "partial-progress.enabled", "partial-progress.max-commits", "rewrite-job-order",
            "rewrite-all",
        )
    }  # fmt: skip
_MAX_PARALLEL_DELETES = 64  # threads of the driver; with more, object stores answer 429

# Options of the two rewrites are in their `options` map. Options of others are arguments of
# the procedure.
PROCEDURE_OPTIONS: Mapping[Procedure, Mapping[str, OptionBound]] = {
    Procedure.REWRITE_DATA_FILES: REWRITE_DATA_FILES_OPTIONS,
    Procedure.REWRITE_POSITION_DELETE_FILES: REWRITE_POSITION_DELETE_FILES_OPTIONS,
    Procedure.REWRITE_MANIFESTS: {"use_caching": _BOOLEAN},
    Procedure.COMPUTE_TABLE_STATS: {},
    Procedure.COMPUTE_PARTITION_STATS: {},
    Procedure.EXPIRE_SNAPSHOTS: {
        "max_concurrent_deletes": _count(1, _MAX_PARALLEL_DELETES),
        "stream_results": _BOOLEAN,
        "clean_expired_metadata": _BOOLEAN,
    },
    # A policy cannot set prefix_mismatch_mode (always ERROR), or equal schemes and authorities,
    # because these decide which files are orphans.
    Procedure.REMOVE_ORPHAN_FILES: {
        "prefix_listing": _BOOLEAN,
        "max_concurrent_deletes": _count(1, _MAX_PARALLEL_DELETES),
    },
}


def check_option(
    name: str, value: str, procedure: Procedure = Procedure.REWRITE_DATA_FILES
) -> str | None:
    """Why the procedure's option cannot have this text, with the bound; None when it can."""
    bound = PROCEDURE_OPTIONS[procedure].get(name)
    if bound is None:
        return f"option {name!r} of {procedure} is not one that a policy may set"
    match bound.kind:
        case OptionKind.BOOLEAN | OptionKind.CHOICE:
            return (
                None
                if value in bound.choices
                else f"option {name} is {value!r}, but must be {' or '.join(bound.choices)}"
            )
        case OptionKind.BYTES | OptionKind.COUNT:
            if _INTEGER.fullmatch(value) is None:
                return f"option {name} is {value!r}, but must be a whole number"
            return _check_bounds(name, value, int(value), bound)
        case OptionKind.RATIO:
            if _DECIMAL.fullmatch(value) is None:
                return f"option {name} is {value!r}, but must be a number"
            return _check_bounds(name, value, float(value), bound)
        case _:
            assert_never(bound.kind)


def options_of_strategy(
    options: tuple[tuple[str, str], ...], strategy: str, sort_order: str | None
) -> tuple[tuple[str, str], ...]:
    """The options without those of another strategy, which Iceberg would refuse."""
    is_sort = strategy == "sort"
    unknown = (_SORT_OPTIONS if not is_sort else frozenset()) | (
        _ZORDER_OPTIONS
        if not is_sort or _ZORDER.fullmatch(sort_order or "") is None
        else frozenset()
    )
    return tuple((name, value) for name, value in options if name not in unknown)


def _check_bounds(name: str, text: str, number: float, bound: OptionBound) -> str | None:
    if number < bound.minimum:
        return f"option {name} is {text}, under its least value {bound.minimum:.15g}"
    if number > bound.maximum:
        return f"option {name} is {text}, over its greatest value {bound.maximum:.15g}"
    return None
