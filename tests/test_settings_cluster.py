"""Spark's tasks on a standalone cluster: what is configured is what a job of each size gets, and
what cannot be is refused.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from maintainer.adapters.spark.options import DriverSize, Executors, executor_settings
from maintainer.app.options import admission_rules, runner_options, spark_options, yarn_options
from maintainer.domain.errors import ConfigurationError
from maintainer.domain.pool import JobSize, SizeProfile
from maintainer.settings import Settings, load_settings

CATALOGS = "catalogs: {lake: {type: sql, uri: 'sqlite:///lake.db'}}\n"
CLUSTER = """
spark:
  master: spark://10.0.0.1:7077,10.0.0.2:7077
  driver_host: 10.0.0.9
  driver_memory: 1g
  max_jobs: 2
  executors: {count: 2, memory: 2g, cores: 4}
  profiles:
    medium: {executors: {count: 4, memory: 4g, cores: 4}}
    large: {driver_memory: 2g, executors: {count: 10, memory: 8g, cores: 8}}
"""


def load(tmp_path: Path, text: str) -> Settings:
    file = tmp_path / "maintainer.yaml"
    file.write_text(CATALOGS + text)
    return load_settings(file, {})


def test_a_job_of_each_size_occupies_its_part_of_the_driver_and_of_its_executors(
    tmp_path: Path,
) -> None:
    settings = load(tmp_path, CLUSTER)
    pool = admission_rules(settings).pools["default"]
    assert pool.profiles == (
        SizeProfile(JobSize.SMALL, 2.5, 2.0),
        SizeProfile(JobSize.MEDIUM, 17.0, 16.0),
        SizeProfile(JobSize.LARGE, 82.0, 80.0),
    )
    assert [(profile.driver_gb, profile.tasks_gb) for profile in pool.profiles] == [
        (0.5, 2.0),
        (1.0, 16.0),
        (2.0, 80.0),
    ]
    assert pool.tasks_at_once == 80
    options = spark_options(settings)
    assert (options.master, options.driver_host) == (
        "spark://10.0.0.1:7077,10.0.0.2:7077",
        "10.0.0.9",
    )
    assert options.driver_of(JobSize.MEDIUM) == DriverSize("1024m", 1, Executors(4, "4096m", 4))


def test_a_cluster_is_asked_for_exactly_the_executors_of_the_size() -> None:
    size = Executors(4, "4096m", 4)
    common = {"spark.executor.memory": "4096m", "spark.executor.cores": "4"}
    assert executor_settings("spark://h:7077", size) == common | {"spark.cores.max": "16"}
    for master in ("yarn", "k8s://https://h:6443"):
        assert executor_settings(master, size) == common | {"spark.executor.instances": "4"}


def test_sizes_without_executors_of_their_own_have_those_of_small_jobs(tmp_path: Path) -> None:
    settings = load(tmp_path, "spark: {master: 'spark://localhost:7077', max_jobs: 1}\n")
    assert {spark_options(settings).driver_of(size).executors for size in JobSize} == {
        Executors(1, "2048m", 1)
    }
    assert spark_options(settings).driver_host == "127.0.0.1"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            "{executors: {count: 2}}",
            "has executors or a driver_host, but the master local[2] runs all tasks in the driver",
        ),
        (
            "{profiles: {large: {executors: {count: 2}}}}",
            "has executors or a driver_host, but the master local[2] runs all tasks in the driver",
        ),
        (
            "{driver_host: 10.0.0.1}",
            "has executors or a driver_host, but the master local[2] runs all tasks in the driver",
        ),
        (
            "{master: 'spark://10.0.0.1:7077'}",
            "has driver_host 127.0.0.1, which the executors of spark://10.0.0.1:7077 cannot reach",
        ),
        (
            "{master: yarn}",
            "has driver_host 127.0.0.1, which the executors of yarn cannot reach",
        ),
        (
            "{master: 'k8s://https://10.0.0.1:6443'}",
            "has driver_host 127.0.0.1, which the executors of k8s://https://10.0.0.1:6443 cannot",
        ),
        (
            "{master: mesos}",
            "is 'mesos', but must be local, local[N], local[*], spark://HOST:PORT of a standalone",
        ),
        (
            "{runner: kubernetes, kubernetes: {namespace: jobs, image: i}}",
            "has runner kubernetes, but no section link",
        ),
        ("{kubernetes: {namespace: jobs, image: i}}", "a section kubernetes, but runner process"),
        ("{runner: yarn, link: {}}", "has runner yarn, but no section yarn"),
        (
            "{runner: yarn, yarn: {resource_manager: 'http://rm:8088'}}",
            "has runner yarn, but no section link",
        ),
        ("{yarn: {resource_manager: 'http://rm:8088'}}", "has a section yarn, but runner process"),
        (
            (
                "{runner: yarn, driver_host: 10.0.0.1, link: {}, yarn: {resource_manager: "
                "'http://rm:8088'}}"
            ),
            "has a driver_host, but runner yarn has drivers on its cluster",
        ),
        (
            "{runner: yarn, link: {}, yarn: {resource_manager: [rm]}}",
            "resource_manager has 'rm', but must be such as http://rm.example:8088",
        ),
        (
            "{runner: yarn, link: {}, yarn: {resource_manager: []}}",
            "resource_manager must be one address, or a list of 1 to 5",
        ),
        (
            "{runner: yarn, link: {}, yarn: {resource_manager: 'http://rm:8088', queue: a b}}",
            "queue is 'a b', but must be a queue's name such as maintenance",
        ),
        (
            "{runner: yarn, link: {}, yarn: {resource_manager: 'http://rm:8088', principal: m@R}}",
            "has a principal or a keytab, but must have both or neither",
        ),
        (
            (
                "{runner: yarn, link: {}, yarn: {resource_manager: 'http://rm:8088', principal: m, "
                "keytab: /k}}"
            ),
            "principal is 'm', but must be such as maintainer@EXAMPLE.COM",
        ),
        (
            (
                "{runner: yarn, link: {}, yarn: {resource_manager: 'http://rm:8088', user: m, "
                "principal: m@R, keytab: /k}}"
            ),
            "has a user and a principal; with Kerberos the principal is the user",
        ),
        (
            "{runner: kubernetes, kubernetes: {namespace: Jobs, image: i}, link: {}}",
            "namespace is 'Jobs', but must be a DNS label",
        ),
        (
            "{link: {address: 'http://maintainer-link:8090'}}",
            "would carry catalog secrets to http://maintainer-link:8090 without encryption",
        ),
        ("{link: {host: 0.0.0.0}}", "would carry catalog secrets to http://0.0.0.0:8090 without"),
        ("{link: {certificate: a.pem}}", "has a certificate or a key, but must have both"),
        ("{link: {address: 'maintainer-link'}}", "is 'maintainer-link', but must be an address"),
        (
            "{master: 'spark://127.0.0.1:7077', driver_host: 'a b'}",
            "is 'a b', but must be a name or an address of this machine",
        ),
        (
            "{master: 'spark://127.0.0.1:7077', executors: {count: 0}}",
            "count is 0, under the least value 1",
        ),
        (
            "{master: 'spark://127.0.0.1:7077', executors: {memory: 1m}}",
            "memory is 1m, but must be from 512MiB to 1TiB",
        ),
        (
            (
                "{master: 'spark://127.0.0.1:7077', max_jobs: 1, profiles: {medium: {executors: "
                "{count: 8}}}}"
            ),
            (
                "has profiles whose jobs do not grow (small 2 GiB, medium 16 GiB, large 2 GiB); "
                "executors.count * executors.memory / max_jobs must not fall"
            ),
        ),
    ],
)
def test_what_no_cluster_could_give_is_refused(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        load(tmp_path, f"spark: {text}\n")
    assert complaint in str(refused.value)


@pytest.mark.parametrize(
    ("link", "address"),
    [
        ("{}", "http://127.0.0.1:41234"),
        ("{host: '::1'}", "http://[::1]:41234"),
        ("{host: 0.0.0.0, certificate: a.pem, key: b.pem}", "https://0.0.0.0:41234"),
        ("{host: 0.0.0.0, without_tls: true}", "http://0.0.0.0:41234"),
        (
            "{address: 'https://link.lake.example/maintainer/'}",
            "https://link.lake.example/maintainer",
        ),
    ],
)
def test_drivers_poll_the_address_of_the_link(tmp_path: Path, link: str, address: str) -> None:
    settings = load(tmp_path, f"spark: {{link: {link}}}\n").spark.link
    assert settings is not None
    assert settings.address_at(41234) == address


def test_the_former_name_of_a_process_still_works(tmp_path: Path) -> None:
    assert load(tmp_path, "spark: {runner: local}\n").spark.runner == "process"


def test_a_cluster_on_this_machine_needs_no_other_address(tmp_path: Path) -> None:
    for master in ("spark://127.0.0.1:7077", "k8s://https://localhost:6443"):
        assert load(tmp_path, f"spark: {{master: '{master}'}}\n").spark.is_cluster
    assert load(tmp_path, "spark: {master: yarn, driver_host: 127.0.0.1}\n").spark.is_cluster


def test_pods_run_the_tasks_in_the_driver_unless_executors_are_wanted(tmp_path: Path) -> None:
    text = "spark: {runner: kubernetes, link: {}, kubernetes: {namespace: jobs, image: i}}\n"
    spark = load(tmp_path, text).spark
    assert spark.executors_of(JobSize.SMALL) is None, "the driver's pod runs the tasks"
    assert spark.tasks_at_once == 2
    text = text.replace("spark: {", "spark: {executors: {count: 3, cores: 2}, ")
    spark = load(tmp_path, text).spark
    assert spark.executors_of(JobSize.SMALL) is not None
    assert spark.tasks_at_once == 6


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("{}", 2),
        ("{start_timeout: 5m}", 5),
        ("{runner: kubernetes, link: {}, kubernetes: {namespace: jobs, image: i}}", 10),
        ("{runner: yarn, link: {}, yarn: {resource_manager: 'http://rm:8088'}}", 10),
    ],
)
def test_a_pod_has_longer_to_start_than_a_process(tmp_path: Path, text: str, minutes: int) -> None:
    settings = load(tmp_path, f"spark: {text}\n")
    assert runner_options(settings).start_timeout == timedelta(minutes=minutes)


def test_files_of_the_link_and_the_cluster_lie_beside_the_configuration(tmp_path: Path) -> None:
    spark = load(
        tmp_path,
        "spark: {runner: kubernetes, link: {certificate: tls/a.crt, key: /k}, kubernetes: "
        "{namespace: jobs, image: i, kubeconfig: cluster}}\n",
    ).spark
    assert spark.link is not None
    assert spark.kubernetes is not None
    assert (spark.link.certificate, spark.link.key) == (tmp_path / "tls/a.crt", Path("/k"))
    assert spark.kubernetes.kubeconfig == tmp_path / "cluster"


@pytest.mark.parametrize(
    "template",
    [
        "",
        "https://history.example/history/{application_id}",
        "http://127.0.0.1:18080/history/{application_id}/jobs/",
        "http://{host}:4040/jobs?driver={driver}#{pod}",
    ],
)
def test_an_address_of_sparks_page_may_have_what_is_known_of_a_driver(
    tmp_path: Path, template: str
) -> None:
    assert load(tmp_path, f"spark: {{ui_url: '{template}'}}\n").spark.ui_url == template


@pytest.mark.parametrize(
    ("template", "complaint"),
    [
        ("https://h/{application}", "has the placeholder {application}, but may have only {app"),
        ("https://h/{}", "has the placeholder {}, but may have only {application_id}, {driver}"),
        ("https://h/{driver.name}", "has the placeholder {driver.name}, but may have only"),
        ("https://h/{driver", "is 'https://h/{driver', but braces may only enclose one of"),
        ("https://h/{{driver}}", "but braces may only enclose one of"),
        ("javascript:alert(1)", "is 'javascript:alert(1)', but must be an address with http://"),
        ("ftp://h/{driver}", "but must be an address with http:// or https://"),
        ("https://ada:hunter22@h/{driver}", "and without a user"),
        ("https://h/a b", "but must be an address"),
        ("https://", "but must be an address"),
        (f"https://h/{'x' * 1000}", "has 1,010 characters, but may have at most 1,000"),
    ],
)
def test_another_address_of_sparks_page_is_refused(
    tmp_path: Path, template: str, complaint: str
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        load(tmp_path, f"spark: {{ui_url: '{template}'}}\n")
    assert complaint in str(refused.value)
    assert "hunter22" not in str(refused.value)


def test_on_yarn_tasks_run_in_executors_and_files_lie_beside_the_configuration(
    tmp_path: Path,
) -> None:
    text = (
        "spark: {runner: yarn, link: {}, yarn: {resource_manager: ['http://a:8088/', "
        "'http://b:8088'], principal: m@R, keytab: m.keytab, hadoop_conf_dir: conf}}\n"
    )
    settings = load(tmp_path, text)
    assert settings.spark.executors_of(JobSize.SMALL) is not None
    assert settings.spark.yarn is not None
    options = yarn_options(settings.spark.yarn)
    assert options.resource_managers == ("http://a:8088", "http://b:8088")
    assert (options.keytab, options.hadoop_conf_dir) == (tmp_path / "m.keytab", tmp_path / "conf")


ELASTIC = """
spark:
  master: spark://127.0.0.1:7077
  executors: {count: 2, memory: 2g, cores: 4}
  dynamic_allocation: {min_executors: 1, max_executors: 8}
