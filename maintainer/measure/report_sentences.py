"""The report on small files in sentences: costs a day, round trips and sources."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from maintainer.domain.units import format_count, format_duration
from maintainer.measure.report import PARALLEL, Report


def describe(found: Report) -> Iterator[str]:
    """The sentences below the lists: requests and money a day, round trips, sources."""
    total = found.total
    if total is None:
        return
    money = found.cost_per_day(total)
    saved = found.cost_saved_per_day(total)
    yield (
        f"Requests a day (scans of each table a day: {found.scans_per_day:g}): "
        f"{found.requests_per_day(total.requests):,.0f}, of which files of the target size would "
        f"avoid {found.requests_per_day(total.requests_saved):,.0f}."
    )
    if money is not None and saved is not None:
        yield f"Cost of these requests a day: {money:,.3g}, of which {saved:,.3g} is avoidable."
    waits = " and ".join(
        f"{_write_seconds(total.wait_seconds / parallel)} with {parallel} in parallel"
        for parallel in PARALLEL
    )
    yield f"Round trips of one scan of each table: {waits}."
    yield (
        f"One scan of each table takes about {_write_seconds(total.scan_seconds)}, and "
        f"{_write_seconds(total.scan_seconds_at_target)} with files of the target size."
    )
    yield from (storage.sentence for storage in found.storages)
    yield from (service.sentence for service in found.name_services)
    if found.left_out:
        yield (
            f"{format_count(found.left_out, 'table')} left out: no readable data files, or not "
            "measured since an upgrade."
        )
    yield f"Slower: estimated query time against files of about 130 MB on {_name(found)}."
    yield from found.sources


def _name(found: Report) -> str:
    return " and ".join(found.profiles).replace("_", " ")


def _write_seconds(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 1 else format_duration(timedelta(seconds=seconds))
