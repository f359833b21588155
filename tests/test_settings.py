from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path

import pytest
from pydantic import ValidationError

from maintainer.adapters.catalog.tables.request_rate import PollLimits
from maintainer.app.options import poll_limits
from maintainer.domain.access import ApiToken, Grant, Role
from maintainer.domain.errors import ConfigurationError
from maintainer.settings import Settings, load_settings
from tests.secretive import SECRET, SECRETIVE_SETTINGS

_LAKE = "catalogs: {lake: {type: rest, uri: 'https://catalog.example/'}}\n"

Load = Callable[..., Settings]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "conf" / "maintainer.yaml"


@pytest.fixture
def load(file: Path) -> Load:
    def load(text: str = _LAKE, environ: Mapping[str, str] | None = None) -> Settings:
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
        return load_settings(file, environ or {})

    return load


@pytest.fixture
def refuse(load: Load, file: Path) -> Callable[..., list[str]]:
    def refuse(text: str = _LAKE, environ: Mapping[str, str] | None = None) -> list[str]:
        with pytest.raises(ConfigurationError) as caught:
            load(text, environ)
        return str(caught.value).replace(str(file), "maintainer.yaml").splitlines()

    return refuse


Refuse = Callable[..., list[str]]


def test_a_catalog_is_all_that_is_needed(load: Load, file: Path) -> None:
    settings = load()
    assert settings.catalogs["lake"].properties == {
        "type": "rest",
        "uri": "https://catalog.example/",
    }
    assert settings.catalogs["lake"].spark == {}
    assert settings.redacted() == {
        "catalogs": {"lake": {"type": "rest", "uri": "https://catalog.example/"}},
        "store": f"sqlite:///{file.parent}/maintainer.db",
        "policies": f"{file.parent}/policies",
        "scan": {
            "interval": "5m",
            "workers": 8,
            "decode_processes": 2,
            "decode_memory": 335544320,
            "decode_timeout": "5m",
            "manifest_memory": 268435456,
            "timeout": "10m",
            "remeasure": "6h",
            "rechecks": 100,
            "recheck_share": 0.05,
            "recheck_after": "1h",
            "min_interval": "1m",
            "max_interval": "1h",
            "interval_growth": 1.5,
            "interval_jitter": 0.1,
            "requests_per_second": 200.0,
            "max_requests": 64,
            "locations": (),
            "catalogs": {},
        },
        "plan": {"interval": "30s"},
        "submit": {"interval": "5s"},
        "watch": {"interval": "2s"},
        "review": {"interval": "5s"},
        "prune": {
            "interval": "1h",
            "raw_samples": "7d",
            "hourly_samples": "90d",
            "samples": "730d",
            "jobs": "365d",
        },
        "spark": {
            "runner": "process",
            "master": "local[2]",
            "driver_memory": "2048m",
            "max_jobs": 2,
            "profiles": {
                size: {"driver_memory": None, "max_jobs": None, "executors": None}
                for size in ("medium", "large")
            },
            "max_memory": None,
            "executors": None,
            "dynamic_allocation": None,
            "driver_host": None,
            "idle_timeout": "10m",
            "start_timeout": None,
            "planning_timeout": "10m",
            "java_home": None,
            "jars_dir": None,
            "jars": [],
            "run_dir": f"{file.parent}/run",
            "let_writers_win": None,
            "ui_url": "",
            "conf": {},
            "link": None,
            "kubernetes": None,
            "yarn": None,
            "pools": {},
        },
        "server": {
            "host": "127.0.0.1",
            "port": 8080,
            "probes_port": None,
            "connections": 256,
            "connections_per_address": 192,
            "hosts": (),
            "proxies": ("127.0.0.1", "::1"),
            "prefix": "",
        },
        "impact": dict.fromkeys(
            (
                "profile",
                "get_price_per_million",
                "put_price_per_million",
                "list_price_per_million",
                "price_per_gb_month",
                "round_trip",
                "bandwidth",
                "parallelism",
            )
        ),
        "log": {"format": "text", "level": "info"},
        "tracing": None,
        "lineage": None,
        "webhooks": {},
        "metrics": {
            "max_tables": 1000,
            "tables": (),
            "max_namespaces": 500,
            "average_file_size_bound": 33554432,
        },
        "notifications": {
            "targets": {},
            "schemes": (),
            "hosts": (),
            "kinds": (
                "failed_proof",
                "repeated_failure",
                "table_critical",
                "budget_spent",
                "table_unreadable",
                "approval_needed",
                "paused_table_gone",
            ),
            "templates": {},
            "repeat_after": "6h",
            "max_per_hour": 60,
        },
        "admission": {
            "max_jobs": None,
            "bytes_per_day": None,
            "gb_hours_per_day": None,
            "scorer": "maintainer",
            "per_catalog": {},
            "urgent_share": 0.1,
            "slot_owner": "namespace",
            "owner_share": 1.0,
            "explore_share": 0.05,
            "sla": "1d",
            "blackouts": (),
        },
        "lease": {"duration": "2m", "clock_margin": "15s"},
        "polaris_policies": None,
        "kubernetes_policies": None,
        "drain_timeout": "1m",
        "auth": {
            "tokens": {},
            "oidc": None,
            "session_key": None,
            "requests_per_minute": 1200,
            "failed_sign_ins_per_minute": 20,
            "streams": 8,
            "open_metrics": False,
        },
    }


