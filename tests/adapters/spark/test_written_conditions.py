"""The forms of a condition, as they are written anew, choose files on a real Spark."""

from __future__ import annotations

import pytest

from maintainer.adapters.spark.local import LocalRunner
from maintainer.domain.action import RewriteDataFiles
from maintainer.domain.identifier import TableIdentifier
from maintainer.procedures.registry import call_statement
from tests.adapters.spark.workshop import run_sql

pytestmark = [pytest.mark.spark, pytest.mark.slow]

TABLE = TableIdentifier("lake", ("db",), "conditions")
COLUMNS = (
    "id bigint, i int, name string, at timestamp, ntz timestamp_ntz, day date, flag boolean, "
    "f double, price decimal(9,2), bin binary, s struct<x: int>"
)
FORMS = (
    "true",
    "flag AND NOT (id = 1) AND ! flag",
    "1 < id OR id <=> 3 OR id != -4 OR id == 5L OR id <> 2",
    "id = '7' OR id = CAST('9223372036854775807' AS BIGINT)",
    "i IN (1, 2, 3) AND i NOT IN (4) AND i BETWEEN 0 AND 9 AND i NOT BETWEEN 20 AND 30",
    "name LIKE 'ab%' AND name NOT LIKE 'b%' AND name IN ('it''s', \"x\\\\\") AND name = '\\t${a}'",
    "name IS NULL OR s.x IS NOT NULL OR `s`.`x` = 1",
    "day < current_date AND day < current_date() - 7 AND day >= DATE '2026-01-01'",
    "day < current_date() - INTERVAL 7 DAYS AND day > date_sub(current_date(), 7)",
    "day > add_months(curdate(), -3) OR day = '2026-01-01' OR day > trunc(current_date, 'MONTH')",
    "day BETWEEN to_date('2026-01-01') AND last_day(date_add(current_date(), 1))",
    "at < current_timestamp - INTERVAL 1 DAY 2 HOURS AND at < now() - INTERVAL '7' DAYS",
    "at >= TIMESTAMP '2026-01-01 00:00:00 UTC' AND at > date_trunc('DAY', now())",
    "at < current_date() AND at > '2026-01-01' AND at > to_timestamp('2026-01-01 00:00:00')",
    "ntz < TIMESTAMP_NTZ '2026-01-01 00:00:00' AND CAST(at AS DATE) < current_date()",
    "f = CAST('nan' AS DOUBLE) OR f > 1.5e+3D OR f = CAST('1.5' AS DOUBLE) OR price = 1.50 OR price < 2BD",
    "bin = X'1F' OR flag = TRUE",
    "lake.system.days(at) >= DATE '2026-01-01' OR lake.system.days(day) < DATE '2026-01-01'",
    "`lake`.system.bucket(4, `id`) = 3 OR lake.system.truncate(2, name) = 'ab'",
    "(id) = 1 OR id = (1) OR (id) IN ((2), 3) OR ((2)) < (id)",
    "date(at) < current_date() AND (date(day)) > (current_date() - (7)) - (2 * 7)",
    "id < 60 * 60 * 24 AND id > (1 + 2) * 3 - -4 AND f < 1 / 2 AND id < 17 % 5 AND price < 1.5 + 1",
    "lake.system.hours(at) > 5 OR lake.system.months(at) > 5 OR lake.system.years(day) = 50",
)


def test_each_form_of_a_condition_chooses_files_on_a_real_spark(warm: LocalRunner) -> None:
    written = [call_statement(TABLE, RewriteDataFiles(where=form)) for form in FORMS]
    run_sql(
        warm,
        "CREATE NAMESPACE IF NOT EXISTS lake.db",
        f"CREATE TABLE lake.db.conditions ({COLUMNS}) USING iceberg PARTITIONED BY (days(at))",
        "INSERT INTO lake.db.conditions SELECT 1, 1, 'ab', current_timestamp(), "
        "CAST(current_timestamp() AS timestamp_ntz), current_date(), true, 1.5, 1.5, X'1F', "
        "named_struct('x', 1)",
        *written,
    )
