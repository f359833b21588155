"""Sources of policies beside the files, as the configuration switches them on: read again by a step
of their own.
"""

from __future__ import annotations

from pathlib import Path

from maintainer.adapters.policies.kubernetes import POLICY
from maintainer.app import open_app
from maintainer.app.loop import make_idle_scheduler, make_scheduler
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.rules import ExpireSnapshotsRule
from maintainer.policy.effective import effective
from maintainer.settings import load_settings
from tests.adapters.policies.polaris_server import Polaris, serve
from tests.adapters.policies.resources import REPORT, create, open_policy_server

ITEMS = TableIdentifier("lake", ("sales",), "items")


def keep(policies: object) -> int | None:
    # A PolicySet.
    rule = effective(policies, ITEMS, {}).rule(ExpireSnapshotsRule)  # type: ignore[arg-type]
    assert rule is not None
    return rule.keep


def test_polaris_speaks_beside_the_files_and_is_looked_at_by_a_step_of_its_own(
    tmp_path: Path,
) -> None:
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "default.yaml").write_text("mode: enforce\n")
    config = tmp_path / "maintainer.yaml"
    with serve(Polaris(tables={("sales",): ["items"]})) as polaris:
        polaris.attach(
            "system.snapshot-expiry",
            {"enable": True, "config": {"min_snapshot_to_keep": 7}},
            "sales",
        )
        config.write_text(
            f"catalogs:\n  lake: {{type: rest, uri: '{polaris.uri}', warehouse: quickstart, "
            f"credential: 'root:s3cr3t'}}\npolaris_policies: {{catalog: lake}}\n"
        )
        with open_app(load_settings(config, {})) as app:
            assert keep(app.ports.policies.current()) == 7
            assert [layer.name for layer in app.ports.policies.current().layers] == [
                "default.yaml",
                "polaris/lake.sales/system.snapshot-expiry",
            ]
            polaris.attached.clear()
            polaris.attach(
                "system.snapshot-expiry",
                {"enable": True, "config": {"min_snapshot_to_keep": 8}},
                "sales",
                "items",
            )
            assert keep(app.ports.policies.current()) == 7
            assert make_scheduler(app).run_step("policies")
            assert keep(app.ports.policies.current()) == 8


def test_every_replica_reads_the_resources_of_kubernetes_and_those_that_scan_report(
    tmp_path: Path,
) -> None:
    (tmp_path / "policies").mkdir()
    (tmp_path / "policies" / "default.yaml").write_text("mode: enforce\n")
    config = tmp_path / "maintainer.yaml"
    with open_policy_server("sales") as api:
        api.allow("daemon", REPORT)
        api.kubeconfig(tmp_path / "kubeconfig", "daemon")
        config.write_text(
            "catalogs:\n  lake: {type: sql, uri: 'sqlite:///catalog.db', warehouse: warehouse}\n"
            "kubernetes_policies: {namespaces: {sales: [lake.sales.*]}, kubeconfig: kubeconfig}\n"
        )
        with open_app(load_settings(config, {})) as app:
            assert keep(app.ports.policies.current()) == 10
            spec = {"tables": ["lake.sales.*"], "rules": {"expire_snapshots": {"keep": 7}}}
            create(api, "sales", "items", spec)
            assert make_idle_scheduler(app).run_step("policy_resources")
            assert keep(app.ports.policies.current()) == 7
            assert "policy_status" not in make_idle_scheduler(app)._steps
            assert make_scheduler(app).run_step("policy_status")
            resource = api.get(POLICY.plural, "items", POLICY.group)
            assert resource is not None
            assert resource["status"]["conditions"][0]["reason"] == "InForce"


def test_without_it_there_is_no_such_step(tmp_path: Path) -> None:
    (tmp_path / "policies").mkdir()
    config = tmp_path / "maintainer.yaml"
    config.write_text(
        "catalogs:\n  lake: {type: sql, uri: 'sqlite:///catalog.db', warehouse: warehouse}\n"
    )
    with open_app(load_settings(config, {})) as app:
        assert app.sources.polaris is None
        assert "policies" not in make_scheduler(app)._steps
