"""Logs of running drivers, read from the node manager of their container.

A container has two files: Spark writes `stderr`, and the driver program `stdout`. The position in
both is one number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from maintainer.adapters.spark.launcher import LaunchPhase
from maintainer.adapters.spark.launcher.yarn.resource_manager import ResourceManager
from maintainer.adapters.spark.launcher.yarn.states import read_application
from maintainer.adapters.spark.link import LogPart

_FILES = ("stdout", "stderr")
_POSITION_BITS = 31  # 2 GiB of each file; the store keeps 63 bits
_MAX_PART_BYTES = 256 * 1024
_PAGES = "/node/containerlogs/"
_CONTENTS, _END = b"LogContents:\n", b"End of LogType:"


def read_log(manager: ResourceManager, application: Mapping[str, Any], since: int) -> LogPart:
    """Return the part after a position; after the application's end, where YARN keeps its log."""
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
    """Return a file's whole lines from there on, and whether the part is full.

    The node gives them from the start only.
    """
    answer = manager.fetch(address, {"size": str(begin + _MAX_PART_BYTES)})
    if answer is None:
        return b"", False
    content = answer.content.partition(_CONTENTS)[2]
    content = content[: content.rfind(_END)][begin:]
    return content[: content.rfind(b"\n") + 1], len(content) >= _MAX_PART_BYTES
