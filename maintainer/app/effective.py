"""The effective settings as a flat list, for people to read."""

from __future__ import annotations

from collections.abc import Iterator

from maintainer.api.deps import EffectiveSetting
from maintainer.settings import Settings

Path = tuple[str, ...]


def list_settings(settings: Settings) -> tuple[EffectiveSetting, ...]:
    """Each setting by its dotted name, its secrets hidden."""
    return tuple(
        EffectiveSetting(".".join(path), _write(value), not settings.is_given(path))
        for path, value in _flatten((), settings.redacted())
    )


def _flatten(path: Path, value: object) -> Iterator[tuple[Path, object]]:
    match value:
        case dict() if value:
            for name, inner in value.items():
                yield from _flatten((*path, str(name)), inner)
        case list() | tuple() if any(isinstance(inner, dict) for inner in value):
            for number, inner in enumerate(value):
                yield from _flatten((*path, str(number)), inner)
        case _:
            yield path, value


def _write(value: object) -> str | None:
    match value:
        case None | {} | [] | ():
            return None
        case bool():
            return "true" if value else "false"
        case set() | frozenset():
            return _write(sorted(map(str, value)))
        case list() | tuple():
            return ", ".join(filter(None, (_write(inner) for inner in value))) or None
        case _:
            return str(value) or None
