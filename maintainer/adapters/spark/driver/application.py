"""The Spark application of this driver, in its JVM."""

from __future__ import annotations

import contextlib
import time
from typing import Any, TypeAlias, cast

from .facts import load_catalogs, read_versions
from .jvm import Jvm, ParentJvm, drop_cluster_defaults
from .link.outbox import Message
from .marks import Marks
from .progress import ExecutorTime, Meter
from .results import MAX_CAUSES, read_causes, split_cause
from .threads import Threads

_CATALOGS_SECONDS = 30  # time for the configured catalogs to load, in parallel

JavaObject: TypeAlias = Any  # py4j creates its classes at run time


class Application:
    """A started Spark application, which runs jobs."""

    def __init__(self, settings: Message, jvm: Jvm | ParentJvm) -> None:
        """Start Spark with these settings; any exception means that Spark did not start."""
        jvm.await_gateway()
        # This import takes half a second, in which Java starts.
        from pyspark import SparkConf, SparkContext  # noqa: PLC0415
        from pyspark.sql import SparkSession  # noqa: PLC0415

        self._conf = settings["conf"]
        conf = SparkConf(loadDefaults=False)
        for key, value in self._conf.items():
            conf.set(key, value)
        # Pyspark has no public access to the JVM.
        SparkContext._ensure_initialized()  # noqa: SLF001
        self._java = cast("JavaObject", SparkContext._jvm)  # noqa: SLF001
        self._set_log_level()
        self._context = SparkContext(conf=conf)
        self.threads = Threads(self._context)
        if settings["master"].startswith("local"):
            drop_cluster_defaults(
                self._java.java,
                self._context._jsc.hadoopConfiguration(),  # noqa: SLF001 - as above
                self._conf,
            )
        self._session = SparkSession(self._context)
        self._session.sql("SELECT 1").collect()
        self._versions = {"spark": self._session.version, **read_versions(self._java)}
        self.marks = Marks(self._java.org.apache.iceberg.EnvironmentContext, self._conf)
        # Pyspark's status tracker has neither tags nor descriptions.
        self.scala_context: JavaObject = self._context._jsc.sc()  # noqa: SLF001
        self.executors = ExecutorTime(settings.get("executor_megabytes", 0), self._count_executors)

    @property
    def about(self) -> Message:
        """Return Spark's id of the application, and the running versions."""
        return {"application_id": self._context.applicationId, "versions": self._versions}

    @property
    def is_stopped(self) -> bool:
        """Return True if the application has ended, for any reason; it runs no more statements."""
        return bool(self.scala_context.isStopped())

    @property
    def is_gone(self) -> bool:
        """Return True if the application has ended, or if its JVM does not answer."""
        with contextlib.suppress(Exception):
            return self.is_stopped
        return True

    def new_session(self) -> JavaObject:
        """Return a new session; a session runs one job at a time."""
        return self._session.newSession()

    def read_facts(self) -> Message:
        """Return the running versions, and the catalogs that can be loaded."""
        return {
            **self._versions,
            "catalogs": load_catalogs(self.new_session, self._conf, _CATALOGS_SECONDS),
            "at": time.time(),
        }

    def _set_log_level(self) -> None:
        """Set the log level before Spark does; Spark assumes that INFO is in force already.

        In a shell such as pyspark's, WARN is in force until a level is set.
        """
        level = self._java.org.apache.logging.log4j.Level.toLevel(
            self._conf.get("spark.log.level", "WARN")
        )
        self._java.org.apache.spark.util.Utils.setLogLevel(level)

    def read_causes(self, error: BaseException, meter: Meter) -> list[dict[str, str]]:
        """Return the causes of a job's error, after the messages of failed attempts."""
        attempts: list[str] = []
        with contextlib.suppress(Exception):  # the JVM may have ended
            attempts = meter.read_attempts(self.scala_context, self._java)[:MAX_CAUSES]
        return [*map(split_cause, attempts), *read_causes(error)]

    def is_planning(self, tag: str, meter: Meter) -> bool:
        """Return True while a job has begun no Spark job and no thread of it commits."""
        if meter.has_begun:
            return False
        with contextlib.suppress(Exception):  # the JVM may be ending
            return not self.threads.commits(tag)
        return False

    def stop(self) -> None:
        """End the application; its JVM continues."""
        self._context.stop()

    def _count_executors(self) -> int:
        are_active = True
        found = self.scala_context.statusStore().executorList(are_active).length()
        return int(found) - 1  # without the driver
