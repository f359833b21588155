"""Makes a temporary view of lines that the daemon sends: the files of a list or of a listing.

The driver requests the lines in portions, so the daemon never sends more than the driver can hold.
Spark gets the lines from the driver's memory; no executor reads a file for them.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any, TypeAlias

from ..clock import read_clock
from ..link.outbox import Message, Transport
from .portions import read_text, unpack

SHOW = "SHOW FILES "  # begins a statement that the driver program carries out; JSON follows
_AT_ONCE = 8  # portions that are requested together
_REPEAT_SECONDS = 10.0  # after this time a request or its answer counts as lost
_ROUND_SECONDS = 0.1
_TASK_CHARACTERS = 4 * 1024**2  # of the lines that one task of Spark gets

JavaObject: TypeAlias = Any  # py4j creates its classes at run time


class Files:
    """The portions that one job requests."""

    def __init__(self, job_id: str, output: Transport, is_cancelled: threading.Event) -> None:
        self._job_id = job_id
        self._output = output
        self._is_cancelled = is_cancelled
        self._changed = threading.Condition()
        self._kind = ""
        self._wanted = range(0)
        self._brought: dict[int, Message] = {}

    def take(self, brought: Message) -> None:
        """Take {"kind", "portion", "data"}, with "error" instead of "data" after an error.

        A portion that was not requested, or has arrived already, is dropped.
        """
        with self._changed:
            if brought.get("kind") == self._kind and brought.get("portion") in self._wanted:
                self._brought[brought["portion"]] = brought
                self._changed.notify_all()

    def receive(self, kind: str, first: int, count: int) -> Iterator[str]:
        """Yield the lines of these portions, in order.

        RuntimeError if a portion does not exist, or if the job is cancelled.
        """
        for start in range(first, first + count, _AT_ONCE):
            wanted = range(start, min(start + _AT_ONCE, first + count))
            with self._changed:
                self._kind, self._wanted, self._brought = kind, wanted, {}
            self._ask(wanted)
            for number in wanted:
                yield self._await(number, wanted)

    def _ask(self, wanted: range) -> None:
        self._output.send(
            "files.wanted", job=self._job_id, kind=self._kind, first=wanted.start, count=len(wanted)
        )

    def _await(self, number: int, wanted: range) -> str:
        asked_at = read_clock()
        while True:
            with self._changed:
                brought = self._brought.pop(number, None)
                if brought is None:
                    self._changed.wait(_ROUND_SECONDS)
                    brought = self._brought.pop(number, None)
            if self._is_cancelled.is_set():
                raise RuntimeError("the job is cancelled")
            if brought is not None:
                if "data" not in brought:
                    raise RuntimeError(str(brought.get("error")))
                return unpack(read_text(str(brought["data"])))
            if read_clock() - asked_at > _REPEAT_SECONDS:
                asked_at = read_clock()
                self._ask(range(number, wanted.stop))


def show_files(session: JavaObject, statement: str, files: Files) -> JavaObject:
    """Carry out {"view", "kind", "first", "portions", "from", "to"}.

    Each line is [path, microseconds since 1970]. The view has file_path, last_modified and target:
    `from` and the path, the time, and `to` and the path (NULL without `to`).
    """
    # This import takes half a second, in which Java starts.
    from pyspark.sql import DataFrame  # noqa: PLC0415
    from pyspark.sql import functions as sql  # noqa: PLC0415

    order = json.loads(statement.removeprefix(SHOW))
    # Pyspark has no public access to the JVM.
    jvm, java_session = session._jvm, session._jsparkSession  # noqa: SLF001
    texts, characters = jvm.java.util.ArrayList(), 0
    for text in files.receive(order["kind"], order["first"], order["portions"]):
        if text:
            texts.add(text)
            characters += len(text)
    tasks = max(1, min(len(texts), -(-characters // _TASK_CHARACTERS)))
    held = session.sparkContext._jsc.parallelize(texts, tasks)  # noqa: SLF001
    dataset = java_session.createDataset(held.rdd(), jvm.org.apache.spark.sql.Encoders.STRING())
    path, target = sql.col("file")[0], sql.lit(None).cast("string")
    if order["to"] is not None:
        target = sql.concat(sql.lit(order["to"]), path)
    lines = DataFrame(dataset.toDF(), session).select(
        sql.explode(sql.split("value", "\n")).alias("line")
    )
    lines.select(sql.from_json("line", "ARRAY<STRING>").alias("file")).select(
        sql.concat(sql.lit(order["from"]), path).alias("file_path"),
        sql.timestamp_micros(sql.col("file")[1].cast("bigint")).alias("last_modified"),
        target.alias("target"),
    ).createOrReplaceTempView(order["view"])
    return session.sql(f"SELECT {characters} AS characters")
