"""The order of the table list that is asked for most: by band, and within a band by what
maintenance is good for.

Both are one number, so that one index has the order and a cursor one value: the worst table has the
least.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, cast, literal, update

from maintainer.adapters.store.counters import BANDS
from maintainer.adapters.store.schema import tables
from maintainer.domain.health import Band
from maintainer.domain.plan import Plan

_BAND_STEP = 10**18  # four bands fit into 64 bits
_THOUSANDTHS = 1000
_MOST_BENEFIT = _BAND_STEP - 1


def need_of(band: Band, benefit: ColumnElement[int] | int) -> ColumnElement[Any]:
    """For a table whose benefit is known, or is what its row says."""
    return literal(-BANDS.index(band) * _BAND_STEP, BigInteger) - benefit


def write_benefit(benefit: float) -> int:
    """In thousandths, within what a band has room for."""
    return int(min(benefit * _THOUSANDTHS, _MOST_BENEFIT)) if benefit > 0 else 0


def record_benefit(connection: Connection, plan: Plan) -> None:
    """Keep what the plan's rules are good for, where that has changed."""
    benefit = write_benefit(plan.benefit)
    need = cast(tables.c.band, BigInteger) * -_BAND_STEP - benefit  # unknown as long as the band is
    is_changed = (tables.c.full_name == str(plan.table), tables.c.benefit != benefit)
    connection.execute(update(tables).where(*is_changed).values(benefit=benefit, need=need))
