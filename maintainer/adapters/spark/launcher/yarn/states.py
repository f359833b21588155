"""Translates the state that a resource manager reports for an application."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from maintainer.adapters.spark.launcher import LaunchPhase, LaunchState, add_reason
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
