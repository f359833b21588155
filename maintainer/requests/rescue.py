"""The rescue plan of a table, from its latest health and other data of the store."""

from __future__ import annotations

from functools import partial

from maintainer.decide.rescue.plan import RescuePlan, plan_rescue
from maintainer.domain.health import TableHealth
from maintainer.ports import Ports
from maintainer.ports.store.tables import TableRecord
from maintainer.steps.isolation import TimeLimit
from maintainer.steps.table_plan import circumstances_of, policy_of


def rescue(ports: Ports, record: TableRecord, health: TableHealth) -> RescuePlan:
    """Plan the jobs until the table is healthy. Nothing is stored or started.

    TookTooLongError when it takes longer than the work on one table may.
    """
    policy = policy_of(ports, health)
    circumstances = circumstances_of(ports, record, health, policy)
    limit = TimeLimit(should_stop=ports.is_stopping)
    return limit.run(partial(plan_rescue, health, policy, circumstances, record.grade))
