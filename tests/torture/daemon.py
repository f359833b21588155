"""The daemon under test: `maintainer serve` as its users run it, started again when it is down, as
a service manager would.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import resource
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.end_to_end.programs import MAINTAINER, environment, is_alive
from tests.torture.lake import CATALOG, Lake

NAMESPACE = "torture"
START_SECONDS = 90
STOP_SECONDS = 120
GONE_SECONDS = 240  # for a driver without work whom no daemon answers
QUIET_FOR_SECONDS = 5.0  # ten times the interval of the steps that plan and submit
ANSWER_SECONDS = 20
LOOK_SECONDS = 0.2
RESTART_SECONDS = 1.0
PAGE = 200  # jobs of one answer
COMMAND_CHARACTERS = 120  # of a process that was left
FULL_DISK_BYTES = 512  # the largest file that can be written while the disk is full

# As aggressive as the bounds of a policy allow: a minute between two runs of a rule, hot partitions
# too, the least ages and counts.
POLICY = """\
tables: {catalog}.{namespace}.*
mode: {mode}
target_file_size: 1MiB
rules:
  rewrite_data_files:
    when: {{small_file_count_above: 4}}
    hot_partition_age: 0s
    quiet_period: 0s
    cooldown: 1m
    options: {{min-input-files: 2}}
  rewrite_position_delete_files:
    when: {{position_delete_file_count_above: 2}}
    quiet_period: 0s
    cooldown: 1m
    options: {{min-input-files: 2}}
  rewrite_manifests:
    when: {{manifest_count_above: 4}}
    quiet_period: 0s
    cooldown: 1m
  expire_snapshots:
    when: {{snapshot_count_above: 2}}
    max_age: 24h
    keep: 2
    cooldown: 1m
  compute_partition_stats: {{every: 1h}}
  compute_table_stats: {{every: 1h}}
  remove_orphan_files: {{every: 1h, older_than: 3d, approval: automatic}}
"""

# Two tables are sorted, and one keeps its position deletes for longer than its data files would let
# them live.
NARROWER_POLICIES = {
    "accounts": "rules: {rewrite_data_files: {sort_order: 'writer, sequence'}}",
    "orders": "rules: {rewrite_data_files: {sort_order: 'zorder(writer, sequence)'}}",
    "readings": "rules: {rewrite_data_files: {cooldown: 3m}}",
}

CONFIGURATION = """\
catalogs:
  {catalog}: {properties}
store: {store}
policies: policies
scan: {{interval: 2s, workers: 2, decode_processes: 0, min_interval: 1s, max_interval: 2s}}
plan: {{interval: 500ms}}
submit: {{interval: 500ms}}
watch: {{interval: 500ms}}
review: {{interval: 500ms}}
spark:
  max_jobs: 2
  conf: {{spark.sql.shuffle.partitions: "2"}}
{spark}
drain_timeout: 60s
"""

# A driver without a lease ends its jobs soon, so that a cut often lasts longer.
LINK = """\
  link: {{port: {port}, address: 'http://127.0.0.1:{proxy}'}}
