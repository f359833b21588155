"""Runs what Spark itself executes on each version of Spark: python -m tests.matrix [--only 3.5].

The version of this environment runs in it. Another one gets an environment of its own, which has
its own pyspark and takes every other package from this one.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import sysconfig
import venv
from collections import Counter, defaultdict
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree as ET

ROOT = Path(__file__).parents[2]
LOCKS = {"3.5": Path(__file__).with_name("spark-3.5.lock")}
ENVIRONMENTS = ROOT / ".cache" / "matrix"
REPORTS = ROOT / "test-results"
SPARK = Path("tests/adapters/spark")
# Every procedure with its proof, and every kind of runner that this machine can have.
FILES = (
    SPARK / "test_facts.py",
    SPARK / "test_trial.py",
    SPARK / "test_procedures.py",
    SPARK / "test_formats.py",
    SPARK / "test_row_lineage.py",
    SPARK / "test_undoing.py",
    SPARK / "test_conflicts.py",
    SPARK / "test_orphan_removal.py",
    SPARK / "test_slices_of_expiry.py",
    SPARK / "test_local.py",
    SPARK / "test_adoption.py",
    SPARK / "behaviour" / "test_socket.py",
    SPARK / "behaviour" / "test_http.py",
    SPARK / "behaviour" / "test_standalone.py",
)


@dataclass(frozen=True)
class Result:
    """The cases of one file on one version."""

    passed: int
    failed: int
    skipped: int
    seconds: float

    def __str__(self) -> str:
        bad = f", {self.failed} FAILED" if self.failed else ""
        bad += f", {self.skipped} not run" if self.skipped else ""
        return f"{self.passed} passed{bad} ({self.seconds:.0f} s)"


def make_environment(spark: str) -> Path:
    """The Python with this Spark and its jars; it is made once."""
    directory = ENVIRONMENTS / f"spark-{spark}"
    python = directory / "bin" / "python"
    packages = directory / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages"
    others = packages / "zz_others.pth"  # written last
    if not others.exists():
        venv.create(directory, symlinks=True)
        uv = str(Path(sys.executable).with_name("uv"))
        install = [uv, "pip", "install", "--quiet", "--python", str(python), "--require-hashes"]
        locks = ["--build-constraints", "toolchain.lock", "--requirements", str(LOCKS[spark])]
        subprocess.run([*install, *locks], check=True, cwd=ROOT)
        own = sysconfig.get_path("purelib")
        others.write_text(f"import site; site.addsitedir({own!r})\n", encoding="utf-8")
    subprocess.run([python, "-m", "maintainer.adapters.spark.jars"], check=True, cwd=ROOT)
    return python


def run_tests(spark: str, python: Path) -> dict[str, Result]:
    """The results by file; those that pytest could not collect are there too."""
    report = REPORTS / f"matrix-{spark}.xml"
    report.unlink(missing_ok=True)
    report.parent.mkdir(exist_ok=True)
    command = [str(python), "-m", "pytest", "-q", "--numprocesses", "0", "-p", "no:cacheprovider"]
    wanted = [str(file) for file in FILES]
    subprocess.run([*command, f"--junitxml={report}", *wanted], cwd=ROOT, check=False)
    return read_report(report.read_text(encoding="utf-8")) if report.exists() else {}


def read_report(text: str) -> dict[str, Result]:
    """The results of a JUnit report by the name of the file."""
    counts: dict[str, Counter[str]] = {}
    seconds: defaultdict[str, float] = defaultdict(float)
    for case in ET.fromstring(text).iter("testcase"):  # noqa: S314 - pytest's own
        place = case.get("classname") or case.get("name") or ""  # a class may follow the module
        file = f"{[part for part in place.split('.') if part.startswith('test_')][-1]}.py"
        kinds = {child.tag for child in case}
        bad = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else ""
        counts.setdefault(file, Counter())[bad or "passed"] += 1
        seconds[file] += float(case.get("time") or 0)
    return {
        file: Result(count["passed"], count["failed"], count["skipped"], seconds[file])
        for file, count in counts.items()
    }


def write_table(results: dict[str, dict[str, Result]]) -> str:
    """A row for each file, a column for each version of Spark."""
    rows = [["", *(f"Spark {spark}" for spark in results)]]
    for file in FILES:
        cells = [of.get(file.name) for of in results.values()]
        rows.append([file.name, *("NOT RUN" if cell is None else str(cell) for cell in cells)])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def is_good(results: dict[str, dict[str, Result]]) -> bool:
    """Whether every file ran on every version, and nothing failed."""
    found = [of.get(file.name) for of in results.values() for file in FILES]
    return all(result is not None and result.passed and not result.failed for result in found)


def main() -> int:
    """Run the tests and print the table; 1 if something failed or did not run."""
    installed = ".".join(version("pyspark").split(".")[:2])
    parser = argparse.ArgumentParser(prog="python -m tests.matrix", description=__doc__)
    parser.add_argument("--only", default="", help="versions, such as 3.5,4.1; all by default")
    chosen = parser.parse_args().only.split(",")
    versions = [spark for spark in (*LOCKS, installed) if chosen == [""] or spark in chosen]
    if not versions:
        parser.error(f"--only is {','.join(chosen)}; known are {', '.join((*LOCKS, installed))}")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    results = {}
    for spark in versions:
        python = Path(sys.executable) if spark == installed else make_environment(spark)
        results[spark] = run_tests(spark, python)
    sys.stdout.write(f"\n{write_table(results)}\n")
    return 0 if is_good(results) else 1


if __name__ == "__main__":
    sys.exit(main())
