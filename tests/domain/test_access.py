from __future__ import annotations

import pytest

from maintainer.domain.access import (
    ClaimRule,
    Grant,
    Person,
    Role,
    find_claim,
    is_within,
    read_prefix,
    write_scope,
)
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier

ORDERS = TableIdentifier("lake", ("sales",), "orders")
SALES = Grant(Role.OPERATOR, ("lake.sales.",))


def test_each_role_includes_those_before_it() -> None:
    assert Role.ADMIN.includes(Role.VIEWER)
    assert Role.VIEWER.includes(Role.VIEWER)
    assert not Role.VIEWER.includes(Role.OPERATOR)


@pytest.mark.parametrize(
    ("scope", "prefix"), [("*", ""), ("lake", "lake."), ("lake.sales", "lake.sales.")]
)
def test_the_names_of_a_scope_begin_with_its_prefix(scope: str, prefix: str) -> None:
    assert read_prefix(scope) == prefix


def test_a_glob_is_no_scope() -> None:
    with pytest.raises(InvalidValueError, match=r"scope 'lake\.s\*' is a glob"):
        read_prefix("lake.s*")


def test_scopes_are_written_as_prefixes_with_a_star() -> None:
    assert write_scope(None) == "*"
    assert write_scope("lake") == "lake.*"
    assert write_scope("lake", "sales") == "lake.sales.*"


def test_the_greatest_role_counts_and_only_where_it_is_held() -> None:
    person = Person("ada", (Grant(Role.VIEWER, ("lake.",)), SALES))
    assert person.role_on(ORDERS) is Role.OPERATOR
    assert person.role_on_scope("lake.*") is Role.VIEWER
    assert person.role_on("pond.") is None
    assert person.greatest_role is Role.OPERATOR
    assert Person("eve").greatest_role is None


def test_a_person_sees_prefixes_none_of_which_is_inside_another() -> None:
    person = Person("ada", (Grant(Role.VIEWER, ("lake.", "pond.a.")), SALES))
    assert person.sees == ("lake.", "pond.a.")
    assert person.seen_in("pond") == ("pond.a.",)
    assert not person.sees_catalog("sea")
    assert person.sees_scope("pond.*"), "a part of it"
    assert not person.sees_scope("sea.*")
    assert not person.sees_scope("pond")
    everything = Person("bob", (Grant(Role.VIEWER),))
    assert everything.sees is None
    assert everything.sees_all
    assert not person.sees_all
    assert everything.seen_in("sea") == ("sea.",)


def test_names_are_within_prefixes_and_without_any_all_are() -> None:
    assert is_within(ORDERS, ["lake.sales."])
    assert not is_within(ORDERS, ["pond."])
    assert is_within(ORDERS, None)


def test_claims_match_by_value_list_or_path() -> None:
    claims = {"groups": ["data", "ops"], "realm": {"role": "admin"}, "a.b": 1}
    assert ClaimRule(SALES).matches({})
    assert ClaimRule(SALES, "groups", "ops").matches(claims)
    assert ClaimRule(SALES, "realm.role", "admin").matches(claims)
    assert not ClaimRule(SALES, "realm.role", "viewer").matches(claims)
    assert find_claim(claims, "a.b") == 1
    assert find_claim(claims, "groups.first") is None
