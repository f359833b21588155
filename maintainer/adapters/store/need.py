"""The default order of the table list: by band, and within a band by the benefit of maintenance.

Band and benefit are combined into one number, the need, so that one index has the order and a
cursor needs one value. The worst table has the lowest need.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, cast, literal, update

from maintainer.adapters.store.schema import BANDS, tables
from maintainer.domain.health import Band
from maintainer.domain.plan import Plan

_BAND_STEP = 10**18  # four bands fit into 64 bits
_THOUSANDTHS = 1000
_MOST_BENEFIT = _BAND_STEP - 1


def need_of(band: Band, benefit: ColumnElement[int] | int) -> ColumnElement[Any]:
    """Return the need for a band and a benefit; the benefit may be a column."""
    return literal(-BANDS.index(band) * _BAND_STEP, BigInteger) - benefit


def write_benefit(benefit: float) -> int:
    """Return the benefit in thousandths, limited to the range within a band."""
    return int(min(benefit * _THOUSANDTHS, _MOST_BENEFIT)) if benefit > 0 else 0


def record_benefit(connection: Connection, plan: Plan) -> None:
    """Record the benefit of the plan's rules if it has changed."""
    benefit = write_benefit(plan.benefit)
    need = cast(tables.c.band, BigInteger) * -_BAND_STEP - benefit  # NULL if the band is NULL
    is_changed = (tables.c.full_name == str(plan.table), tables.c.benefit != benefit)
    connection.execute(update(tables).where(*is_changed).values(benefit=benefit, need=need))
