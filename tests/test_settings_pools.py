"""Pools: what each inherits, what it may change, and which errors name it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from maintainer.adapters.policies.reading import parse_policy
from maintainer.app.options import admission_rules, run_dir, runner_options, spark_options
from maintainer.domain.errors import ConfigurationError
from maintainer.domain.policy import PolicyLayer
from maintainer.settings import Settings, load_settings
from maintainer.settings.spark.inheritance import OF_THE_PLACE
from tests.project.repository import read_text

BLOCKS = re.findall(r"^```yaml\n(.+?)^```", read_text("docs/spark.md"), re.MULTILINE | re.DOTALL)
CATALOGS = "catalogs: {lake: {type: sql, uri: 'sqlite:///lake.db'}}\n"
TWO = """
spark:
  master: local[4]
  driver_memory: 1g
  max_jobs: 2
  idle_timeout: 3m
  conf: {spark.sql.x: '1.10', spark.sql.y: mine}
  profiles: {large: {driver_memory: 4g}}
  pools:
    heavy: {driver_memory: 3g, conf: {spark.sql.y: '2.0'}}
    big:
      runner: kubernetes
      executors: {count: 4, memory: 4g, cores: 2}
      link: {}
      kubernetes: {namespace: jobs, image: i, kubeconfig: cluster, node_selector: {pool: big}}