def test_catalog_properties_stay_the_texts_that_were_written(load: Load) -> None:
    text = (
        "catalogs:\n  lake: {type: rest, a: 1.10, b: True, c: 007, d: 'x y', spark: {io-impl: "
        "org.x, n: 1.0}}\nspark: {conf: {spark.a: 1.10}}\n"
    )
    settings = load(text)
    assert settings.catalogs["lake"].properties == {
        "type": "rest",
        "a": "1.10",
        "b": "True",
        "c": "007",
        "d": "x y",
    }
    assert settings.catalogs["lake"].spark == {"io-impl": "org.x", "n": "1.0"}
    assert settings.spark.conf == {"spark.a": "1.10"}


def test_relative_paths_are_beside_the_file(load: Load, file: Path) -> None:
    base = file.parent
    settings = load(
        "catalogs:\n"
        "  lake: {type: sql, uri: 'sqlite:///catalog.db', warehouse: ../warehouse}\n"
        "  untyped: {uri: 'sqlite:///c.db', warehouse: w}\n"
        "  rest: {type: rest, uri: 'https://x', warehouse: main}\n"
        "  there: {type: sql, uri: 'sqlite:////abs/c.db', warehouse: 's3://bucket/w'}\n"
        "  memory: {type: sql, uri: 'sqlite:///:memory:'}\n"
        "store: sqlite:///data/m.db?timeout=5\npolicies: ../p\nspark: {jars_dir: jars, "
        "java_home: /opt/java}\n"
    )
    assert settings.catalogs["lake"].properties["uri"] == f"sqlite:///{base}/catalog.db"
    assert settings.catalogs["lake"].properties["warehouse"] == f"file://{base.parent}/warehouse"
    assert settings.catalogs["untyped"].properties["warehouse"] == f"file://{base}/w"
    assert settings.catalogs["rest"].properties["warehouse"] == "main"
    assert settings.catalogs["there"].properties == {
        "type": "sql",
        "uri": "sqlite:////abs/c.db",
        "warehouse": "s3://bucket/w",
    }
    assert settings.catalogs["memory"].properties["uri"] == "sqlite:///:memory:"
    assert settings.store == f"sqlite:///{base}/data/m.db?timeout=5"
    assert settings.policies == base.parent / "p"
    assert (settings.spark.jars_dir, settings.spark.java_home, settings.spark.run_dir) == (
        base / "jars",
        Path("/opt/java"),
        base / "data" / "run",
    )


@pytest.mark.parametrize(
    ("written", "found"),
    [("", "sqlite:////state/maintainer.db"), ("store: sqlite:///chosen.db", "{home}/chosen.db")],
)
def test_only_the_default_store_lies_in_the_directory_for_state(
    load: Load, file: Path, written: str, found: str
) -> None:
    loaded = load(f"{_LAKE}{written}\n", {"STATE_DIRECTORY": "/state"})
    assert loaded.store == found.replace("{home}", f"sqlite:///{file.parent}")


