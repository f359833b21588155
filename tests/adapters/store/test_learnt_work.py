"""What a store has learnt from jobs whose work an older version counted in another way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from maintainer.adapters.store import documents, open_store
from maintainer.domain.cost import NOTHING_LEARNT, TABLE_ALPHA, WORK_VERSION, CostSample


@pytest.mark.parametrize(("version", "is_known"), [(WORK_VERSION, True), (0, False)])
def test_only_what_was_learnt_of_work_that_is_counted_as_today_is_read(
    tmp_path: Path, version: int, is_known: bool
) -> None:
    url = f"sqlite:///{tmp_path}/maintainer.db"
    open_store(url).close()
    fit = replace(NOTHING_LEARNT.learn(CostSample(9.0, 3.0), TABLE_ALPHA), version=version)
    engine = create_engine(url)
    with engine.begin() as connection:
        connection.execute(
            text(
                "insert into calibrations (level, owner, rule, document, learnt_at) "
                "values ('table', 'uuid', 'rewrite_data_files', :document, :at)"
            ),
            {"document": documents.write(fit), "at": 0},
        )
    engine.dispose()
    store = open_store(url)
    assert bool(store.calibration("uuid", "lake").table) is is_known
    store.close()
