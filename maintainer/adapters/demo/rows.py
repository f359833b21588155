"""The rows of the lake: plausible, and the same on every machine and every day.

Their dates never depend on today's.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random

import pyarrow as pa

SEED = 20260105
FIRST_DAY = date(2026, 1, 5)
FIRST_MOMENT = datetime(2026, 1, 5, tzinfo=UTC)

Row = tuple[object, ...]

_PAGES = (
    "/", "/search", "/cart", "/checkout", "/account", "/help", "/deals", "/item/1041",
    "/item/2203", "/item/3370", "/item/4512", "/item/5128",
)  # fmt: skip
_REFERRERS = (None, None, "search", "newsletter", "social", "direct")
_COUNTRIES = ("DE", "FR", "GB", "ES", "IT", "NL", "PL", "SE", "US", "JP")
_DEVICES = ("phone", "tablet", "desktop")
_STATUSES = (200, 200, 200, 200, 200, 301, 304, 404, 429, 500)
_METHODS = ("GET", "GET", "GET", "POST", "PUT")
_AGENTS = ("browser", "app-ios", "app-android", "crawler")
_REGIONS = ("north", "east", "south", "west")
_CURRENCIES = (
    "USD", "GBP", "JPY", "CHF", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "CAD", "AUD", "NZD",
    "CNY", "INR", "BRL", "MXN", "ZAR", "TRY", "KRW",
)  # fmt: skip
_KINDS = ("receipt", "pick", "transfer", "return", "count")
_ORDER_STATES = ("placed", "paid", "shipped", "delivered", "delivered", "delivered", "returned")
_UNITS = ("celsius", "percent", "hectopascal")


def seed(*parts: object) -> Random:
    """Return a generator for one file, so that no file depends on the order of creation."""
    return Random(f"{SEED}:{parts}")  # noqa: S311 - demo rows, not secrets


def make_table(schema: pa.Schema, rows: Iterator[Row]) -> pa.Table:
    """Build a table from rows, with the schema's types and field ids."""
    columns = list(zip(*rows, strict=True))
    return pa.Table.from_arrays(
        [pa.array(column, field.type) for column, field in zip(columns, schema, strict=True)],
        schema=schema,
    )


def page_views(hour: int, writer: int, count: int = 36) -> Iterator[Row]:
    """Yield one writer's page views of one hour."""
    random = seed("page_views", hour, writer)
    start = FIRST_MOMENT + timedelta(hours=hour)
    for number in range(count):
        yield (
            (hour * 1000 + writer) * 100 + number,
            start + timedelta(milliseconds=random.randrange(3_600_000)),
            f"visitor-{random.randrange(40_000):05d}",
            random.choice(_PAGES),
            random.choice(_REFERRERS),
            random.choice(_COUNTRIES),
            random.choice(_DEVICES),
            random.randrange(80, 30_000),
        )


def stock_movements(day: int, count: int = 480) -> Iterator[Row]:
    """Yield one day's movements of a warehouse, booked at the end of the day."""
    random = seed("events_by_day", day)
    for number in range(count):
        yield (
            FIRST_DAY + timedelta(days=day),
            day * 10_000 + number,
            random.choice(_KINDS),
            f"sku-{random.randrange(9000):04d}",
            random.randrange(1, 400),
            Decimal(random.randrange(50, 90_000)).scaleb(-2),
            random.randbytes(12).hex(),
        )


def exchange_rates(edition: int) -> Iterator[Row]:
    """Yield all rates of one edition; each edition replaces the one before it."""
    random = seed("exchange_rates", edition)
    published = FIRST_MOMENT + timedelta(hours=6 * edition)
    for base in _CURRENCIES:
        for quote in _CURRENCIES:
            if base != quote:
                yield (
                    base,
                    quote,
                    Decimal(random.randrange(1_000, 200_000_000)).scaleb(-6),
                    published,
                )


def orders(month: int, count: int = 15_000) -> Iterator[Row]:
    """Yield the orders of one month in the year before the first day."""
    random = seed("orders", month)
    start = date(FIRST_DAY.year - 1, month, 1)
    for number in range(count):
        yield (
            month * 1_000_000 + number,
            start + timedelta(days=random.randrange(28)),
            random.randrange(1, 60_000),
            random.choice(_ORDER_STATES),
            random.randrange(1, 12),
            Decimal(random.randrange(300, 250_000)).scaleb(-2),
            random.randbytes(16).hex(),
        )


def sensor_readings(day: int, station: int, count: int = 24) -> Iterator[Row]:
    """Yield one station's readings of one day."""
    random = seed("sensor_daily", day, station)
    start = FIRST_MOMENT + timedelta(days=day)
    for number in range(count):
        yield (
            start + timedelta(hours=number),
            station * 100 + number % 3,
            random.choice(_UNITS),
            round(random.uniform(-20, 40), 3),
        )


def raw_requests(file: int, count: int = 40) -> Iterator[Row]:
    """Yield the requests of one log shipper."""
    random = seed("raw_requests", file)
    start = FIRST_MOMENT + timedelta(minutes=5 * file)
    for _ in range(count):
        yield (
            start + timedelta(milliseconds=random.randrange(300_000)),
            random.randbytes(8).hex(),
            random.choice(_METHODS),
            random.choice(_PAGES),
            random.choice(_STATUSES),
            random.randrange(120, 90_000),
            random.choice(_AGENTS),
        )


def access_log(file: int, count: int = 30) -> Iterator[Row]:
    """Yield the sign-ins of one gateway."""
    random = seed("access log", file)
    start = FIRST_MOMENT + timedelta(minutes=10 * file)
    for _ in range(count):
        moment = start + timedelta(milliseconds=random.randrange(600_000))
        yield (
            moment,
            f"user-{random.randrange(2000):04d}",
            random.random() < 0.97,  # noqa: PLR2004 - some sign-ins fail
            random.choice(_COUNTRIES),
        )


def initial_accounts(count: int) -> Iterator[Row]:
    """Yield the first accounts, as operation I of batch 0.

    A row has key, region, status, balance and time of change.
    """
    random = seed("accounts", 0)
    for key in range(count):
        yield (
            0,
            "I",
            key,
            _REGIONS[key % len(_REGIONS)],
            "open",
            Decimal(random.randrange(1_000_000)).scaleb(-2),
            FIRST_MOMENT,
        )


def account_changes(batch: int, count: int, known: int) -> Iterator[Row]:
    """Yield one batch of changes: updates (U) and closures (D) of known accounts, and new ones (I).

    Each key has at most one change.
    """
    random = seed("accounts", batch)
    moment = FIRST_MOMENT + timedelta(minutes=15 * batch)
    inserts = count // 10
    for key in sorted(random.sample(range(known), count - inserts)):
        operation = "D" if random.randrange(12) == 0 else "U"
        balance = Decimal(random.randrange(1_000_000)).scaleb(-2)
        yield (
            batch,
            operation,
            key,
            _REGIONS[key % len(_REGIONS)],
            random.choice(("open", "open", "frozen")),
            balance,
            moment,
        )
    for number in range(inserts):
        key = 1_000_000 + batch * 1000 + number
        yield (
            batch,
            "I",
            key,
            _REGIONS[key % len(_REGIONS)],
            "open",
            Decimal(random.randrange(100_000)).scaleb(-2),
            moment,
        )
