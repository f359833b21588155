"""Finds the changed tables of a catalog, with the cheapest request of each kind of catalog."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from logging import getLogger
from typing import TYPE_CHECKING, Final

from pyiceberg.catalog import Catalog
from pyiceberg.catalog.sql import SqlCatalog
from pyiceberg.exceptions import NoSuchTableError, ServiceUnavailableError

from maintainer.adapters.catalog.tables.loading import is_rest
from maintainer.adapters.catalog.tables.pointer import NamespaceError, list_locations, list_tables
from maintainer.adapters.catalog.tables.request_rate import (
    Answer,
    Intervals,
    NoAnswer,
    PollLimits,
    Question,
    Rate,
)
from maintainer.domain.identifier import TableIdentifier
from maintainer.ports.catalog import Polled
from maintainer.ports.clock import Clock

if TYPE_CHECKING:
    from pyiceberg.catalog.rest import RestCatalog

# Requests before the first answer is yielded. They take about a second at most.
MAX_BATCH: Final = 1000
_log = getLogger(__name__)
_SEPARATOR: Final = "\n"  # a character that is in no header and no location


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A listed table for which the catalog does not return a state."""

    table: TableIdentifier
    error: Exception


Found = Polled | Unanswered | NamespaceError
# Tables that need no request, and tables that are due.
_Batch = tuple[list[Found], list[TableIdentifier]]


class Poller:
    """Polls one catalog and remembers when each table is due."""

    def __init__(self, name: str, limits: PollLimits, clock: Clock) -> None:
        """``name`` is the catalog's name in the configuration."""
        self._name = name
        self._limits = limits
        self._clock = clock
        self._rate = Rate(limits.requests_per_second)
        self._intervals = Intervals(limits)
        self._has_said = False

    def poll(
        self,
        catalog: Catalog,
        known: Mapping[TableIdentifier, str],
        executor: Executor,
        within: timedelta | None = None,
    ) -> Iterator[Found]:
        """Yield every table, as Catalog.poll says."""
        if isinstance(catalog, SqlCatalog):
            yield from self._poll_by_sql(catalog, known)
            return
        seen: list[TableIdentifier] = []
        batches = self._batches(catalog, known, seen, within)
        yield from (
            self._poll_by_requests(catalog, known, batches)
            if is_rest(catalog)
            else self._poll_by_loading(catalog, known, batches, executor)
        )
        self._intervals.keep(seen)

    def _poll_by_sql(
        self, catalog: SqlCatalog, known: Mapping[TableIdentifier, str]
    ) -> Iterator[Found]:
        for found in list_locations(catalog):
            if isinstance(found, NamespaceError):
                yield found
                continue
            namespace, name, location = found
            table = TableIdentifier(self._name, namespace, name)
            yield Polled(table, location, not location or known.get(table) != location, location)

    def _poll_by_requests(
        self, catalog: RestCatalog, known: Mapping[TableIdentifier, str], batches: Iterator[_Batch]
    ) -> Iterator[Found]:
        # The import of the client's libraries takes 0.1 s of CPU, and a SQL catalog does not need
        # them.
        from maintainer.adapters.catalog.tables.conditional import (  # noqa: PLC0415
            ConditionalRequests,
        )
        from maintainer.adapters.catalog.tables.session import find_obstacle  # noqa: PLC0415

        self._warn_of_slow_client(find_obstacle(catalog))
        with ConditionalRequests(catalog, self._limits, self._rate) as requests:
            for listed, due in batches:
                yield from listed
                questions = [_write_question(table, known.get(table, "")) for table in due]
                for question, outcome in zip(questions, requests.ask(questions), strict=True):
                    yield self._take_answer(question, outcome)

    def _warn_of_slow_client(self, reason: str) -> None:
        if reason and not self._has_said:
            self._has_said = True
            _log.warning(
                "catalog.asked_by_pyiceberg", extra={"catalog": self._name, "reason": reason}
            )

    def _take_answer(self, question: Question, outcome: Answer | NoAnswer) -> Found:
        if isinstance(outcome, NoAnswer):
            return Unanswered(
                question.table, ServiceUnavailableError(f"catalog {self._name}: {outcome.reason}")
            )
        self._intervals.note(question.table, self._clock.now(), is_changed=outcome.is_changed)
        token = (
            f"{outcome.etag}{_SEPARATOR}{outcome.location}"
            if outcome.etag or outcome.location
            else ""
        )
        return Polled(question.table, token, outcome.is_changed, outcome.location)

    def _poll_by_loading(
        self,
        catalog: Catalog,
        known: Mapping[TableIdentifier, str],
        batches: Iterator[_Batch],
        executor: Executor,
    ) -> Iterator[Found]:
        def ask(table: TableIdentifier) -> Found:
            self._rate.wait()
            try:
                token = str(catalog.load_table((*table.namespace, table.name)).metadata_location)
            except NoSuchTableError:
                # The table was dropped, or is a view. Its inventory finds that out.
                return Polled(table, "", is_changed=True)
            # Any exception of a library becomes a fault of the table.
            except Exception as error:  # noqa: BLE001
                return Unanswered(table, error)
            is_changed = known.get(table) != token
            self._intervals.note(table, self._clock.now(), is_changed=is_changed)
            return Polled(table, token, is_changed, token)

        for listed, due in batches:
            yield from listed
            yield from executor.map(ask, due)

    def _batches(
        self,
        catalog: Catalog,
        known: Mapping[TableIdentifier, str],
        seen: list[TableIdentifier],
        within: timedelta | None,
    ) -> Iterator[_Batch]:
        """Yield batches of tables that need no request, and of tables that are due.

        An unknown table is always due.
        """
        size = max(1, min(MAX_BATCH, int(self._limits.requests_per_second)))
        listing = list_tables(catalog)
        while batch := list(islice(listing, size)):
            answered: list[Found] = []
            due: list[TableIdentifier] = []
            now = self._clock.now()
            for found in batch:
                if isinstance(found, NamespaceError):
                    answered.append(found)
                    continue
                table = TableIdentifier(self._name, *found)
                seen.append(table)
                if table not in known or self._intervals.is_due(table, now, within):
                    due.append(table)
                else:
                    answered.append(Polled(table, known[table], is_changed=False))
            yield answered, due


def _write_question(table: TableIdentifier, token: str) -> Question:
    etag, separator, location = token.rpartition(_SEPARATOR)
    return Question(table, etag, location) if separator else Question(table)
