"""Reads one policy file into a layer of settings, or into the list of its problems."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from pydantic import BaseModel

from maintainer.adapters.policies.document import Defect, Path, read_document, write_path
from maintainer.adapters.policies.model import BudgetModel, PolicyModel
from maintainer.adapters.policies.validation import validate
from maintainer.domain.identifier import TablePattern
from maintainer.domain.policy import PolicyLayer, PolicyProblem, Setting

DEFAULT_FILES = ("default.yaml", "default.yml")


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