"""


def load(tmp_path: Path, text: str, environ: dict[str, str] | None = None) -> Settings:
    file = tmp_path / "maintainer.yaml"
    file.write_text(CATALOGS + text)
    return load_settings(file, environ or {})


def complaint_of(tmp_path: Path, text: str) -> str:
    with pytest.raises(ConfigurationError) as refused:
        load(tmp_path, text)
    return str(refused.value)


def test_without_pools_there_is_the_default_one(tmp_path: Path) -> None:
    settings = load(tmp_path, "spark: {driver_memory: 1g}\n")
    assert settings.spark.every_pool == {"default": settings.spark}
    assert list(admission_rules(settings).pools) == ["default"]
    assert run_dir(settings) == tmp_path / "run"


def test_a_pool_on_the_same_place_inherits_field_by_field(tmp_path: Path) -> None:
    heavy = load(tmp_path, TWO).spark.pools["heavy"]
    assert (heavy.driver_memory, heavy.max_jobs, heavy.master) == ("3072m", 2, "local[4]")
    assert heavy.conf == {"spark.sql.x": "1.10", "spark.sql.y": "2.0"}
    assert heavy.profiles.large.driver_memory == "4096m"
    assert heavy.idle_timeout.total_seconds() == 180


def test_a_pool_on_another_place_inherits_nothing_of_the_place(tmp_path: Path) -> None:
    settings = load(tmp_path, TWO)
    big = settings.spark.pools["big"]
    assert big.profiles.large.driver_memory is None
    assert (big.driver_memory, big.idle_timeout) == ("1024m", settings.spark.idle_timeout)
    assert big.kubernetes is not None
    assert big.kubernetes.kubeconfig == tmp_path / "cluster"
    assert settings.spark.link is None, "the default pool keeps its socket"
    assert type(big).model_fields.keys() >= OF_THE_PLACE, "every name is a setting"
    page = " ".join(read_text("docs/spark.md").split()).partition("the settings of the cluster:")[2]
    assert set(re.findall(r"`(\w+)`", page.partition(". So")[0])) == OF_THE_PLACE


def test_each_pool_has_sizes_options_and_a_directory_of_its_own(tmp_path: Path) -> None:
    settings = load(tmp_path, TWO)
    pools = admission_rules(settings).pools
    assert {name: (pool.memory_gb, pool.tasks_at_once) for name, pool in pools.items()} == {
        "default": (0.5, 4),
        "heavy": (1.5, 4),
        "big": (8.5, 8),
    }
    assert spark_options(settings, "heavy").driver_memory == "3072m"
    assert runner_options(settings, "big").pool == "big"
    assert run_dir(settings, "heavy") == tmp_path / "run" / "pools" / "heavy"


def test_mappings_merge_at_every_depth_and_lists_are_replaced(tmp_path: Path) -> None:
    text = (
        "spark: {runner: kubernetes, link: {port: 0}, kubernetes: {namespace: jobs, image: i,\n"
        "  labels: {team: data, tier: a}, tolerations: [{key: a}]},\n"
        "  pools: {spot: {kubernetes: {labels: {tier: b}, tolerations: [{key: spot}],\n"
        "  priority_class: low}}, near: {runner: process}}}\n"
    )
    spark = load(tmp_path, text).spark
    spot = spark.pools["spot"].kubernetes
    assert spot is not None
    assert (spot.namespace, spot.priority_class) == ("jobs", "low")
    assert spot.labels == {"team": "data", "tier": "b"}
    assert spot.tolerations == ({"key": "spot"},)
    assert spark.pools["near"].link == spark.link, "its drivers call home too"


def test_the_pool_default_may_differ_from_what_the_others_inherit(tmp_path: Path) -> None:
    text = "spark: {driver_memory: 1g, pools: {default: {max_jobs: 1}, other: {}}}\n"
    pools = load(tmp_path, text).spark.every_pool
    assert {name: pool.max_jobs for name, pool in pools.items()} == {"default": 1, "other": 2}


def test_a_variable_changes_what_pools_inherit(tmp_path: Path) -> None:
    spark = load(tmp_path, TWO, {"MAINTAINER_SPARK__DRIVER_MEMORY": "2g"}).spark
    assert spark.driver_memory == spark.pools["big"].driver_memory == "2048m"
    assert spark.pools["heavy"].driver_memory == "3072m"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("pools: {Big: {}}", "has 'Big', but a pool's name has at most 40 lower-case letters"),
        ("pools: {big: {drivr_memory: 1g}}", "maintainer.yaml:2: unknown key 'drivr_memory', did"),
        ("pools: {big: {pools: {}}}", "unknown key 'pools'"),
        ("pools: {big: {driver_memory: 1m}}", "spark.pools.big.driver_memory is 1m, but must be"),
        ("pools: {big: {runner: kubernetes}}", "spark.pools.big has runner kubernetes, but no sec"),
        ("pools: {big: {run_dir: here}}", "has pools.big.run_dir, but each pool has a directory"),
        ("pools: {big: 3}", "spark.pools.big is 3, but must hold keys and values"),
        (
            "pools: {a: {link: {certificate: a, key: a}}, b: {link: {}}}",
            "has pools a and b with one port, 127.0.0.1:8090, and different certificates",
        ),
        (
            "max_memory: 4g, pools: {big: {driver_memory: 8g}}",
            "spark.pools.big has max_memory 4096m, but must hold the largest driver, 8192m",
        ),
    ],
)
def test_an_error_names_the_pool(tmp_path: Path, text: str, complaint: str) -> None:
    assert complaint in complaint_of(tmp_path, f"spark: {{{text}}}\n")


@pytest.mark.parametrize(
    "text", ["driver_memory: 1m", "driver_host: 10.0.0.1", "runner: kubernetes", "mastr: x"]
)
def test_an_error_in_what_pools_inherit_is_reported_once(tmp_path: Path, text: str) -> None:
    reported = complaint_of(
        tmp_path, f"spark: {{{text}, pools: {{a: {{}}, b: {{max_jobs: 1}}}}}}\n"
    )
    assert len(reported.splitlines()) == 1
    assert "spark.pools" not in reported


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.startswith("spark:")])
def test_each_configuration_of_the_page_is_valid(tmp_path: Path, block: str) -> None:
    assert load(tmp_path, block).spark.every_pool


def test_the_pools_and_the_policy_of_the_page_belong_together(tmp_path: Path) -> None:
    [policy] = [block for block in BLOCKS if "runs_on" in block]
    [configuration] = [block for block in BLOCKS if "pools:" in block]
    parsed = parse_policy(policy, "events.yaml")
    assert isinstance(parsed, PolicyLayer)
    settings = load(tmp_path, configuration)
    big = settings.spark.pools[str(parsed.settings["runs_on"].value)]
    assert (big.master, big.driver_memory) == ("spark://spark.example:7077", "2048m")
    assert admission_rules(settings).pools["big"].tasks_at_once == 64


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("{jars: [catalog.jar]}", "'catalog.jar'; a jar is the absolute path"),
        ("{jars: ['com.example:ours:1@abc']}", "GROUP:ARTIFACT:VERSION@SHA256"),
        ("{runner: kubernetes, jars: [/a.jar]}", "has jars, but pods have those of their image"),
        ("{link: {}, jars: [/a.jar]}", "has the jar /a.jar, but drivers with a link"),
    ],
)
def test_jars_that_no_driver_would_load_are_refused(
    section: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(words)):
        load(tmp_path, f"spark: {section}\n")
