"""What admission says now of everything that the stored plans want."""

from __future__ import annotations

from maintainer.domain.admission import AdmissionVerdict
from maintainer.domain.budget import day_of
from maintainer.domain.identifier import TableIdentifier
from maintainer.policy.admit import AdmissionCircumstances, admit, running_of
from maintainer.steps.ports import Ports


def admit_now(ports: Ports) -> tuple[AdmissionVerdict, ...]:
    """A verdict on each candidate of a configured catalog, the best first; nothing is started."""
    circumstances = _look_around(ports)
    # While every place is taken nobody can start, whoever is first.
    return () if circumstances.free_places <= 0 else _judge(ports, circumstances)


def read_queue(ports: Ports) -> tuple[AdmissionVerdict, ...]:
    """As admit_now, to be shown: also while every place is taken."""
    return _judge(ports, _look_around(ports))


def waits_of(ports: Ports, table: TableIdentifier) -> tuple[AdmissionVerdict, ...]:
    """What admission says of one table's actions: why not now, when next."""
    return tuple(verdict for verdict in read_queue(ports) if verdict.candidate.table == table)


def _judge(ports: Ports, circumstances: AdmissionCircumstances) -> tuple[AdmissionVerdict, ...]:
    return admit([candidate for candidate in ports.store.candidates() if candidate.table.catalog in ports.catalogs], circumstances)


def _look_around(ports: Ports) -> AdmissionCircumstances:
    unfinished = ports.store.unfinished_jobs()
    now = ports.clock.now()
    return AdmissionCircumstances(
        now=now,
        # A job that waits for its proof has left Spark: while its table cannot be read, the others need not wait too.
        free_places=ports.runner.capacity - sum(not job.awaits_review for job in unfinished),
        rules=ports.admission,
        running=tuple(running_of(job) for job in unfinished),
        spending=ports.store.spending(day_of(now)),
        halts=tuple(ports.store.halts()),
    )