def test_without_a_file_in_the_store_the_run_directory_is_beside_the_configuration(
    load: Load, file: Path
) -> None:
    assert (
        load(_LAKE + "store: postgresql://db.example/maintainer\n").spark.run_dir
        == file.parent / "run"
    )


def test_the_file_is_named_by_argument_else_by_variable_else_found_here(
    load: Load, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = load()
    assert load_settings(None, {"MAINTAINER_CONFIG": str(file)}) == expected
    monkeypatch.chdir(file.parent)
    assert load_settings(None, {}) == expected
    assert load_settings(Path("maintainer.yaml"), {"MAINTAINER_CONFIG": "/nowhere"}) == expected


def test_a_missing_file_is_one_line_that_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_settings(tmp_path / "no.yaml", {})
    assert str(caught.value) == (
        f"there is no configuration file {tmp_path}/no.yaml; `maintainer init` writes one, "
        "--config or MAINTAINER_CONFIG names another, and `maintainer demo` needs none"
    )


def test_a_file_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read: Is a directory"):
        load_settings(tmp_path, {})
    (tmp_path / "a.yaml").write_bytes(b"\xff")
    with pytest.raises(ConfigurationError, match="is not UTF-8 text: byte 0xff at position 0"):
        load_settings(tmp_path / "a.yaml", {})


def test_the_environment_wins_over_the_file(load: Load, file: Path) -> None:
    text = (
        "catalogs: {lake: {type: rest, s3.access-key-id: a}}\nscan: {workers: 3}\nspark: {conf: "
        "{spark.sql.x: 1}}\n"
    )
    settings = load(
        text,
        {
            "MAINTAINER_SCAN__WORKERS": "4",
            "MAINTAINER_SCAN__INTERVAL": "1h",
            "MAINTAINER_SERVER__PORT": "0",
            "MAINTAINER_DRAIN_TIMEOUT": "5s",
            "MAINTAINER_STORE": "sqlite:///other.db",
            "MAINTAINER_POLICIES": "p",
            "MAINTAINER_SPARK__JAVA_HOME": "/opt/java",
            "MAINTAINER_CATALOGS__LAKE__S3_ACCESS_KEY_ID": "1.10",
            "MAINTAINER_SPARK__CONF__SPARK_SQL_X": "2.0",
        },
    )
    assert (settings.scan.workers, settings.scan.interval, settings.server.port) == (
        4,
        timedelta(hours=1),
        0,
    )
    assert (settings.drain_timeout, settings.store, settings.policies) == (
        timedelta(seconds=5),
        f"sqlite:///{file.parent}/other.db",
        file.parent / "p",
    )
    assert settings.catalogs["lake"].properties["s3.access-key-id"] == "1.10"
    assert settings.spark.conf == {"spark.sql.x": "2.0"}
    assert settings.spark.java_home == Path("/opt/java")


def test_variables_that_are_none_of_ours_are_left_alone(load: Load) -> None:
    environ = {
        "MAINTAINER_CONFIG": "x",
        "MAINTAINER_SKIP_SPARK": "1",
        "MAINTAINER_PORT": "tcp://10.0.0.1:80",
        "MAINTAINER_SERVICE_HOST": "10.0.0.1",
        "SCAN__WORKERS": "9",
    }
    assert load(environ=environ) == load()


def test_a_variable_that_is_nearly_ours_is_an_error_that_names_the_nearest(refuse: Refuse) -> None:
    environ = {
        "MAINTAINER_SERVER__PROT": "1",
        "MAINTAINER_STROE": "x",
        "MAINTAINER_XX__YY": "1",
        "MAINTAINER_CATALOGS__LAKE__URL": "x",
        "MAINTAINER_SCAN__WORKERS": "many",
        "MAINTAINER_SERVER__HOST": "",
    }
    assert refuse(environ=environ) == [
        (
            "MAINTAINER_CATALOGS__LAKE__URL: unknown variable, did you mean "
            "MAINTAINER_CATALOGS__LAKE__URI?"
        ),
        "MAINTAINER_SERVER__PROT: unknown variable, did you mean MAINTAINER_SERVER__PORT?",
        "MAINTAINER_STROE: unknown variable, did you mean MAINTAINER_STORE?",
        "MAINTAINER_XX__YY: unknown variable; it names no setting",
        "MAINTAINER_SCAN__WORKERS: scan.workers is 'many', but must be a whole number",
        "MAINTAINER_SERVER__HOST: server.host is '', but must not be empty",
    ]


def test_names_in_values_come_from_the_environment(load: Load) -> None:
    text = (
        'catalogs: {lake: {type: rest, credential: "${ID}:${SECRET}", plain: "$HOME $${ID}", n: '
        '"${N}"}}\nscan: {workers: "${N}"}\nstore: "${STORE}"\n'
    )
    settings = load(
        text, {"ID": "me", "SECRET": "a: {b}#'\"", "N": "5", "STORE": "postgresql://u:p@h/d"}
    )
    assert settings.catalogs["lake"].properties == {
        "type": "rest",
        "credential": "me:a: {b}#'\"",
        "plain": "$HOME ${ID}",
        "n": "5",
    }
    assert (settings.scan.workers, settings.store) == (5, "postgresql://u:p@h/d")


def test_a_name_that_the_environment_has_not_is_cited_by_line(refuse: Refuse) -> None:
    assert refuse("catalogs:\n  lake:\n    token: ${TOKEN}\n") == [
        "maintainer.yaml:3: catalogs.lake.token: the environment has no variable TOKEN"
    ]


def test_everything_that_is_wrong_with_a_file_is_said_with_its_line(refuse: Refuse) -> None:
    text = """\
catalogs:
  lake:
    type: sql
    s3: {endpoint: x}
    empty:
    spark: {a: {b: c}}
stroe: x
store: mysql://user:hush@host/db
scan: {interval: 1, wokers: 2, workers: 0}
spark: {runner: operator, master: spark://h, driver_memory: 1m, conf: {a.b: 1}, jars_dirs: x}
server: {port: 65536, port: 1, host: 5}
watch: 2s
prune: {samples: 30m}
auth: {tokens: [a]}
"""
    assert refuse(text) == [
        (
            "maintainer.yaml:4: catalogs.lake.s3 holds several values; write each property by "
            "its whole name, like s3.endpoint"
        ),
        "maintainer.yaml:5: catalogs.lake.empty has no value; write one or leave it out",
        "maintainer.yaml:6: catalogs.lake.spark.a is a mapping, but must be a text",
        "maintainer.yaml:7: unknown key 'stroe', did you mean 'store'?",
        (
            "maintainer.yaml:8: store is 'mysql://user:***@host/db', but must begin with "
            "sqlite:/// or postgresql://"
        ),
        (
            "maintainer.yaml:9: scan.interval is not a duration: duration 1 is not understood; "
            "write it with a unit, like 30m, 6h or 5d"
        ),
        "maintainer.yaml:9: scan.workers is 0, under the least value 1",
        "maintainer.yaml:9: unknown key 'wokers', did you mean 'workers'?",
        ("maintainer.yaml:10: spark.runner is operator, but must be process, kubernetes or yarn"),
        (
            "maintainer.yaml:10: spark.master is 'spark://h', but must be local, local[N], "
            "local[*], spark://HOST:PORT of a standalone cluster, k8s://https://HOST:PORT, or yarn"
        ),
        "maintainer.yaml:10: spark.driver_memory is 1m, but must be from 512MiB to 1TiB",
        "maintainer.yaml:10: spark.conf has 'a.b'; Spark reads only names that begin with spark.",
        "maintainer.yaml:10: unknown key 'jars_dirs', did you mean 'jars_dir'?",
        "maintainer.yaml:11: key 'port' is written twice; the first is on line 11",
        "maintainer.yaml:11: server.host is 5, but must be a text",
        "maintainer.yaml:12: watch is '2s', but must hold keys and values",
        "maintainer.yaml:13: prune.samples is 30m, under the least value 1h",
        "maintainer.yaml:14: auth.tokens is a list, but must hold keys and values",
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "maintainer.yaml:1: catalogs is missing"),
        (
            "catalog: {lake: {type: sql}}\n",
            "maintainer.yaml:1: unknown key 'catalog', did you mean 'catalogs'?",
        ),
        ("catalogs: {}\n", "maintainer.yaml:1: catalogs is empty; name at least one catalog"),
        (
            "catalogs: {a.b: {type: rest}}\n",
            (
                "maintainer.yaml:1: catalogs has a catalog 'a.b'; a name is 1 to 100 letters, "
                "digits, - and _, a letter first"
            ),
        ),
        (
            "catalogs: {lake: rest}\n",
            "maintainer.yaml:1: catalogs.lake is 'rest', but must hold keys and values",
        ),
        (
            "catalogs: [\n",
            (
                "maintainer.yaml:2: not valid YAML: expected the node content, but found '<stream "
                "end>'"
            ),
        ),
        (
            _LAKE + "spark: {driver_memory: 2q}\n",
            "maintainer.yaml:2: spark.driver_memory is '2q', but must be a size such as 2g or 2GiB",
        ),
        (
            _LAKE + 'spark: {conf: {spark.a: "1\\n2"}}\n',
            "maintainer.yaml:2: spark.conf has a line break in spark.a",
        ),
        (
            _LAKE + "spark: {runner: kubernetes}\n",
            "maintainer.yaml:2: spark has runner kubernetes, but no section kubernetes",
        ),
    ],
)
def test_a_file_without_usable_catalogs_or_runner_is_refused(
    refuse: Refuse, text: str, problem: str
) -> None:
    assert refuse(text) == [problem]


