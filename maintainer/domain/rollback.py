"""Setting a table back to what it was before a job."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from maintainer.domain.action import Action


class Repair(StrEnum):
    """What a job may do because a person asks for it alone: no rule of a policy does."""

    ROLL_BACK = "roll_back"


@dataclass(frozen=True, slots=True)
class RollBack:
    """CALL rollback_to_snapshot on main; other branches stay as they are."""

    snapshot_id: int  # what main is set back to
    of_job: str  # the job that is undone
    expected_snapshot_id: int  # where main stood when this was asked for: it must still stand there
    procedure: Literal[Repair.ROLL_BACK] = Repair.ROLL_BACK


JobAction = Action | RollBack