lease: {{duration: 30s, clock_margin: 1s}}
"""


@dataclass(slots=True)
class Daemon:
    """The daemon in a directory of its own; every life of it writes to the same log."""

    directory: Path
    process: subprocess.Popen[bytes] | None = None
    url: str = ""
    starts: int = 0
    exits: list[int] = field(default_factory=list)  # codes of the ends that nobody here asked for
    _is_wanted: bool = False
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _supervisor: threading.Thread | None = None

    def configure(self, lake: Lake, store: str, spark: str) -> None:
        """Write the configuration, with lines of its section spark, and a policy that only
        observes.
        """
        (self.directory / "policies").mkdir(parents=True)
        text = CONFIGURATION.format(
            catalog=CATALOG,
            properties=json.dumps(lake.properties),
            store=json.dumps(store),
            spark=spark,
        )
        (self.directory / "maintainer.yaml").write_text(text, encoding="utf-8")
        for table, rules in NARROWER_POLICIES.items():
            (self.directory / "policies" / f"{table}.yaml").write_text(
                f"tables: {CATALOG}.{NAMESPACE}.{table}\n{rules}\n", encoding="utf-8"
            )
        self.set_mode("observe")

    def set_mode(self, mode: str) -> None:
        """Replace the policy; the daemon sees it by itself."""
        fresh = self.directory / "policy.new"
        fresh.write_text(
            POLICY.format(catalog=CATALOG, namespace=NAMESPACE, mode=mode), encoding="utf-8"
        )
        fresh.replace(self.directory / "policies" / "torture.yaml")

    @property
    def log(self) -> Path:
        """What it says."""
        return self.directory / "daemon.log"

    def start(self) -> None:
        """Start it, and keep it up until it is stopped."""
        self._is_wanted = True
        self._supervisor = threading.Thread(target=self._supervise, name="supervisor", daemon=True)
        self._supervisor.start()

    def stop(self) -> int | None:
        """An orderly end; returns its exit code, None when it had to be killed."""
        self._is_wanted = False
        if self._supervisor is not None:
            self._supervisor.join(STOP_SECONDS)
        process = self.process
        if process is None or process.poll() is not None:
            return process.returncode if process is not None else None
        process.send_signal(signal.SIGTERM)
        try:
            return process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            return None

    def kill(self) -> bool:
        """SIGKILL, as the kernel does it when memory is short; False when it is down anyway."""
        process = self.process
        if process is None or process.poll() is not None:
            return False
        with self._lock:
            process.kill()
            process.wait()
            self.process = None
        return True

    def pids(self, needle: str = "") -> list[int]:
        """The living processes that work in its directory and whose command holds the text: also a
        Spark that has outlived its daemon.
        """
        found = (int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdecimal())
        return [
            pid
            for pid in found
            if self._works_here(pid) and is_alive(pid) and needle in _read_command(pid)
        ]

    def commands(self) -> list[str]:
        """What its living processes were started as, cut short."""
        return [f"{pid} {_read_command(pid)[:COMMAND_CHARACTERS]}" for pid in self.pids()]

    def limit_files(self, limit_bytes: int) -> bool:
        """Let none of its processes write a file beyond this size (-1: no limit); False when there
        is none.
        """
        limit = limit_bytes if limit_bytes >= 0 else resource.RLIM_INFINITY
        pids = self.pids()
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(pid, resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
        return bool(pids)

    def wait_until_gone(self, seconds: float) -> None:
        """Until its drivers have ended that outlived it, or for so long."""
        deadline = time.monotonic() + seconds
        while self.pids() and time.monotonic() < deadline:
            time.sleep(LOOK_SECONDS)

    def sweep(self) -> None:
        """End whatever is left of it."""
        for pid in self.pids():
            end_process(pid)

    def _works_here(self, pid: int) -> bool:
        try:
            place = (Path("/proc") / str(pid) / "cwd").readlink()
        except OSError:
            return False
        return place.is_relative_to(self.directory)

    def ask(self, path: str, body: object | None = None, method: str | None = None) -> Any | None:
        """The answer of its API; None when there is none, or an error."""
        if not self.url:
            return None
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(  # noqa: S310 - on loopback
            f"{self.url}/api/v1{path}", data, {"Content-Type": "application/json"}, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answer:  # noqa: S310
                text = answer.read()
        except (OSError, ValueError):  # HTTPError and URLError are OSErrors
            return None
        return json.loads(text) if text else {}

    def jobs(self) -> list[dict[str, Any]] | None:
        """All jobs, newest first; None when it does not answer."""
        found: list[dict[str, Any]] = []
        cursor = ""
        while True:
            page = self.ask(
                f"/jobs?limit={PAGE}" + (f"&cursor={urllib.parse.quote(cursor)}" if cursor else "")
            )
            if page is None:
                return None
            found += page["items"]
            cursor = page["next_cursor"] or ""
            if not cursor:
                return found

    def wait_until_quiet(
        self,
        timeout_seconds: float,
        unfinished: Sequence[str] = ("pending", "submitted", "running", "unknown"),
    ) -> bool:
        """True when no job has been unfinished for a while.

        A new policy stops new jobs only after it was read: between two jobs there may be none.
        """
        states = "&".join(f"state={state}" for state in unfinished)
        deadline = time.monotonic() + timeout_seconds
        quiet_since: float | None = None
        while (now := time.monotonic()) < deadline:
            page = self.ask(f"/jobs?limit=1&{states}")
            if page is None or page["items"]:
                quiet_since = None
            elif quiet_since is None:
                quiet_since = now
            elif now - quiet_since > QUIET_FOR_SECONDS:
                return True
            time.sleep(LOOK_SECONDS)
        return False

    def wait_until_up(self) -> bool:
        """True as soon as it answers."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self.ask("/jobs?limit=1") is not None:
                return True
            time.sleep(LOOK_SECONDS)
        return False

    def audit(self) -> list[dict[str, Any]]:
        """The whole audit log, oldest first, by the command line; the daemon may be down."""
        command = [MAINTAINER, "audit", "--format", "jsonl"]
        done = subprocess.run(
            command,
            cwd=self.directory,
            capture_output=True,
            text=True,
            timeout=STOP_SECONDS,
            check=True,
            env=environment(),
        )
        return [json.loads(line) for line in done.stdout.splitlines()]

    def _supervise(self) -> None:
        while self._is_wanted:
            with self._lock:
                process = self.process
                if process is not None and process.poll() is not None:
                    self.exits.append(process.returncode)
                    self.process = process = None
                if process is None:
                    self._launch()
            time.sleep(RESTART_SECONDS)

    def _launch(self) -> None:
        self.url = ""
        self.starts += 1
        with self.log.open("ab") as log:
            start = log.tell()
            env = environment(MAINTAINER_SERVER__PORT="0")
            self.process = subprocess.Popen(
                [MAINTAINER, "serve"],
                cwd=self.directory,
                stdout=log,
                stderr=log,
                env=env,
                start_new_session=True,
            )
        threading.Thread(target=self._find_url, args=(self.process, start), daemon=True).start()

    def _find_url(self, process: subprocess.Popen[bytes], start: int) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and process.poll() is None and self.process is process:
            with self.log.open("rb") as log:
                log.seek(start)
                found = re.search(rb"daemon\.started page=(http://\S+?)/ ", log.read())
            if found:
                self.url = found[1].decode()
                return
            time.sleep(LOOK_SECONDS)


def _read_command(pid: int) -> str:
    try:
        return (
            (Path("/proc") / str(pid) / "cmdline")
            .read_bytes()
            .replace(b"\0", b" ")
            .decode(errors="replace")
        )
    except OSError:
        return ""


def end_process(pid: int) -> bool:
    """SIGKILL; False when it was gone."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True
