"""Spark's settings of a driver on YARN: those of its submission, and those of its start order.

YARN and Spark write what is submitted into files and environments of the cluster. So the submission
has sizes, addresses and names only, and everything else goes over the link.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from maintainer.adapters.spark.driver import surroundings
from maintainer.adapters.spark.driver.link import polling
from maintainer.adapters.spark.launcher import DriverSpec
from maintainer.adapters.spark.launcher.yarn.options import YarnOptions
from maintainer.adapters.spark.options import (
    DriverSize,
    RunnerOptions,
    executor_settings,
    overhead_megabytes,
)

TOKEN_FILE, AUTHORITY_FILE = "token", "authority.pem"
_MASTER = "yarn"
# of spark.conf, what is needed before the driver has its start order
_SUBMITTED = re.compile(r"spark\.((yarn\.|kerberos\.|driver\.extra).*|authenticate)", re.DOTALL)
_SECRET = re.compile(r"secret|password|token|credential", re.IGNORECASE)


def tag_of(installation: str) -> str:
    """Return the tag of an installation's applications; YARN knows tags in lower case only."""
    return f"iceberg-maintainer-{installation}".lower()


def start_settings(size: DriverSize, options: YarnOptions) -> dict[str, str]:
    """Return the settings that the start order adds."""
    settings = {"spark.master": _MASTER, "spark.submit.deployMode": "cluster"}
    if size.executors is None:
        return settings
    overhead = overhead_megabytes(size.executors.memory, options.executor_overhead)
    return (
        settings
        | executor_settings(_MASTER, size.executors)
        | {"spark.executor.memoryOverhead": f"{overhead}m"}
    )


def submit_settings(
    spec: DriverSpec, runner: RunnerOptions, options: YarnOptions, jars: Sequence[Path]
) -> dict[str, str]:
    """Return the settings that spark-submit reads; none of them is a secret."""
    seconds = int(runner.start_timeout.total_seconds())
    chosen = {
        name: value
        for name, value in runner.conf.items()
        if _SUBMITTED.fullmatch(name) and _SECRET.search(name) is None
    }
    fixed = {
        "spark.app.name": spec.name,
        "spark.yarn.queue": options.queue,
        "spark.yarn.tags": f"{tag_of(spec.installation)},{spec.name}",
        "spark.yarn.submit.waitAppCompletion": "false",
        # another attempt would be a second driver; the daemon starts a new one by itself
        "spark.yarn.maxAppAttempts": "1",
        # a job ends by the failures of its tasks; the executors of one job must not end all others
        "spark.executor.maxNumFailures": "1000",
        "spark.yarn.am.waitTime": f"{seconds}s",
        "spark.yarn.preserve.staging.files": "false",
        "spark.driver.memory": spec.memory,
        "spark.driver.cores": str(options.driver_cores),
        "spark.driver.memoryOverhead": (
            f"{overhead_megabytes(spec.memory, options.driver_overhead)}m"
        ),
        "spark.jars": ",".join(path.as_uri() for path in jars),
        "spark.pyspark.python": options.python,
        "spark.ui.enabled": "false",
    }
    java_options = " ".join(
        filter(None, [runner.java_options, chosen.get("spark.driver.extraJavaOptions", "")])
    )
    if options.principal and options.keytab is not None:
        fixed |= {
            "spark.kerberos.principal": options.principal,
            "spark.kerberos.keytab": str(options.keytab),
        }
    variables = {
        polling.ADDRESS: spec.address,
        polling.NAME: spec.name,
        polling.TOKEN_FILE: TOKEN_FILE,  # in the container's own directory
        surroundings.WORK: ".",
    } | ({polling.AUTHORITY_FILE: AUTHORITY_FILE} if spec.authority else {})
    environment = {f"spark.yarn.appMasterEnv.{name}": value for name, value in variables.items()}
    return chosen | {"spark.driver.extraJavaOptions": java_options} | fixed | environment