@pytest.mark.parametrize(
    ("text", "spark"),
    [("2g", "2048m"), ("2GiB", "2048m"), ("1536m", "1536m"), ("0.5GiB", "512m"), ("2GB", "1907m")],
)
def test_memory_is_written_as_spark_or_as_sizes_are(load: Load, text: str, spark: str) -> None:
    assert load(_LAKE + f"spark: {{driver_memory: {text}}}\n").spark.driver_memory == spark


def test_secrets_are_never_printed(load: Load) -> None:
    settings = load(SECRETIVE_SETTINGS)
    printed = [
        settings,
        settings.redacted(),
        settings.catalogs,
        settings.spark,
        settings.catalogs["lake"],
    ]
    assert not [text for value in printed for text in (str(value), repr(value)) if SECRET in text]
    catalogs = settings.redacted()["catalogs"]
    assert isinstance(catalogs, dict)
    assert catalogs["lake"]["uri"] == "postgresql+psycopg://user:***@host/db?sslpassword=***"
    assert catalogs["lake"]["type"] == "sql"


def test_tokens_come_from_the_environment_and_are_never_shown(load: Load) -> None:
    settings = load(
        _LAKE + 'auth: {tokens: {ci: "${CI_TOKEN}"}}\n',
        environ={"CI_TOKEN": SECRET},
    )
    assert settings.auth.api_tokens == {"ci": ApiToken(SECRET, Grant(Role.ADMIN))}
    shown = settings.redacted()["auth"]
    assert isinstance(shown, dict)
    assert shown["tokens"] == {"ci": {"token": "***", "role": "admin", "on": ("*",)}}
    assert SECRET not in repr(settings) + str(settings) + repr(settings.auth)


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ("{ci: short}", "has a token ci that is too short or not plain"),
        ("{ci: 'has a blank in its midst'}", "has a token ci that is too short or not plain"),
        ("{'a b': 0123456789abcdef}", "has 'a b', which is not a valid name of a token"),
        ("{a: 0123456789abcdef, b: 0123456789abcdef}", "has the same token under two names"),
        ("{a: {token: 0123456789abcdef}}", "auth.tokens.a.role is missing"),
        (
            "{a: {token: 0123456789abcdef, role: root}}",
            "'root', but the roles are viewer, operator",
        ),
        ("{a: {token: 0123456789abcdef, role: viewer, on: ['lake.*']}}", "'lake.*' is a glob"),
        ("{a: {token: 0123456789abcdef, role: viewer, on: []}}", "on"),
    ],
)
def test_a_token_that_is_none_is_refused_without_being_shown(
    refuse: Refuse, tokens: str, message: str
) -> None:
    (found,) = refuse(f"{_LAKE}auth: {{tokens: {tokens}}}\n")
    assert message in found
    assert "0123456789abcdef" not in found


