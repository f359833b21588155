"""The conformance suite's Spark."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.conformance import spark_process
from tests.quick_java import QUICK_SPARK

END_SECONDS = 60


class SparkError(Exception):
    """What Spark answered when it could not do it."""


class Session:
    """One Spark process, started by the first question; its settings can be added to."""

    def __init__(self, directory: Path, settings: Mapping[str, str] | None = None) -> None:
        place = os.environ.get("ICEBERG_JARS") or str(
            Path(sys.prefix) / "share" / "iceberg-maintainer" / "jars"
        )
        jars = ",".join(str(jar) for jar in sorted(Path(place).glob("*.jar")))
        assert jars, f"{place} has no jars of Iceberg"
        self._log = directory / "spark.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    spark_process.__file__,
                    directory,
                    jars,
                    json.dumps({**QUICK_SPARK, **(settings or {})}),
                ],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

    def sql(self, statement: str) -> list[dict[str, Any]]:
        """The rows of a statement."""
        return self._ask({"sql": statement})

    def run_streams(self, streams: Sequence[Sequence[str]]) -> list[list[float]]:
        """The seconds of each statement, by stream; the streams run side by side."""
        answers = self._ask({"streams": [[*statements] for statements in streams]})
        return [answer["seconds"] for answer in answers]

    def commit_deletes(self, table: str, files: list[dict[str, Any]]) -> None:
        """Commit delete files that are written already."""
        self._ask({"table": table, "deletes": files})

    def add_column(self, table: str, column: str, default: int) -> None:
        """Add a column of whole numbers with a default value."""
        self._ask({"table": table, "column": column, "default": default})

    def _ask(self, request: dict[str, Any]) -> list[dict[str, Any]]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise SparkError(self._log.read_text(encoding="utf-8", errors="replace")[-4000:])
        answer = json.loads(line)
        if "error" in answer:
            raise SparkError(answer["error"])
        rows: list[dict[str, Any]] = answer["rows"]
        return rows