"""


def test_dynamic_allocation_bounds_the_executors_of_every_size(tmp_path: Path) -> None:
    settings = load(tmp_path, ELASTIC)
    sizes = {spark_options(settings).driver_of(size) for size in JobSize}
    assert {size.executors for size in sizes} == {Executors(2, "2048m", 4, (1, 8))}
    assert {size.counted_megabytes for size in sizes} == {2048}
    given = executor_settings("spark://h:7077", Executors(2, "2048m", 4, (1, 8)))
    assert given == {
        "spark.executor.memory": "2048m",
        "spark.executor.cores": "4",
        "spark.cores.max": "32",
        "spark.dynamicAllocation.enabled": "true",
        "spark.dynamicAllocation.shuffleTracking.enabled": "true",
        "spark.dynamicAllocation.shuffleTracking.timeout": "300s",
        "spark.dynamicAllocation.minExecutors": "1",
        "spark.dynamicAllocation.maxExecutors": "8",
        "spark.dynamicAllocation.initialExecutors": "2",
    }
    fixed = load(tmp_path, CLUSTER)
    assert {spark_options(fixed).driver_of(size).counted_megabytes for size in JobSize} == {0}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{dynamic_allocation: {max_executors: 2}}", "but its drivers have no executors: they run"),
        (
            (
                "{runner: kubernetes, link: {}, kubernetes: {namespace: jobs, image: i}, "
                "dynamic_allocation: {max_executors: 2}}"
            ),
            "has dynamic_allocation, but its drivers have no executors",
        ),
        (
            "{master: 'spark://127.0.0.1:7077', dynamic_allocation: {max_executors: 0}}",
            "max_executors is 0, under the least value 1",
        ),
        (
            (
                "{master: 'spark://127.0.0.1:7077', dynamic_allocation: {min_executors: 3, "
                "max_executors: 2}}"
            ),
            "has min_executors 3, above max_executors 2",
        ),
        (
            "{master: 'spark://127.0.0.1:7077', dynamic_allocation: {min_executors: 0}}",
            "dynamic_allocation.max_executors is missing",
        ),
        (
            (
                "{master: 'spark://127.0.0.1:7077', executors: {count: 3}, dynamic_allocation: "
                "{max_executors: 2}}"
            ),
            "has 3 executors for small jobs, but dynamic_allocation allows 0 to 2",
        ),
    ],
)
def test_bounds_that_no_cluster_can_keep_are_refused(
    tmp_path: Path, text: str, complaint: str
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        load(tmp_path, f"spark: {text}\n")
    assert complaint in str(refused.value)