_OIDC = "issuer: https://login.test, client_id: us"


@pytest.mark.parametrize(
    ("oidc", "message"),
    [
        ("{issuer: 'http://login.test', client_id: us}", "must begin with https://"),
        ("{issuer: 'https://u:p@login.test', client_id: us}", "must be an address like"),
        (f"{{{_OIDC}, page: 'http://lake.test'}}", "must begin with https://"),
        (f"{{{_OIDC}, page: 'https://lake.test/page'}}", "must have no path: server.prefix"),
        (f"{{{_OIDC}, leeway: 1h}}", "leeway"),
        (f"{{{_OIDC}, roles: [{{claim: groups, role: viewer}}]}}", "a claim without a value"),
        (f"{{{_OIDC}, roles: [{{role: viewer, on: ['lake.*']}}]}}", "is a glob"),
    ],
)
def test_a_provider_that_cannot_be_used_is_refused(refuse: Refuse, oidc: str, message: str) -> None:
    found = refuse(f"{_LAKE}auth: {{oidc: {oidc}}}\n")
    assert any(message in problem for problem in found), found


def test_the_keys_of_a_sign_in_are_never_shown(load: Load) -> None:
    settings = load(
        _LAKE + f"auth: {{session_key: '${{KEY}}', oidc: {{{_OIDC}, client_secret: '${{S}}'}}}}\n",
        environ={"KEY": f"{SECRET}-0123456789-0123456789-0123456789", "S": SECRET},
    )
    assert SECRET not in repr(settings) + str(settings) + repr(settings.auth)


