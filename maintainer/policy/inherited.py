"""Values from Iceberg's own table properties, used where no policy has one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from re import compile as compile_regex

from maintainer.domain.inventory import (
    DEFAULT_TARGET_DELETE_FILE_SIZE_BYTES,
    DEFAULT_TARGET_FILE_SIZE_BYTES,
    DEFAULT_TARGET_MANIFEST_SIZE_BYTES,
    DELETE_TARGET_FILE_SIZE,
    GC_ENABLED,
    MANIFEST_TARGET_SIZE,
    MAX_REF_AGE,
    MAX_SNAPSHOT_AGE,
    MERGE_ENABLED,
    MIN_COUNT_TO_MERGE,
    MIN_SNAPSHOTS_TO_KEEP,
    TARGET_FILE_SIZE,
)
from maintainer.domain.policy import Setting
from maintainer.domain.rules import MIN_EXPIRE_AGE, MIN_SNAPSHOTS_KEPT

ICEBERG_DEFAULT = "Iceberg's default"

_GREATEST_AGE = timedelta(
    days=36500
    # The greatest value of a policy. In table properties, Java's largest long means "never".
)
_GREATEST_COUNT = 2**31 - 1
_WHOLE = compile_regex(r"[0-9]{1,19}")
_MILLISECOND = timedelta(milliseconds=1)


def source_of(name: str) -> str:
    """The source text of a value that a table property sets."""
    return f"table property {name}"


class TableProperties:
    """Iceberg's properties of one table, read as Iceberg reads them.

    Malformed ones are left out and remembered.
    """

    def __init__(self, properties: Mapping[str, str]) -> None:
        self._properties = properties
        self.ignored: dict[str, str] = {}

    def settings(self) -> dict[str, Setting]:
        """Values of policy fields, limited by the floors."""
        found: dict[str, Setting] = {}
        age = self._read_whole(MAX_SNAPSHOT_AGE)
        if age is not None:
            wanted = _read_age(age)
            note = ", raised to the floor" if wanted < MIN_EXPIRE_AGE else ""
            found["rules.expire_snapshots.max_age"] = Setting(
                max(wanted, MIN_EXPIRE_AGE), source_of(MAX_SNAPSHOT_AGE) + note
            )
        keep = self._read_whole(MIN_SNAPSHOTS_TO_KEEP)
        if keep is not None:
            note = ", raised to the floor" if keep < MIN_SNAPSHOTS_KEPT else ""
            found["rules.expire_snapshots.keep"] = Setting(
                min(max(keep, MIN_SNAPSHOTS_KEPT), _GREATEST_COUNT),
                source_of(MIN_SNAPSHOTS_TO_KEEP) + note,
            )
        count = self._read_whole(MIN_COUNT_TO_MERGE)
        if (
            count is not None and self._read_truth(MERGE_ENABLED) is not False
        ):  # writers that do not merge also ignore the count
            found["rules.rewrite_manifests.when.manifest_count_above"] = Setting(
                float(min(count, _GREATEST_COUNT)), source_of(MIN_COUNT_TO_MERGE)
            )
        return found

    def inherited(self) -> dict[str, Setting]:
        """Values that no policy can set, or that a policy leaves to the table.

        The keys are the paths or names under which they are shown.
        """
        return {
            "target_file_size_bytes": self._size(TARGET_FILE_SIZE, DEFAULT_TARGET_FILE_SIZE_BYTES),
            DELETE_TARGET_FILE_SIZE: self._size(
                DELETE_TARGET_FILE_SIZE, DEFAULT_TARGET_DELETE_FILE_SIZE_BYTES
            ),
            MAX_REF_AGE: self._ref_age(),
            MANIFEST_TARGET_SIZE: self._size(
                MANIFEST_TARGET_SIZE, DEFAULT_TARGET_MANIFEST_SIZE_BYTES
            ),
            MERGE_ENABLED: self._truth(MERGE_ENABLED),
            GC_ENABLED: self._truth(GC_ENABLED),
        }

    def _size(self, name: str, default: int) -> Setting:
        size = self._read_whole(name)
        return Setting(default, ICEBERG_DEFAULT) if not size else Setting(size, source_of(name))

    def _ref_age(self) -> Setting:
        age = self._read_whole(MAX_REF_AGE)
        return (
            Setting("no limit", ICEBERG_DEFAULT)
            if age is None
            else Setting(_read_age(age), source_of(MAX_REF_AGE))
        )

    def _truth(self, name: str) -> Setting:
        truth = self._read_truth(name)
        return (
            Setting(value=True, source=ICEBERG_DEFAULT)
            if truth is None
            else Setting(truth, source_of(name))
        )

    def _read_whole(self, name: str) -> int | None:
        text = self._properties.get(name)
        if text is None:
            return None
        if _WHOLE.fullmatch(text.strip()) is None:
            self.ignored[name] = f"{text!r} is not a whole number"
            return None
        return int(text)

    def _read_truth(self, name: str) -> bool | None:
        """As Java's Boolean.parseBoolean: everything but "true" is false."""
        text = self._properties.get(name)
        return None if text is None else text.lower() == "true"


def _read_age(milliseconds: int) -> timedelta:
    return min(milliseconds, _GREATEST_AGE // _MILLISECOND) * _MILLISECOND
