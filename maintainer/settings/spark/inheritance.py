"""What a pool takes from the settings directly under `spark`."""

from __future__ import annotations

from collections.abc import Mapping

# These fields describe where the drivers and executors of a section run.
OF_THE_PLACE = frozenset(
    {
        "master",
        "driver_host",
        "jars",
        "dynamic_allocation",
        "executors",
        "profiles",
        "max_memory",
        "start_timeout",
        "kubernetes",
        "yarn",
    }
)
_NOT_INHERITED = frozenset({"pools", "run_dir"})
_RUNNERS = {None: "process", "local": "process"}
_MASTER = "local[2]"


def lay_pools(section: Mapping[str, object]) -> dict[str, object]:
    """Return the section with each pool's own values laid over what it inherits.

    A pool with another `runner` or `master` inherits nothing that describes the place.
    """
    pools = section.get("pools")
    if not isinstance(pools, dict):
        return dict(section)
    return {**section, "pools": {name: _inherit(section, own) for name, own in pools.items()}}


def _inherit(section: Mapping[str, object], own: object) -> object:
    if own is None:
        own = {}
    if not isinstance(own, dict):
        return own
    left_out = _NOT_INHERITED
    if _place_of(section) != _place_of({**section, **own}):
        left_out |= OF_THE_PLACE
    return _lay({key: value for key, value in section.items() if key not in left_out}, own)


def _place_of(section: Mapping[str, object]) -> tuple[object, object]:
    runner = section.get("runner")
    known = _RUNNERS.get(runner, runner) if isinstance(runner, str | None) else runner
    return known, section.get("master", _MASTER)


def _lay(beneath: Mapping[str, object], own: Mapping[str, object]) -> dict[str, object]:
    """Merge mappings key by key at every depth; all else is replaced, lists too."""
    merged = dict(beneath)
    for key, value in own.items():
        known = merged.get(key)
        merged[key] = (
            _lay(known, value) if isinstance(known, dict) and isinstance(value, dict) else value
        )
    return merged