def test_what_a_name_or_a_variable_stands_for_is_not_in_a_message(refuse: Refuse) -> None:
    problems = refuse(
        'catalogs: {lake: {type: rest}}\nscan: {workers: "${TOKEN}"}\nspark: {master: '
        '"x-${TOKEN}"}\n',
        {"TOKEN": SECRET, "MAINTAINER_STORE": f"x{SECRET}"},
    )
    assert problems == [
        (
            "MAINTAINER_STORE: store is '${MAINTAINER_STORE}', but must begin with sqlite:/// or "
            "postgresql://"
        ),
        "maintainer.yaml:2: scan.workers is '${TOKEN}', but must be a whole number",
        (
            "maintainer.yaml:3: spark.master is 'x-${TOKEN}', but must be local, local[N], "
            "local[*], spark://HOST:PORT of a standalone cluster, k8s://https://HOST:PORT, or yarn"
        ),
    ]


def test_settings_cannot_be_changed(load: Load) -> None:
    with pytest.raises(ValidationError, match="frozen"):
        load().store = "x"


def test_the_real_environment_is_accepted(load: Load) -> None:
    assert (
        load(
            environ={
                name: text
                for name, text in os.environ.items()
                if not name.startswith("MAINTAINER_")
            }
        )
        == load()
    )


