"""Reads a policy file into a layer or its problems, and a table's maintainer.* properties."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from difflib import get_close_matches
from functools import lru_cache

from pydantic import BaseModel

from maintainer.adapters.policies.document import (
    Defect,
    Document,
    Path,
    read_document,
    resolve_scalar,
    write_path,
)
from maintainer.adapters.policies.model import BudgetModel, PolicyModel
from maintainer.adapters.policies.validation import validate
from maintainer.domain.identifier import TablePattern
from maintainer.domain.policy import PolicyLayer, PolicyProblem, PropertySettings, RuleName, Setting

DEFAULT_FILES = ("default.yaml", "default.yml")
PREFIX = "maintainer."
MAXIMUM_PROPERTIES = 100
MAXIMUM_CHARACTERS = 10_000  # in one value
_PLAIN = ("mode", "priority")
_ELSEWHERE = ("enabled",)  # other code reads the kill switch
_MAPS = ("when", "options")  # fields with one more level, whose names may contain dots
_FILES_ONLY = {
    "tables": "only a file names tables",
    "properties": "only a policy file can set what properties may do",
    "owner": "only a file names the owner of a table with several names",
    "window": "only a file sets a window",
    "blackouts": "only a file sets blackouts",
    "budget": "only a file sets a budget",
    "runs_on": "only a file names a pool",
    "min_size": "only a file bounds the size of a job",
    "max_size": "only a file bounds the size of a job",
    "others": "only a file says what other maintainers of the table mean",
    "writers": "only a file says which engines write the table",
    "stream": "only a file describes the stream that writes the table",
    "rollback_for": "only a file says how a rewrite is proved",
    "canary": "only a file says how a rewrite is proved",
    "checksum": "only a file says how a rewrite is proved",
    "target_file_size": "write Iceberg's own write.target-file-size-bytes",
}
# A ratio of difflib. Less similar names with the prefix may belong to another program.
_LIKE_A_RULE = 0.8


def parse_policy(
    text: str, name: str, source: str | None = None
) -> PolicyLayer | tuple[PolicyProblem, ...]:
    """Return the layer of a policy file, or all its problems by line.

    ``source`` is the file's name in messages; the default is its own name.
    """
    cited = source or name
    document = read_document(text)
    model = validate(document, PolicyModel)
    defects = model if isinstance(model, tuple) else ()
    if (
        "tables" not in document.value
        and name not in DEFAULT_FILES
        and not document.is_broken
        and not any(defect.path == ("tables",) for defect in defects)
    ):
        defects = (
            Defect(
                1, "tables is missing; name a table, a glob or a list, like `tables: lake.sales.*`"
            ),
            *defects,
        )
    if defects or isinstance(model, tuple):
        return tuple(
            PolicyProblem(
                cited if defect.line is None else f"{cited}:{defect.line}", defect.message
            )
            for defect in defects
        )
    settings = {
        write_path(path): Setting(value, f"{cited}:{document.line(origin)}")
        for path, value, origin in flatten(model)
        if path[:1] != ("tables",)
    }
    return PolicyLayer(
        name, tuple(TablePattern(pattern) for pattern in model.tables or ["*"]), settings
    )


def flatten(model: BaseModel, at: Path = ()) -> Iterator[tuple[Path, object, Path]]:
    """Yield each setting's path, its value in its unit, and its path in the file, for the line."""
    for name, field in type(model).model_fields.items():
        if name not in model.model_fields_set:
            continue
        value = getattr(model, name)
        written = (*at, field.alias or name)
        if isinstance(value, BudgetModel):
            yield written, value.as_budget(), written
        elif written == ("blackouts",):
            yield written, tuple(window.as_window() for window in value or ()), written
        elif isinstance(value, BaseModel):
            if at == ("rules",):
                yield written, True, written
            yield from flatten(value, written)
        elif at[-1:] == ("when",):
            yield (
                written,
                value.total_seconds() if isinstance(value, timedelta) else float(value),
                written,
            )
        elif written == ("target_file_size",):
            yield ("target_file_size_bytes",), value, written
        elif value is not None:
            yield written, value, written


