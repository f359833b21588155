"""The daemon's database. The steps meet here: each reads what another wrote."""

from __future__ import annotations

from typing import Protocol

from maintainer.ports.admission import AdmissionStore
from maintainer.ports.audit import AuditStore
from maintainer.ports.digests import DigestStore
from maintainer.ports.drivers import DriverStore
from maintainer.ports.figures import FiguresStore
from maintainer.ports.jobs import JobStore
from maintainer.ports.leases import LeaseStore
from maintainer.ports.locations import LocationStore
from maintainer.ports.notices import NoticeStore
from maintainer.ports.orphans import OrphanStore
from maintainer.ports.pins import PinStore
from maintainer.ports.plans import PlanStore
from maintainer.ports.policy_versions import PolicyVersionStore
from maintainer.ports.portions import PortionStore
from maintainer.ports.tables import TableStore
from maintainer.ports.upkeep import UpkeepStore


class Store(
    AdmissionStore,
    AuditStore,
    DigestStore,
    DriverStore,
    FiguresStore,
    JobStore,
    LeaseStore,
    LocationStore,
    NoticeStore,
    OrphanStore,
    PortionStore,
    PinStore,
    PlanStore,
    PolicyVersionStore,
    TableStore,
    UpkeepStore,
    Protocol,
):
    """The whole store; every method is one transaction.

    StoreUnavailableError when the database cannot be read or written.
    """