def test_the_bounds_of_polling_are_in_order(tmp_path: Path) -> None:
    file = tmp_path / "maintainer.yaml"
    file.write_text("catalogs: {lake: {type: sql}}\nscan: {min_interval: 2h, max_interval: 30m}\n")
    with pytest.raises(
        ConfigurationError, match=r"scan has min_interval 2h above max_interval 30m"
    ):
        load_settings(file, {})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("prune: {raw_samples: 100d}\n", "prune has raw_samples 100d above hourly_samples 90d"),
        ("prune: {samples: 30d}\n", "prune has hourly_samples 90d above samples 30d"),
        (
            "scan: {catalogs: {sea: {max_requests: 2}}}\n",
            "has scan.catalogs.sea, but catalogs has only lake",
        ),
        (
            "scan: {catalogs: {lake: {min_interval: 2h}}}\n",
            "scan has for catalog lake min_interval 2h above max_interval 1h",
        ),
        (
            "scan: {catalogs: {lake: {requests_per_second: 0}}}\n",
            "scan.catalogs.lake.requests_per_second is 0, under the least value 0.1",
        ),
        ("scan: {interval_growth: 0.9}\n", "scan.interval_growth is 0.9, under the least value 1"),
        (
            "scan: {interval_jitter: 0.6}\n",
            "scan.interval_jitter is 0.6, over the greatest value 0.5",
        ),
        (
            "scan: {catalogs: {lake: {interval_growth: 11}}}\n",
            "scan.catalogs.lake.interval_growth is 11, over the greatest value 10",
        ),
        (
            "scan: {catalogs: {lake: {interval_jitter: -0.1}}}\n",
            "scan.catalogs.lake.interval_jitter is -0.1, under the least value 0",
        ),
        ("lease: {duration: 29s}\n", "lease.duration is 29s, under the"),
        (
            "lease: {duration: 30s, clock_margin: 31s}\n",
            "lease has clock_margin 31s above duration 30s",
        ),
        (
            "lease: {duration: 30s}\nwatch: {interval: 11s}\n",
            "has watch.interval 11s above 10s, a third of lease.duration",
        ),
        (
            "scan: {catalogs: {lake: {workers: 2}}}\n",
            "unknown key 'workers'; it belongs under scan",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused_by_its_values(
    refuse: Refuse, text: str, message: str
) -> None:
    (found,) = refuse(_LAKE + text)
    assert message in found


def test_a_catalog_may_have_bounds_of_its_own(load: Load) -> None:
    own = (
        "{requests_per_second: 5, max_requests: 2, min_interval: 2m, max_interval: 2h, "
        "interval_growth: 2, interval_jitter: 0}"
    )
    scan = load(
        _LAKE
        + f"scan: {{requests_per_second: 20, interval_jitter: 0.2, catalogs: {{lake: {own}}}}}\n"
    ).scan
    assert poll_limits(scan.of("lake")) == PollLimits(
        5, 2, timedelta(minutes=2), timedelta(hours=2), 2, 0
    )
    assert poll_limits(scan.of("sea")) == PollLimits(
        20, 64, timedelta(minutes=1), timedelta(hours=1), 1.5, 0.2
    )


_NOTIFY = _LAKE + "notifications:\n  targets: {ops: 'slack://${SLACK}'}\n  kinds: [failed_proof]\n"


def test_targets_of_notices_come_from_the_environment_and_are_never_shown(load: Load) -> None:
    settings = load(_NOTIFY, {"SLACK": "geheim"})
    assert settings.notifications.targets == {"ops": "slack://geheim"}
    assert "geheim" not in f"{settings!r} {settings.redacted()} {settings.notifications!r}"


def test_targets_of_notices_and_locations_of_metadata_may_be_bounded(load: Load) -> None:
    settings = load(
        _LAKE
        + "notifications: {schemes: [slack], hosts: ['*.hooks.test']}\n"
        + "scan: {locations: [file, 's3://lake', 'hdfs://namenode:8020']}\n",
    )
    bounds = settings.notifications.schemes, settings.notifications.hosts
    assert bounds == (("slack",), ("*.hooks.test",))
    assert settings.scan.locations == ("file", "s3://lake", "hdfs://namenode:8020")


@pytest.mark.parametrize("location", ["http", "https://lake", "s3://lake/sales", "lake", "7"])
def test_what_is_no_location_of_metadata_is_refused(refuse: Refuse, location: str) -> None:
    [problem] = refuse(_LAKE + f"scan:\n  locations: ['{location}']\n")
    assert problem.startswith("maintainer.yaml:")
    assert f"scan.locations has {location!r}, but a location is a scheme (abfs, " in problem


def test_a_template_that_names_what_no_notice_has_is_refused(refuse: Refuse) -> None:
    [problem] = refuse(
        _LAKE + "notifications:\n  templates:\n    failed_proof: {title: 'lost $rows'}\n"
    )
    assert (
        "has $rows, but a notice has only $at, $held_back, $job, $kind, $sentence, $subject"
        in problem
    )
    assert problem.startswith("maintainer.yaml:4")


def test_a_kind_of_notice_that_is_none_is_refused_with_those_that_are(refuse: Refuse) -> None:
    [problem] = refuse(_LAKE + "notifications: {kinds: [failed_prof]}\n")
    assert "has 'failed_prof', but the kinds are failed_proof, repeated_failure" in problem


def test_polaris_is_another_source_of_policies_whose_secrets_are_never_shown(load: Load) -> None:
    text = _LAKE + (
        "polaris_policies: {catalog: lake, credential: 'root:${SECRET}', interval: 1m, "
        "tables: false}\n"
    )
    settings = load(text, {"SECRET": "s3cr3t", "MAINTAINER_POLARIS_POLICIES__TOKEN": "t0k3n"})
    polaris = settings.polaris_policies
    assert polaris is not None
    assert (polaris.credential, polaris.token, polaris.interval, polaris.tables) == (
        "root:s3cr3t",
        "t0k3n",
        timedelta(minutes=1),
        False,
    )
    assert not any(secret in f"{settings!r}{settings.redacted()}" for secret in ("s3cr3t", "t0k3n"))
    assert load().polaris_policies is None


def test_namespaces_of_kubernetes_are_another_source_of_policies(load: Load) -> None:
    text = _LAKE + "kubernetes_policies: {namespaces: {team: [lake.sales.*, '*']}, kubeconfig: k}\n"
    found = load(text).kubernetes_policies
    assert found is not None
    assert found.namespaces == {"team": ["lake.sales.*", "*"]}
    assert found.kubeconfig is not None
    assert found.kubeconfig.is_absolute()


@pytest.mark.parametrize(
    ("namespaces", "reported"),
    [
        ("{}", "must have at least one"),
        ("{team: []}", "must have at least one"),
        ("{Team: ['*']}", "is 'Team', but must be a DNS label"),
        ("{team: ['lake.s?les.*']}", "is 'lake.s?les.*', but the only wildcard of a bound is *"),
        (
            "{team: ['ice.sales.*']}",
            "has kubernetes_policies.namespaces.team ice.sales.*, but catalogs has only lake",
        ),
    ],
)
def test_a_namespace_that_cannot_decide_is_refused(
    refuse: Refuse, namespaces: str, reported: str
) -> None:
    found = refuse(_LAKE + f"kubernetes_policies: {{namespaces: {namespaces}}}\n")
    assert any(reported in line for line in found), found


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        (
            _LAKE + "polaris_policies: {catalog: ice}\n",
            "has polaris_policies.catalog ice, but catalogs has only lake",
        ),
        (
            (
                "catalogs: {lake: {type: sql, uri: 'sqlite:///x.db'}}\npolaris_policies: {catalog: "
                "lake}\n"
            ),
            "has polaris_policies without a uri",
        ),
        (
            _LAKE + "polaris_policies: {catalog: lake, uri: 'ftp://x'}\n",
            "polaris_policies.uri must begin with http:// or https://",
        ),
        (
            _LAKE + "polaris_policies: {catalog: lake, interval: 1s}\n",
            "polaris_policies.interval is 1s, under the least value 10s",
        ),
    ],
)
def test_a_polaris_that_cannot_be_asked_is_refused(
    refuse: Refuse, text: str, reported: str
) -> None:
    assert any(reported in line for line in refuse(text))


@pytest.mark.parametrize(
    ("locations", "words"),
    [
        ("{'ofs://om/v': 's3://v/'}", "'ofs://om/v'; a location is SCHEME://.../ with a slash"),
        ("{'a://b/': 's3://v/', 's3://v/': 'c://d/'}", "the target s3://v/, which lies in s3://v/"),
    ],
)
def test_other_names_of_directories_are_whole_directories_and_no_chain(
    refuse: Refuse, locations: str, words: str
) -> None:
    (line,) = refuse(f"catalogs: {{lake: {{uri: 'http://c', locations: {locations}}}}}")
    assert words in line


def test_the_printed_settings_have_the_locations_of_a_catalog(load: Load) -> None:
    text = _LAKE.replace("rest,", "rest, locations: {'ofs://om/': 's3://lake/'},")
    assert "'ofs://om/': 's3://lake/'" in repr(load(text))
