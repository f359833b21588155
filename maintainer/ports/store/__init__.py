"""The daemon's database. The steps exchange their data through it."""

from __future__ import annotations

from typing import Protocol

from maintainer.ports.store.admission import AdmissionStore, ReadStore
from maintainer.ports.store.drivers import DriverStore
from maintainer.ports.store.figures import FiguresStore
from maintainer.ports.store.jobs import JobLogStore, JobStore, LeaseStore
from maintainer.ports.store.notices import AuditStore, NoticeStore
from maintainer.ports.store.orphans import OrphanStore
from maintainer.ports.store.plans import PlanStore, PolicyVersionStore
from maintainer.ports.store.portions import PortionStore
from maintainer.ports.store.tables import DigestStore, TableStore
from maintainer.ports.store.upkeep import DutyStore, SessionStore, UpkeepStore


class Store(
    AdmissionStore,
    AuditStore,
    DigestStore,
    DriverStore,
    DutyStore,
    FiguresStore,
    JobLogStore,
    JobStore,
    LeaseStore,
    NoticeStore,
    OrphanStore,
    PlanStore,
    PolicyVersionStore,
    PortionStore,
    ReadStore,
    SessionStore,
    TableStore,
    UpkeepStore,
    Protocol,
):
    """The whole store; every method is one transaction.

    StoreUnavailableError when the database cannot be read or written.
    """
