"""Apache Polaris' policies as layers: its documented JSON, its inheritance, and its API as it may
answer.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from maintainer.adapters.policies import polaris_client
from maintainer.adapters.policies.polaris import PolarisPolicies
from maintainer.adapters.policies.polaris_client import PolarisOptions
from maintainer.adapters.policies.polaris_content import (
    Attachment,
    Draft,
    draft_file,
    make_layer,
    read_policies,
    write_file,
)
from maintainer.adapters.policies.reading import parse_policy
from maintainer.adapters.retry_after import ATTEMPTS
from maintainer.app.policies import JoinedPolicies
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.policy import Mode, PolicyLayer, PolicySet, Rule
from maintainer.domain.rules import ExpireSnapshotsRule
from maintainer.domain.units import MIB
from maintainer.policy.effective import effective
from tests.adapters.policies.polaris_server import TOKEN, Polaris, serve
from tests.examples import examples
from tests.fakes.adapters.policies import FakePolicies

COMPACTION, METADATA, EXPIRY, ORPHANS = (
    "system.data-compaction",
    "system.metadata-compaction",
    "system.snapshot-expiry",
    "system.orphan-file-removal",
)
ORDERS, ITEMS = (
    TableIdentifier("lake", ("sales", "daily"), "orders"),
    TableIdentifier("lake", ("sales",), "items"),
)

# The examples of Polaris' documentation and schemas.
DOCUMENTED: dict[str, dict[str, object]] = {
    COMPACTION: {
        "version": "2025-02-03",
        "enable": True,
        "config": {
            "target_file_size_bytes": 134217728,
            "compaction_strategy": "bin-pack",
            "max-concurrent-file-group-rewrites": 5,
            "my-key": "my-value",
        },
    },
    METADATA: {
        "version": "2025-02-03",
        "enable": True,
        "config": {"spec_id": 1, "my_key": "my_value"},
    },
    EXPIRY: {
        "version": "2025-02-03",
        "enable": True,
        "config": {
            "min_snapshot_to_keep": 1,
            "max_snapshot_age_days": 2,
            "max_ref_age_days": 3,
            "key1": "value1",
        },
    },
    ORPHANS: {
        "version": "2025-02-03",
        "enable": True,
        "max_orphan_file_age_in_days": 30,
        "locations": ["s3://my-bucket/my-table-location"],
        "config": {"prefix_mismatch_mode": "ignore"},
    },
}
# What the documentation answers to GET
# /polaris/v1/catalog/applicable-policies?namespace=finance%1Fquarterly&target-name=transactions
SAMPLE_RESPONSE = {
    "policies": [
        {
            "name": "snapshot-expiry-policy",
            "type": EXPIRY,
            "appliedAt": "namespace",
            "content": DOCUMENTED[EXPIRY],
        },
        {
            "name": "compaction-policy",
            "type": COMPACTION,
            "appliedAt": "catalog",
            "content": DOCUMENTED[COMPACTION],
        },
    ]
}


def draft_of(kind: str, content: dict[str, object]) -> Draft:
    (policy,) = read_policies({"name": "p", "type": kind, "content": content})
    return draft_file(policy)


_Rule = TypeVar("_Rule", bound=Rule)


def rule_of(policies: PolicySet, table: TableIdentifier, kind: type[_Rule]) -> _Rule:
    rule = effective(policies, table, {}).rule(kind)
    assert rule is not None
    return rule


# -- content


def test_the_documented_compaction_policy() -> None:
    draft = draft_of(COMPACTION, DOCUMENTED[COMPACTION])
    assert draft.document == {
        "rules": {
            "rewrite_data_files": {
                "enabled": True,
                "strategy": "binpack",
                "options": {"max-concurrent-file-group-rewrites": 5},
            }
        },
        "target_file_size": 134217728,
    }
    assert draft.notes == ["config.my-key is not used: the key is not known here"]
    newer: dict[str, object] = {"enable": True, "target_file_size_bytes": 134217728}
    assert draft_of(COMPACTION, newer).document["target_file_size"] == 134217728


def test_the_documented_metadata_policy() -> None:
    draft = draft_of(METADATA, DOCUMENTED[METADATA])
    assert draft.document == {"rules": {"rewrite_manifests": {"enabled": True}}}
    assert [note.split(" is ")[0] for note in draft.notes] == ["config.spec_id", "config.my_key"]


def test_the_documented_expiry_policy_is_held_to_the_floors() -> None:
    draft = draft_of(EXPIRY, DOCUMENTED[EXPIRY])
    assert draft.document == {
        "rules": {"expire_snapshots": {"enabled": True, "keep": 2, "max_age": "2d"}}
    }
    assert (
        draft.notes[0]
        == "config.min_snapshot_to_keep is 1, under the floor of 2; the floor is used"
    )
    assert draft.notes[1].startswith("config.max_ref_age_days is not used: branches and tags")


def test_the_documented_orphan_policy_never_names_another_place() -> None:
    draft = draft_of(ORPHANS, DOCUMENTED[ORPHANS])
    assert draft.document == {
        "rules": {"remove_orphan_files": {"enabled": True, "older_than": "30d"}}
    }
    assert [note.split(" is ")[0] for note in draft.notes] == [
        "locations",
        "config.prefix_mismatch_mode",
    ]
    assert draft_of(ORPHANS, {"enable": True, "max_orphan_file_age_in_days": 0.5}).document[
        "rules"
    ] == {"remove_orphan_files": {"enabled": True, "older_than": "3d"}}


@pytest.mark.parametrize(
    ("kind", "content", "reported"),
    [
        (EXPIRY, {}, "enable is None, but must be true or false; the rule is disabled"),
        (
            EXPIRY,
            {"enable": True, "version": "2030-01-01"},
            "version is '2030-01-01'; it was read as 2025-02-03",
        ),
        (
            EXPIRY,
            {"enable": True, "config": {"max_snapshot_age_days": "soon"}},
            "config.max_snapshot_age_days is not used",
        ),
        (
            EXPIRY,
            {"enable": True, "config": {"min_snapshots_to_keep": 2.5}},
            "config.min_snapshots_to_keep is not used",
        ),
        (EXPIRY, {"enable": True, "config": 7}, "config is not used: the key is not known here"),
        (
            COMPACTION,
            {"enable": True, "target_file_size_bytes": 1},
            "target_file_size is 1, under the least value 1MiB",
        ),
        (
            COMPACTION,
            {"enable": True, "config": {"compaction_strategy": "z-order"}},
            "'z-order' is neither bin-pack nor sort",
        ),
        (
            COMPACTION,
            {"enable": True, "config": {"use-starting-sequence-number": False}},
            "must be true",
        ),
        (
            "custom.acme.masking",
            {"enable": True},
            "policy type custom.acme.masking has no meaning here",
        ),
    ],
)
def test_what_cannot_be_taken_is_noted(
    kind: str, content: dict[str, object], reported: str
) -> None:
    assert any(reported in note for note in draft_of(kind, content).notes)


def test_a_policy_that_does_not_say_whether_it_is_enabled_switches_its_rule_off() -> None:
    assert draft_of(EXPIRY, {"enable": "yes"}).document == {
        "rules": {"expire_snapshots": {"enabled": False}}
    }


def test_numbers_may_be_texts_and_a_sort_order_goes_with_its_strategy() -> None:
    assert draft_of(
        EXPIRY,
        {"enable": True, "config": {"min_snapshot_to_keep": "7", "max_snapshot_age_days": "1.5"}},
    ).document["rules"] == {"expire_snapshots": {"enabled": True, "keep": 7, "max_age": "1.5d"}}
    draft = draft_of(
        COMPACTION,
        {
            "enable": True,
            "config": {"compaction_strategy": "sort", "sort_order": "id", "where": "day > 1"},
        },
    )
    assert draft.document["rules"] == {
        "rewrite_data_files": {
            "enabled": True,
            "strategy": "sort",
            "sort_order": "id",
            "where": "day > 1",
        }
    }


@pytest.mark.parametrize(
    "document",
    [
        7,
        {"applicable-policies": 7},
        [7],
        [{"name": "p"}],
        [{"name": "p", "type": EXPIRY, "content": "{"}],
        [{"name": "p", "type": EXPIRY, "content": "[]"}],
    ],
)
def test_what_is_no_policy_is_refused(document: object) -> None:
    with pytest.raises(InvalidValueError):
        read_policies(document)


def test_the_specifications_nested_shape_is_read_like_the_flat_one() -> None:
    flat = {
        "name": "p",
        "policy-type": EXPIRY,
        "content": "{}",
        "version": 3,
        "inheritable": True,
        "inherited": True,
        "namespace": ["a"],
    }
    nested = {
        "inherited": True,
        "namespaces": ["a"],
        "policy": {
            key: flat[key] for key in ("name", "policy-type", "content", "version", "inheritable")
        },
    }
    assert read_policies([flat]) == read_policies({"applicable-policies": [nested]})


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2),
)
_KEYS = st.sampled_from(
    [
        "min_snapshot_to_keep",
        "max_snapshot_age_days",
        "target_file_size_bytes",
        "compaction_strategy",
        "max_orphan_file_age_in_days",
        "where",
        "x\r\ntables: y",
    ]
)


@settings(max_examples=examples(25))
@given(
    st.sampled_from(sorted(DOCUMENTED)),
    st.dictionaries(_KEYS, _JSON),
    st.dictionaries(_KEYS, _JSON),
)
def test_any_content_of_an_engine_gives_a_layer_within_our_bounds(
    kind: str, top: dict[str, object], config: dict[str, object]
) -> None:
    (policy,) = read_policies(
        {"name": "p", "type": kind, "content": {**top, "enable": True, "config": config}}
    )
    text = write_file(("lake.*",), [policy])
    layer, _ = make_layer(policy, Attachment("lake"))
    parsed = parse_policy(text, "p.yaml")
    assert isinstance(parsed, PolicyLayer), (text, parsed)
    assert layer is not None
    assert {path: setting.value for path, setting in layer.settings.items()} == {
        path: setting.value for path, setting in parsed.settings.items()
    }


# -- files


def test_a_written_file_says_the_same_with_a_comment_for_what_was_left_out() -> None:
    text = write_file(("lake.finance.*", "lake.hr.*"), read_policies(SAMPLE_RESPONSE))
    assert text.startswith(
        "# from Polaris policy snapshot-expiry-policy (system.snapshot-expiry)\n# from Polaris "
        "policy compaction-policy"
    )
    assert (
        "# compaction-policy (system.data-compaction): config.my-key is not used: the key is "
        "not known here\n"
    ) in text
    parsed = parse_policy(text, "finance.yaml")
    assert isinstance(parsed, PolicyLayer), parsed
    rule = rule_of(
        PolicySet((parsed,)), TableIdentifier("lake", ("finance",), "t"), ExpireSnapshotsRule
    )
    assert (rule.keep, rule.max_age) == (2, timedelta(days=2))


@pytest.mark.parametrize(
    ("attachment", "pattern"),
    [
        (Attachment("lake"), "lake.*"),
        (Attachment("lake", ("sales", "daily")), "lake.sales.daily.*"),
        (Attachment("lake", ("a.b",)), "lake.`a.b`.*"),
        (Attachment("lake", ("s*",)), "lake.s[*].*"),
        (Attachment("lake", ("sales",), "orders"), "lake.sales.orders"),
        (Attachment("lake", ("sales",), "or[d]?"), "lake.sales.or[[]d][?]"),
    ],
)
def test_an_attachment_is_a_pattern_for_its_tables(attachment: Attachment, pattern: str) -> None:
    assert attachment.pattern.text == pattern
    table = TableIdentifier("lake", attachment.namespace or ("any",), attachment.table or "any")
    assert attachment.pattern.matches(table)


# -- the API


@pytest.fixture
def polaris() -> Iterator[Polaris]:
    made = Polaris(
        tables={("sales",): ["items"], ("sales", "daily"): ["orders"], ("hr",): ["people"]}
    )
    with serve(made):
        yield made


def options(polaris: Polaris, **more: object) -> PolarisOptions:
    base = PolarisOptions(polaris.uri, warehouse="quickstart", credential="root:s3cr3t")
    return replace(base, **more)  # type: ignore[arg-type] # checked by the dataclass's users


def read(polaris: Polaris, **more: object) -> PolicySet:
    return PolarisPolicies("lake", options(polaris, **more)).current()


def test_the_nearest_attachment_wins_as_a_whole(polaris: Polaris) -> None:
    polaris.attach(
        EXPIRY,
        {"enable": True, "config": {"min_snapshot_to_keep": 30, "max_snapshot_age_days": 30}},
    )
    polaris.attach(EXPIRY, {"enable": True, "config": {"min_snapshot_to_keep": 20}}, "sales")
    polaris.attach(EXPIRY, {"enable": False}, "sales", "daily", "orders")
    polaris.attach(COMPACTION, {"enable": True, "target_file_size_bytes": 64 * MIB})
    policies = read(polaris)
    people, items, orders = (
        rule_of(policies, table, ExpireSnapshotsRule)
        for table in (TableIdentifier("lake", ("hr",), "people"), ITEMS, ORDERS)
    )
    assert (people.keep, people.max_age) == (30, timedelta(days=30))
    assert (items.keep, items.max_age) == (20, timedelta(days=5)), (
        "the catalog's age does not shine through"
    )
    assert not orders.is_enabled
    assert {effective(policies, table, {}).target_file_size_bytes for table in (ITEMS, ORDERS)} == {
        64 * MIB
    }
    source = effective(policies, ITEMS, {}).sources["rules.expire_snapshots.keep"]
    assert source == "Polaris policy snapshot-expiry-sales (version 0) at lake.sales"


def test_a_server_that_does_not_say_what_is_inherited_is_understood_too(polaris: Polaris) -> None:
    polaris.tells_inherited = False
    polaris.attach(EXPIRY, {"enable": True, "config": {"min_snapshot_to_keep": 30}})
    polaris.attach(
        EXPIRY, {"enable": True, "config": {"min_snapshot_to_keep": 20}}, "sales", "items"
    )
    assert [layer.name for layer in read(polaris).layers] == [
        "polaris/lake/system.snapshot-expiry",
        "polaris/lake.sales.items/system.snapshot-expiry",
    ]


def test_files_stand_above_what_is_equally_narrow_and_polaris_above_what_is_wider(
    polaris: Polaris,
) -> None:
    polaris.attach(
        EXPIRY,
        {"enable": True, "config": {"min_snapshot_to_keep": 20, "max_snapshot_age_days": 9}},
        "sales",
    )
    wide, same = (
        parse_policy(
            f"tables: {tables}\nrules: {{expire_snapshots: {{keep: {keep}}}}}", f"{keep}.yaml"
        )
        for tables, keep in (("lake.*", 3), ("lake.sales.*", 4))
    )
    assert isinstance(wide, PolicyLayer)
    assert isinstance(same, PolicyLayer)
    source = PolarisPolicies("lake", options(polaris))
    assert (
        rule_of(
            JoinedPolicies((), FakePolicies(wide), source).current(), ITEMS, ExpireSnapshotsRule
        ).keep
        == 20
    )
    joined = JoinedPolicies((), FakePolicies(wide, same), source).current()
    rule = rule_of(joined, ITEMS, ExpireSnapshotsRule)
    assert (rule.keep, rule.max_age, effective(joined, ITEMS, {}).ambiguities) == (
        4,
        timedelta(days=9),
        (),
    )


def test_lists_are_read_page_by_page(polaris: Polaris) -> None:
    polaris.page_size = 1
    polaris.tables[("sales",)] = ["a", "b", "items"]
    for kind in DOCUMENTED:
        polaris.attach(kind, {"enable": True}, "sales", "items")
    assert len(read(polaris).layers) == 4


def test_without_tables_only_the_catalog_and_namespaces_are_asked(polaris: Polaris) -> None:
    polaris.attach(EXPIRY, {"enable": True}, "sales")
    polaris.attach(EXPIRY, {"enable": False}, "sales", "items")
    policies = PolarisPolicies("lake", options(polaris), with_tables=False).current()
    assert [layer.name for layer in policies.layers] == [
        "polaris/lake.sales/system.snapshot-expiry"
    ]
    assert not any("target-name" in asked or "/tables" in asked for asked in polaris.asked)


def test_a_policy_that_is_not_inheritable_is_for_its_target_alone(polaris: Polaris) -> None:
    polaris.attach(EXPIRY, {"enable": True}, "sales", inheritable=False)
    polaris.attach(EXPIRY, {"enable": True}, "hr", "people", inheritable=False)
    polaris.tells_inherited = False
    assert [layer.name for layer in read(polaris).layers] == [
        "polaris/lake.hr.people/system.snapshot-expiry"
    ]


@pytest.mark.parametrize(
    "more",
    [
        {"token": TOKEN, "credential": None},
        {"prefix": "quickstart", "warehouse": ""},
        {"warehouse": "quickstart"},
    ],
)
def test_a_token_or_a_credential_and_a_prefix_or_a_warehouse_lead_there(
    polaris: Polaris, more: dict[str, object]
) -> None:
    polaris.attach(EXPIRY, {"enable": True})
    assert len(read(polaris, **more).layers) == 1


def test_a_netrc_file_does_not_replace_the_token(
    polaris: Polaris, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login somebody password else\ndefault login a password b\n")
    monkeypatch.setenv("NETRC", str(netrc))
    polaris.wants_token = True
    polaris.attach(EXPIRY, {"enable": True})
    assert len(read(polaris).layers) == 1


def test_a_set_is_kept_until_the_next_reading_and_a_changed_one_has_another_version(
    polaris: Polaris,
) -> None:
    polaris.attach(EXPIRY, {"enable": True})
    source = PolarisPolicies("lake", options(polaris))
    files = FakePolicies()
    joined = JoinedPolicies((), files, source)
    first = joined.current()
    asked = len(polaris.asked)
    polaris.attach(COMPACTION, {"enable": True})
    assert (source.current() is source.current(), len(polaris.asked)) == (True, asked), (
        "asking again costs no request"
    )
    source.refresh()
    assert len(joined.current().layers) == 2
    assert joined.current().version != first.version


@pytest.mark.parametrize(
    ("part", "status", "body", "reported"),
    [
        ("/applicable-policies", 503, b"{}", "Polaris answered 503"),
        ("/applicable-policies", 403, b"{}", "Polaris answered 403"),
        ("/namespaces", 200, b"not json", "is not JSON"),
        ("/namespaces", 200, b"[]", "no object"),
        (
            "/applicable-policies",
            200,
            b'{"applicable-policies": [{"name": 7}]}',
            "policies that cannot be read",
        ),
        ("/namespaces", 200, b'{"namespaces": [["a"]], "next-page-token": "again"}', "pages"),
        ("/namespaces", 200, b'{"x": "' + b"x" * 1000 + b'"}', "bytes"),
        ("/v1/config", 404, b"{}", "has nothing at"),
    ],
)
def test_a_failed_reading_keeps_the_last_good_set(  # noqa: PLR0917 - one row of a table
    polaris: Polaris,
    monkeypatch: pytest.MonkeyPatch,
    part: str,
    status: int,
    body: bytes,
    reported: str,
) -> None:
    monkeypatch.setattr(polaris_client, "MAXIMUM_PAGES", 3)
    monkeypatch.setattr(polaris_client, "MAXIMUM_BYTES", 900)
    polaris.attach(EXPIRY, {"enable": False}, "sales", "items")
    source = PolarisPolicies("lake", options(polaris))
    good = source.current()
    polaris.broken[part] = (status, body)
    source.refresh()
    after = source.current()
    assert (after.layers, after.version, after.unread) == (good.layers, good.version, ())
    (problem,) = after.problems
    assert reported in problem.message
    assert problem.message.endswith("its last good policies stay in force")
    polaris.broken.clear()
    source.refresh()
    assert source.current().problems == ()


def test_until_it_was_read_once_tables_of_its_catalog_are_only_observed(polaris: Polaris) -> None:
    polaris.broken["/v1/config"] = (500, b"{}")
    files = parse_policy("tables: '*'\nmode: enforce\n", "all.yaml")
    assert isinstance(files, PolicyLayer)
    source = PolarisPolicies("lake", options(polaris))
    joined = JoinedPolicies((), FakePolicies(files), source)
    before = joined.current()
    assert (
        effective(before, ITEMS, {}).mode,
        effective(before, replace(ITEMS, catalog="ice"), {}).mode,
    ) == (Mode.OBSERVE, Mode.ENFORCE)
    assert effective(before, ITEMS, {"maintainer.mode": "enforce"}).mode is Mode.OBSERVE
    assert "only observed until it was read once" in before.problems[0].message
    polaris.broken.clear()
    source.refresh()
    assert effective(joined.current(), ITEMS, {}).mode is Mode.ENFORCE
    assert joined.current().version != before.version


def test_a_wrong_credential_and_a_closed_door_are_problems_without_secrets(
    polaris: Polaris,
) -> None:
    (refused,) = read(polaris, credential="root:wrong-s3cr3t").problems
    assert "Polaris answered 401 to POST" in refused.message
    assert "wrong-s3cr3t" not in refused.message
    with socket.socket() as nobody_listens:
        nobody_listens.bind(("127.0.0.1", 0))
        (closed,) = read(
            polaris, uri=f"http://127.0.0.1:{nobody_listens.getsockname()[1]}/api/catalog"
        ).problems
    assert "Polaris cannot be reached" in closed.message
    assert "s3cr3t" not in repr(options(polaris))


def test_a_request_that_is_put_off_is_sent_again_as_often_as_is_allowed(polaris: Polaris) -> None:
    polaris.put_off = ATTEMPTS - 1
    assert not read(polaris).problems
    polaris.asked.clear()
    polaris.put_off = ATTEMPTS
    (problem,) = read(polaris).problems
    assert "Polaris answered 429 to GET" in problem.message
    assert len(polaris.asked) == 1 + ATTEMPTS, "the token came at once"


def test_a_reading_is_bounded_in_requests_and_time(polaris: Polaris) -> None:
    assert "takes more than 5 requests" in read(polaris, max_requests=5).problems[0].message
    assert len(polaris.asked) == 5
    assert "or 0 s" in read(polaris, deadline=timedelta(0)).problems[0].message


def test_a_namespace_that_is_dropped_while_it_is_read_is_left_out(polaris: Polaris) -> None:
    polaris.attach(EXPIRY, {"enable": True}, "sales", "items")
    polaris.broken["namespace=hr&"] = (404, b"{}")
    assert len(read(polaris).layers) == 1
    assert read(polaris).problems == ()


def test_notes_on_what_is_not_used_are_reported_with_the_policy(polaris: Polaris) -> None:
    polaris.attach(COMPACTION, DOCUMENTED[COMPACTION])
    (note,) = read(polaris).problems
    assert (note.source, note.message, note.is_note) == (
        "Polaris policy data-compaction-all (version 0) at lake",
        "config.my-key is not used: the key is not known here",
        True,
    )
    polaris.attach("custom.acme.masking", json.dumps({"enable": True}))
    assert [layer.family for layer in read(polaris).layers] == ["polaris system.data-compaction"]
