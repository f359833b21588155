"""A policy whose pool is not configured is a problem of its file, and of no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from maintainer.adapters.policies.directory import PolicyDirectory
from maintainer.adapters.policies.reading import parse_policy
from maintainer.app.policies import JoinedPolicies
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.policy import PolicyLayer
from maintainer.policy.effective import effective

TABLE = TableIdentifier("lake", ("sales",), "orders")


def test_the_problem_names_the_file_the_value_and_the_known_pools(tmp_path: Path) -> None:
    (tmp_path / "good.yaml").write_text("tables: lake.a.*\nruns_on: big\n")
    (tmp_path / "bad.yaml").write_text("tables: lake.sales.*\nmode: enforce\nruns_on: huge\n")
    checked = JoinedPolicies(("default", "big"), PolicyDirectory(tmp_path))
    policies = checked.current()
    assert checked.current() is policies
    [problem] = policies.problems
    assert problem.source == f"{tmp_path.name}/bad.yaml:3"
    assert problem.message == (
        "runs_on is 'huge', but spark.pools has no such pool (there is big, default); no job runs "
        "on these tables until then"
    )
    assert len(policies.layers) == 2, "it stays in force: its tables must not fall to others"
    assert effective(policies, TABLE, {}).runs_on == "huge"


def test_the_narrower_file_names_the_pool() -> None:
    layers = tuple(
        parse_policy(f"tables: '{tables}'\nruns_on: {pool}\n", f"{pool}.yaml")
        for tables, pool in (("*", "wide"), ("lake.sales.orders", "narrow"))
    )
    made = effective(
        tuple(layer for layer in layers if isinstance(layer, PolicyLayer)),
        TABLE,
        {"maintainer.runs_on": "mine"},
    )
    assert (made.runs_on, made.sources["runs_on"]) == ("narrow", "narrow.yaml:2")


@pytest.mark.parametrize("name", ["Big", "a b", "-a", "x" * 41, "''"])
def test_what_no_pool_can_be_called_is_refused(name: str) -> None:
    parsed = parse_policy(f"tables: '*'\nruns_on: {name}\n", "a.yaml")
    assert not isinstance(parsed, PolicyLayer)
    assert "but a pool's name has at most 40 lower-case letters" in parsed[0].message
