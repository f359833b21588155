"""The daemon keeps below a gigabyte on a lake that is made to fill its memory, scan after scan."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import FIGURES
from tests.soak.hostile_lake import SOUND, build
from tests.soak.soak import MIB, soak

SCANS = int(os.environ.get("SOAK_SCANS", "4"))
MOST_BYTES = 1024 * MIB  # of all processes together

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240 + 10 * SCANS)]


def test_a_hostile_lake_takes_less_than_a_gigabyte_and_hides_no_sound_table(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    hostile = build(tmp_path)
    found = soak(tmp_path, SCANS)
    record_property(FIGURES, found.describe())
    assert found.peak_bytes < MOST_BYTES
    assert found.last_bytes <= found.first_bytes + 128 * MIB, "it does not grow scan by scan"
    sound = [table for table, health in found.healths.items() if health == "healthy"]
    assert len(sound) == SOUND
    assert len(found.healths) == SOUND + len(hostile)
