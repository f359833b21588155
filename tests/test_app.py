"""What the composition root joins: the reader of manifests and those who are notified when it is
slow.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from maintainer.adapters.catalog.manifests import fast_reader as fast
from maintainer.adapters.catalog.manifests.decoding import DecodingBounds
from maintainer.adapters.catalog.manifests.generated_reader import NotGeneratedError
from maintainer.adapters.catalog.reader import ReadCount
from maintainer.app import App, open_app
from maintainer.app.loop import make_scheduler
from maintainer.app.options import read_limits
from maintainer.cli.setup.diagnose import diagnose
from maintainer.domain.errors import ConfigurationError
from maintainer.domain.identifier import TableIdentifier
from maintainer.domain.inventory import CatalogFault, FaultKind, TableFault
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import RuleName
from maintainer.domain.status import TableState
from maintainer.domain.units import MIB
from maintainer.requests.run import request_run
from maintainer.settings import load_settings
from maintainer.steps.plan import plan
from maintainer.steps.scan import scan
from tests.adapters.catalog.lake import Lake, rows


@pytest.fixture
def config(tmp_path: Path) -> Iterator[Path]:
    lake = Lake(tmp_path)
    table = lake.make_table("sales", "orders")
    for _ in range(2):
        table.append(rows(1))
    (tmp_path / "policies").mkdir()
    file = tmp_path / "maintainer.yaml"
    file.write_text(
        "catalogs: {lake: {type: sql, uri: 'sqlite:///catalog.db', warehouse: warehouse}}\nscan: "
        "{decode_processes: 0}\n"
    )
    yield file
    lake.close()


def read_metrics(app: App, begins: str = "maintainer_slow") -> dict[str, float]:
    """Series as written, and their values."""
    lines = app.telemetry.render()[0].decode().splitlines()
    return {
        line.rpartition(" ")[0]: float(line.rpartition(" ")[2])
        for line in lines
        if line.startswith(begins)
    }


def test_the_hard_limits_of_decoding_come_from_the_settings(config: Path) -> None:
    given = {"MAINTAINER_SCAN__DECODE_MEMORY": "1GiB", "MAINTAINER_SCAN__DECODE_TIMEOUT": "20s"}
    assert read_limits(load_settings(config, given)).decoding == DecodingBounds(1024 * MIB, 20.0)
    assert read_limits(load_settings(config, {})).decoding == DecodingBounds()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SCAN__DECODE_MEMORY", "1MiB"),
        ("SCAN__DECODE_TIMEOUT", "2h"),
        ("SERVER__CONNECTIONS", "1"),
        ("SERVER__CONNECTIONS_PER_ADDRESS", "0"),
    ],
)
def test_a_hard_limit_has_bounds(config: Path, name: str, value: str) -> None:
    with pytest.raises(ConfigurationError, match=name.lower().replace("__", r"\.")):
        load_settings(config, {f"MAINTAINER_{name}": value})


def test_nothing_is_read_slowly_as_it_is_installed(config: Path) -> None:
    with open_app(load_settings(config, {})) as app:
        assert scan(app.ports).manifests_read == 2
        assert set(read_metrics(app).values()) == {0}


def test_the_metrics_know_the_settings_and_the_refused_policies(config: Path) -> None:
    (config.parent / "policies").mkdir(exist_ok=True)
    (config.parent / "policies/orders.yaml").write_text("tables: lake.db.orders\nmode: often\n")
    with open_app(load_settings(config, {"MAINTAINER_SCAN__INTERVAL": "2m"})) as app:
        assert read_metrics(app, "maintainer_policy") == {"maintainer_policy_problems": 1}
        found = read_metrics(app, "maintainer_remeasure")
        assert found == {"maintainer_remeasure_seconds": 6 * 3600 + 120}


def test_what_is_read_is_counted_while_it_is_read(config: Path) -> None:
    with open_app(load_settings(config, {})) as app:
        assert app.read == ReadCount()
        scan(app.ports)
        assert app.read == ReadCount(manifests=2, entries=2)


def test_a_schema_that_makes_reading_slow_is_counted(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_schema: object) -> None:
        message = "its writer wrote something new"
        raise NotGeneratedError(message)

    monkeypatch.setattr(fast, "_compile_entries", refuse)
    with open_app(load_settings(config, {})) as app:
        assert scan(app.ports).manifests_read == 2
        found = read_metrics(app)
        assert {name for name, value in found.items() if value} == {
            'maintainer_slow_reads_total{reason="schema"}'
        }
        assert found['maintainer_slow_reads_total{reason="schema"}'] == 2


def test_a_decoder_that_an_upgrade_took_away_is_reported_at_the_start_and_counted(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fast, "CythonBinaryDecoder", None)
    fast.slow_reader_reason.cache_clear()
    try:
        with open_app(load_settings(config, {})) as app:
            assert read_metrics(app)['maintainer_slow_reader{reason="no_decoder"}'] == 1
            assert scan(app.ports).manifests_read == 2
            assert read_metrics(app)['maintainer_slow_reads_total{reason="reader"}'] == 3, (
                "the list, and its two manifests"
            )
    finally:
        fast.slow_reader_reason.cache_clear()


def test_a_catalog_that_spark_cannot_reach_is_measured_and_its_rules_say_how_to_give_it(
    config: Path,
) -> None:
    name = "a.property.of.tomorrow"
    place = "{type: sql, uri: 'sqlite:///catalog.db', warehouse: warehouse"
    config.write_text(
        f"catalogs: {{lake: {place}, {name}: 'true'}}, other: {place}}}}}\nscan: "
        f"{{decode_processes: 0}}\n"
    )
    (config.parent / "policies" / "all.yaml").write_text(
        "tables: '*'\nmode: enforce\nrules: {rewrite_data_files: {}, expire_snapshots: {}}\n"
    )
    table = TableIdentifier("lake", ("sales",), "orders")
    with open_app(load_settings(config, {})) as app:
        assert scan(app.ports).measured >= 1
        plan(app.ports)
        record = app.ports.store.table(table)
        assert record is not None
        assert record.health is not None
        assert record.health.data_files == 2
        assert record.plan is not None
        assert record.plan.planned == ()
        assert {
            skip.code for skip in record.plan.skipped if skip.code is not SkipCode.DISABLED
        } == {SkipCode.NO_RUNNER}
        assert {skip.reason for skip in record.plan.skipped if skip.code is SkipCode.NO_RUNNER} == {
            (
                f"catalog lake: property {name} cannot be translated for Spark; under spark:, "
                f'write the name to pass it on, or the name with the value "" and the name that '
                f"Spark uses"
            )
        }
        assert list(app.ports.no_runner) == ["lake"]
        asked, job = request_run(app.ports, table, (RuleName.REWRITE_DATA_FILES,), "a person")
        assert job is None
        assert [skip.code for skip in asked.skipped] == [SkipCode.NO_RUNNER]


@pytest.mark.parametrize("kind", ["dynamodb", "bigquery", "hadoop"])
def test_a_type_of_catalog_that_spark_is_not_given_stops_no_other(
    config: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    place = "{type: sql, uri: 'sqlite:///catalog.db', warehouse: warehouse}"
    # An endpoint where nothing listens: no test asks a cloud.
    config.write_text(
        f"catalogs: {{lake: {place}, cloud: {{type: {kind}, warehouse: warehouse, "
        f"dynamodb.endpoint: 'http://127.0.0.1:1', dynamodb.region: x, "
        "dynamodb.access-key-id: a, dynamodb.secret-access-key: b}}\nscan: {decode_processes: 0}\n"
    )
    with open_app(load_settings(config, {})) as app:
        assert "under spark:" in app.ports.no_runner["cloud"]
        result = scan(app.ports)
        assert result.measured == 1
        assert [fault.catalog for fault in result.faults if isinstance(fault, CatalogFault)] == [
            "cloud"
        ]


def test_what_spark_cannot_reach_is_a_row_of_the_doctor(config: Path) -> None:
    config.write_text(
        "catalogs: {lake: {type: sql, uri: 'sqlite:///catalog.db', warehouse: warehouse, "
        "s3.profile-name: ours}}\n"
    )
    found: dict[str, tuple[bool, str]] = {}
    diagnose(
        lambda: load_settings(config, {}),
        60,
        lambda finding: found.update({finding[0]: finding[1:]}),
    )
    is_fine, reason = found["catalog lake in Spark"]
    assert not is_fine
    assert "drivers take it from their environment: AWS_PROFILE" in reason


def test_readers_share_the_sums_of_the_fleet(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("maintainer.app.MAX_AGE", timedelta(hours=1))
    with open_app(load_settings(config, {})) as app:
        store = app.ports.store
        assert store.overview().tables == 0
        orders = TableIdentifier("lake", ("sales",), "orders")
        store.record_fault(TableFault(orders, FaultKind.UNSUPPORTED, "no", app.ports.clock.now()))
        assert store.overview().tables == 0
        scan(app.ports)
        assert store.overview().tables == 1, "a scan sums up anew for the history"


def test_the_queue_step_of_the_replica_with_that_duty_counts_the_tables_by_state(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_app(load_settings(config, {})) as app:
        scheduler = make_scheduler(app)
        scheduler.run_step("duties")
        scan(app.ports)
        assert scheduler.run_step("queue")
        counted = read_metrics(app, "maintainer_tables_by_state")
        assert len(counted) == len(TableState)
        assert {name for name, number in counted.items() if number} == {
            'maintainer_tables_by_state{state="not_covered"}'
        }
        monkeypatch.setattr(app.turns, "holds", lambda *_: False)
        other = make_scheduler(app)
        assert other.run_step("queue")
        assert not any(read_metrics(app, "maintainer_tables_by_state").values())
