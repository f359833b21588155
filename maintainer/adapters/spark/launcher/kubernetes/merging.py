"""Merges one manifest into another."""

from __future__ import annotations

from collections.abc import Mapping

from maintainer.adapters.kubernetes.documents import Manifest


def lay_over(under: Mapping[str, object], over: Mapping[str, object]) -> Manifest:
    """Merge two manifests; where both have a value, ``over`` wins.

    Mappings are merged key by key. Lists of mappings with names (containers, volumes, variables)
    are merged by name; other lists are replaced.
    """
    merged: Manifest = dict(under)
    for key, value in over.items():
        merged[key] = _merge(merged[key], value) if key in merged else value
    return merged


def _merge(under: object, over: object) -> object:
    if isinstance(under, Mapping) and isinstance(over, Mapping):
        return lay_over(under, over)
    if isinstance(under, list) and isinstance(over, list):
        return _merge_lists(under, over)
    return over


def _merge_lists(under: list[object], over: list[object]) -> list[object]:
    key = next((key for key in ("mountPath", "name") if _all_have(key, [*under, *over])), None)
    if key is None:
        return over
    merged = {_value(item, key): item for item in under}
    for item in over:
        name = _value(item, key)
        merged[name] = _merge(merged[name], item) if name in merged else item
    return list(merged.values())


def _all_have(key: str, items: list[object]) -> bool:
    return all(isinstance(item, Mapping) and key in item for item in items)


def _value(item: object, key: str) -> str:
    return str(item[key]) if isinstance(item, Mapping) else ""
