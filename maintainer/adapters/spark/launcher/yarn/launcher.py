"""Starts drivers on YARN, reports their states, and reads their logs from their nodes.

A container has two log files: Spark writes `stderr`, and the driver program writes `stdout`. One
number contains the positions in both files.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from maintainer.adapters.spark.launcher import DriverSpec, LaunchPhase, LaunchState, add_reason
from maintainer.adapters.spark.launcher.yarn.options import YarnOptions
from maintainer.adapters.spark.launcher.yarn.resource_manager import ResourceManager, describe_queue
from maintainer.adapters.spark.launcher.yarn.submission import Submissions, tag_of
from maintainer.adapters.spark.link import LogPart
from maintainer.adapters.spark.options import LocalSparkOptions
from maintainer.adapters.spark.prerequisites import Finding, find_prerequisites
from maintainer.domain.errors import RunnerUnavailableError
from maintainer.domain.job import FailureReason

_WAITING = frozenset({"NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED"})
_ENDED = frozenset({"FINISHED", "FAILED", "KILLED"})
_BEYOND_MEMORY = re.compile(
    r"beyond the '?(?P<kind>PHYSICAL|VIRTUAL)'? memory limit", re.IGNORECASE
)
_EXIT_CODE = re.compile(r"exitCode: (?P<code>-?\d+)")
_ATTEMPTS = re.compile(r"^Application \S+ failed \d+ times due to ", re.IGNORECASE)
_KILLED_BY = re.compile(r"killed by user (?P<user>\S+)", re.IGNORECASE)
_EXIT_OUT_OF_MEMORY, _EXIT_BEYOND_PHYSICAL, _EXIT_BEYOND_VIRTUAL = 52, -104, -103
_REASONS = {  # by YARN's exit code
    -100: "its node was lost",
    -101: "the disks of its node failed",
    -102: "preempted for another queue",
    -106: "killed by the resource manager",
    137: "killed from outside (exit code 137); often its node had no memory left",
}
_MAX_WORDS = 500
_LIST_SECONDS = 1.0  # a list is used again for this time
_FILES = ("stdout", "stderr")
_POSITION_BITS = 31  # 2 GiB of each file; the store keeps 63 bits
_MAX_PART_BYTES = 256 * 1024
_PAGES = "/node/containerlogs/"
_CONTENTS, _END = b"LogContents:\n", b"End of LogType:"


def read_application(application: Mapping[str, Any]) -> LaunchState:
    """Return the state of an application; an unknown state counts as in progress."""
    state, number = str(application.get("state", "")), str(application.get("id", ""))
    if state in _WAITING:
        return LaunchState(LaunchPhase.QUEUED, _explain_queue(application), None, number)
    if state not in _ENDED:
        return LaunchState(LaunchPhase.RUNNING, "", None, number)
    if application.get("finalStatus") == "SUCCEEDED":
        return LaunchState(LaunchPhase.ENDED, "", None, number)
    reason, failure = _explain_end(state, str(application.get("diagnostics") or ""))
    return LaunchState(LaunchPhase.ENDED, reason, failure, number)


def _explain_queue(application: Mapping[str, Any]) -> str:
    words = _shorten(str(application.get("diagnostics") or ""))
    return add_reason(f"waits in YARN's queue {application.get('queue', '')}", words)


def _explain_end(state: str, diagnostics: str) -> tuple[str, FailureReason]:
    words = _shorten(_ATTEMPTS.sub("", diagnostics))
    found = _EXIT_CODE.search(diagnostics)
    code = int(found["code"]) if found else 0
    if limit := _BEYOND_MEMORY.search(diagnostics):
        sentence = f"out of memory: its container exceeded its {limit['kind'].lower()} memory"
        return sentence, FailureReason.OUT_OF_MEMORY
    if code in {_EXIT_OUT_OF_MEMORY, _EXIT_BEYOND_PHYSICAL, _EXIT_BEYOND_VIRTUAL}:
        return f"out of memory (exit code {code})", FailureReason.OUT_OF_MEMORY
    if state == "KILLED":
        by = _KILLED_BY.search(diagnostics)
        return f"killed by {by['user']}" if by else add_reason("killed", words), (
            FailureReason.LOST_RUNNER
        )
    if code in _REASONS:
        return _REASONS[code], FailureReason.LOST_RUNNER
    return add_reason("its application failed", words), FailureReason.OTHER


def _shorten(diagnostics: str) -> str:
    return " ".join(diagnostics.split())[:_MAX_WORDS]


class YarnLauncher:
    """Drivers of one installation on one cluster. A driver's handle is its name.

    The driver's application has the same name, and the installation's tag. The application exists
    some seconds after the launch, when spark-submit has copied its files to the cluster.
    """

    def __init__(
        self,
        options: LocalSparkOptions,
        yarn: YarnOptions,
        installation: str,
        run_dir: Path,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """``run_dir`` is the directory for the files of spark-submit. No request is made yet."""
        self._options = options
        self._yarn = yarn
        self._tag = tag_of(installation)
        self._manager = ResourceManager(yarn)
        self._submissions = Submissions(options, yarn, run_dir.absolute() / "yarn")
        self._clock = clock
        self._lock = threading.Lock()
        self._listed_at = float("-inf")
        self._listed: dict[str, Mapping[str, Any]] = {}

    def launch(self, spec: DriverSpec) -> str:
        """See Launcher; the submission continues after the return."""
        self._submissions.start(spec)
        return spec.name

    def state(self, handle: str) -> LaunchState:
        is_submitting = self._submissions.is_running(handle)  # before the list is fetched
        found = self._list(handle).get(handle)
        if found is not None:
            self._submissions.drop_secrets(handle)
            return read_application(found)
        if is_submitting:
            return LaunchState(LaunchPhase.STARTING, "its files are copied to the cluster")
        if not self._submissions.is_known(handle):
            return LaunchState(LaunchPhase.GONE)
        complaint = self._submissions.find_complaint(handle)
        return LaunchState(LaunchPhase.ENDED, f"spark-submit failed: {complaint}")

    def log(self, handle: str, since: int) -> LogPart:
        """See Launcher; YARN has the log of an ended driver."""
        found = self._list(handle).get(handle)
        return LogPart("", since) if found is None else read_log(self._manager, found, since)

    def end(self, handle: str) -> None:
        """See Launcher; YARN ends the containers within some seconds."""
        self._submissions.end(handle)
        for found in self._manager.applications(self._tag, is_living=True):
            if found.get("name") == handle:
                self._manager.kill(str(found["id"]))
        self._forget_list()

    def find(self) -> Sequence[str]:
        """See Launcher; ended applications are left out."""
        living = self._manager.applications(self._tag, is_living=True)
        return sorted({str(found.get("name")) for found in living})

    def describe(self) -> Sequence[Finding]:
        return tuple(self._describe())

    def _describe(self) -> Iterator[Finding]:
        """Check the prerequisites of spark-submit, the resource manager and the queue."""
        options = self._options
        yield from find_prerequisites(options.java_home, options.jars_dir, given=options.given_jars)
        try:
            yield "Hadoop's configuration", True, str(self._submissions.find_configuration())
        except RunnerUnavailableError as error:
            yield "Hadoop's configuration", False, str(error)
        try:
            information = self._manager.information()
            version = information.get("resourceManagerVersion", "of an unknown version")
            yield "YARN", True, f"resource manager {version} answers"
            yield describe_queue(self._manager.scheduler(), self._yarn.queue)
        except RunnerUnavailableError as error:
            yield "YARN", False, str(error)

    def _list(self, wanted: str) -> dict[str, Mapping[str, Any]]:
        """Return this installation's applications by name; a list of the last second is used again.

        If the list does not have the wanted name, it is fetched again: the driver may be new.
        """
        with self._lock:
            if self._clock() - self._listed_at >= _LIST_SECONDS or wanted not in self._listed:
                now = self._clock()
                found = self._manager.applications(self._tag)
                self._listed = {str(each.get("name")): each for each in found}
                self._listed_at = now
            return self._listed

    def _forget_list(self) -> None:
        with self._lock:
            self._listed_at = float("-inf")


def read_log(manager: ResourceManager, application: Mapping[str, Any], since: int) -> LogPart:
    """Return the part after a position; after the application's end, how to read its log."""
    state = read_application(application)
    node, _, rest = str(application.get("amContainerLogs") or "").partition(_PAGES)
    if state.phase is LaunchPhase.ENDED:
        kept = f"YARN keeps the log: yarn logs -applicationId {state.application_id}\n"
        return LogPart(kept, 1) if since == 0 else LogPart("", since)
    container = rest.partition("/")[0]
    if not container:
        return LogPart("", since)
    parts = []
    position = 0
    has_more = False
    for index, name in enumerate(_FILES):
        begin = since >> (index * _POSITION_BITS) & ((1 << _POSITION_BITS) - 1)
        address = f"{node}/ws/v1/node/containers/{container}/logs/{name}"
        content, is_cut = _fetch(manager, address, begin)
        has_more |= is_cut
        parts.append(content.decode(errors="replace"))
        position |= (begin + len(content)) << (index * _POSITION_BITS)
    return LogPart("".join(parts), position, has_more)


def _fetch(manager: ResourceManager, address: str, begin: int) -> tuple[bytes, bool]:
    """Return the whole lines of a file from a position on, and whether the part is full.

    The node sends the file only from its start.
    """
    answer = manager.fetch(address, {"size": str(begin + _MAX_PART_BYTES)})
    if answer is None:
        return b"", False
    content = answer.content.partition(_CONTENTS)[2]
    content = content[: content.rfind(_END)][begin:]
    return content[: content.rfind(b"\n") + 1], len(content) >= _MAX_PART_BYTES
