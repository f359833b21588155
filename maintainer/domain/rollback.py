"""Rollback: setting main back to the snapshot before a job."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from maintainer.domain.action import Action


class Repair(StrEnum):
    """What a job may do only because a person asked for it: no policy rule does it."""

    ROLL_BACK = "roll_back"


@dataclass(frozen=True, slots=True)
class RollBack:
    """CALL rollback_to_snapshot on main. Other branches do not change."""

    snapshot_id: int  # the new head of main
    of_job: str  # the job to undo
    expected_snapshot_id: int  # main's head at the request; it must not have changed
    procedure: Literal[Repair.ROLL_BACK] = Repair.ROLL_BACK


JobAction = Action | RollBack
