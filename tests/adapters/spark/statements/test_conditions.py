"""Spark's own parser on what is taken for a condition: its reading is the condition of
that one filter.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyspark
import pytest
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
from py4j.protocol import Py4JJavaError

from maintainer.adapters.spark.jars import default_directory
from maintainer.adapters.spark.statements.job import statements_of
from maintainer.domain.action import RewriteDataFiles
from maintainer.domain.condition import check_condition
from maintainer.domain.condition_constants import DATE_FUNCTIONS
from tests.adapters.spark.surrounded import SURROUNDED, job_of
from tests.conditions import CONDITIONS, FITTING, UNFIT, hostile_texts, plain_conditions

pytestmark = [pytest.mark.spark, pytest.mark.slow]

LIMITED = ["GlobalLimit", "LocalLimit", "Project", "Filter"]
IN_THEIR_PLACE = [
    [*LIMITED, "UnresolvedRelation"],
    ["Project", "SubqueryAlias", *LIMITED, "RelationTimeTravel"],
]
parsed = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much]
)


@pytest.fixture(scope="module")
def catalyst() -> Iterator[Any]:
    """The classes of Spark's SQL in a JVM of their own, without Spark."""
    jars = Path(pyspark.__file__).parent / "jars"
    server = str(next(jars.glob("py4j-*.jar")))
    port, process = launch_gateway(
        classpath=f"{jars}/*",
        jarpath=server,
        die_on_exit=True,
        javaopts=["-Xmx512m", "-XX:+UseSerialGC"],
        return_proc=True,
    )
    gateway = JavaGateway(
        gateway_parameters=GatewayParameters(port=int(port), enable_memory_management=False)
    )
    yield gateway.jvm.org.apache.spark.sql.catalyst
    gateway.close()
    process.stdin.close()  # which ends it
    process.wait(30)


def read_plan(catalyst: Any, statement: str) -> list[str] | None:
    """Its operators from the outside in; None where Spark cannot read it."""
    try:
        plan = catalyst.parser.CatalystSqlParser().parsePlan(statement)
    except Py4JJavaError as error:
        if "ParseException" not in error.java_exception.getClass().getName():
            raise
        return None
    operators = []
    while True:
        operators.append(
            plan.getClass().getSimpleName()
            + ("" if plan.subqueries().isEmpty() else " with a query")
        )
        if plan.children().isEmpty():
            return operators
        if plan.children().size() > 1:
            return [*operators, "several"]
        plan = plan.children().head()


def read_statements(catalyst: Any, where: str) -> list[list[str] | None]:
    """The reading of some rows, and the trial of the checksums."""
    written = statements_of(job_of(RewriteDataFiles(where=where), SURROUNDED)).every
    return [read_plan(catalyst, written[-2]), read_plan(catalyst, written[2])]


@parsed
@given(text=st.one_of(hostile_texts(), st.tuples(plain_conditions(), hostile_texts()).map("".join)))
@example(text="a) OR (b")
@example(text="name = r'\\' OR x = ' UNION SELECT 1 FROM t -- '")
@example(text="n = 5e+3fR'\\' OR x = ' UNION SELECT 1 FROM t -- '")
@example(text="\u017fELECT")
def test_guard_31_spark_reads_what_is_taken_as_one_condition_or_not_at_all(
    catalyst: Any,
    text: str,
) -> None:
    if check_condition(text) is not None:
        event("refused")
        return
    read = read_statements(catalyst, text)
    event("read" if read[0] else "not read")
    assert read in (IN_THEIR_PLACE, [None, None])


@parsed
@given(text=plain_conditions())
def test_spark_reads_every_plain_condition_in_its_place(catalyst: Any, text: str) -> None:
    assert read_statements(catalyst, text) == IN_THEIR_PLACE


@pytest.mark.parametrize("text", CONDITIONS)
def test_spark_reads_what_is_taken_for_a_condition_in_its_place(catalyst: Any, text: str) -> None:
    assert read_statements(catalyst, text) == IN_THEIR_PLACE


@pytest.mark.parametrize("text", ["a UNION (SELECT 1)", "id IN (SELECT 1)", "a GROUP BY b", "(a)"])
def test_unchecked_some_would_be_more_than_a_condition(catalyst: Any, text: str) -> None:
    operators = read_plan(catalyst, f"SELECT 1 FROM t WHERE {text} LIMIT 100")
    assert operators not in (None, IN_THEIR_PLACE[0])


def test_every_function_that_may_be_called_is_sparks_own(catalyst: Any) -> None:
    registry = getattr(getattr(catalyst.analysis, "FunctionRegistry$"), "MODULE$").builtin()
    missing = {
        name
        for name in DATE_FUNCTIONS
        if not registry.functionExists(catalyst.FunctionIdentifier(name))
    }
    assert not missing


def test_iceberg_filters_by_what_fits_the_columns_and_by_nothing_else(tmp_path: Path) -> None:
    jars = ",".join(map(str, sorted(default_directory().glob("*.jar"))))
    done = subprocess.run(
        [sys.executable, "-m", "tests.adapters.spark.statements.filtering", str(tmp_path), jars],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-5000:]
    errors = json.loads(done.stdout.strip().splitlines()[-1])
    assert {where: errors[where] for where in FITTING} == dict.fromkeys(FITTING, "")
    assert [where for where in UNFIT if not errors[where]] == []