def read_table_properties(properties: Mapping[str, str]) -> PropertySettings:
    """Read maintainer.mode, maintainer.priority and maintainer.<rule>.<field>.

    A value that would be invalid in a file is ignored, with the reason.
    """
    own = tuple(
        sorted((name, text) for name, text in properties.items() if name.startswith(PREFIX))
    )
    return _read(own) if own else PropertySettings()


@lru_cache(maxsize=4096)
def _read(properties: tuple[tuple[str, str], ...]) -> PropertySettings:
    ignored: dict[str, str] = {}
    written: dict[str, object] = {}
    sources: dict[Path, str] = {}
    for number, (name, text) in enumerate(properties):
        path = _find_path(name.removeprefix(PREFIX))
        if path is None or name.removeprefix(PREFIX) in _ELSEWHERE:
            continue
        if number >= MAXIMUM_PROPERTIES:
            ignored[name] = (
                f"the table has {len(properties)} properties that begin with {PREFIX}, over the "
                f"limit of {MAXIMUM_PROPERTIES}"
            )
        elif isinstance(path, str):
            ignored[name] = path
        elif len(text) > MAXIMUM_CHARACTERS:
            ignored[name] = f"it has {len(text)} characters, over the limit of {MAXIMUM_CHARACTERS}"
        else:
            reason = _add(written, path, text)
            if reason is not None:
                ignored[name] = reason
            else:
                sources[path] = name
    model = validate(Document(written), PolicyModel)
    assert isinstance(model, PolicyModel)  # noqa: S101 - all its parts are valid
    settings = {
        write_path(at): Setting(value, f"table property {sources[origin]}")
        for at, value, origin in flatten(model)
        if origin in sources
    }
    return PropertySettings(settings, ignored)


def _find_path(name: str) -> Path | str | None:
    """Return the field's path in a file, or the reason why it has none.

    None for a name that is not a rule, which other programs may use.
    """
    if name in _PLAIN:
        return (name,)
    rule, _, field = name.partition(".")
    if rule in _FILES_ONLY:
        return _FILES_ONLY[rule]
    if rule not in set(RuleName):
        near = get_close_matches(rule, [*_PLAIN, *_ELSEWHERE, *RuleName], n=1, cutoff=_LIKE_A_RULE)
        return f"unknown name {rule!r}, did you mean {str(near[0])!r}?" if near else None
    first, _, rest = field.partition(".")
    if first in _MAPS and rest:
        return ("rules", rule, first, rest)
    return (
        ("rules", rule, field) if field else f"a rule needs a field; write {PREFIX}{rule}.<field>"
    )


def _add(written: dict[str, object], path: Path, text: str) -> str | None:
    """Add the value if the result is valid; otherwise return the reason."""
    reason = ""
    for value in _readings(text.strip()):
        candidate = _with(written, path, value)
        checked = validate(Document(candidate), PolicyModel)
        if isinstance(checked, PolicyModel):
            written.clear()
            written.update(candidate)
            return None
        reason = reason or checked[0].message
    return reason


def _readings(text: str) -> Iterator[object]:
    """Yield the values that the text may have in a file: number, boolean, name or list."""
    scalar = (
        resolve_scalar(text.lower())
        if text.lower() in {"true", "false", "enforce", "observe"}
        else resolve_scalar(text)
    )
    if scalar is not None:
        yield scalar
    if scalar != text:
        yield text
    if "," in text:
        yield [part.strip() for part in text.split(",")]


def _with(written: Mapping[str, object], path: Path, value: object) -> dict[str, object]:
    first, *rest = [str(part) for part in path]
    if not rest:
        return {**written, first: value}
    inner = written.get(first)
    return {**written, first: _with(inner if isinstance(inner, dict) else {}, tuple(rest), value)}
