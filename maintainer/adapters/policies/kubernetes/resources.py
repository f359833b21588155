"""Reads a policy resource into a layer, or says why it is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from json import dumps

from maintainer.adapters.kubernetes.documents import Manifest, name_of, part
from maintainer.adapters.kubernetes.kinds import Kind
from maintainer.adapters.policies.document import Document, describe_excess, write_path
from maintainer.adapters.policies.model import PolicyModel
from maintainer.adapters.policies.reading import flatten
from maintainer.adapters.policies.validation import validate
from maintainer.domain.identifier import TablePattern
from maintainer.domain.policy import PolicyLayer, Setting

POLICY = Kind(
    "iceberg-maintainer.io",
    "v1alpha1",
    "IcebergTablePolicy",
    "icebergtablepolicies",
    origin="CustomResourceDefinition",
)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a resource is not in force."""

    reason: str  # of the condition Ready, in camel case
    messages: tuple[str, ...]


def name_layer(namespace: str, resource: Manifest) -> str:
    """Return the name of a resource's layer, which no file can have."""
    return f"kubernetes/{namespace}/{name_of(resource)}"


def read_layer(
    namespace: str, resource: Manifest, bounds: Sequence[TablePattern]
) -> PolicyLayer | Refusal:
    """Return the layer of a resource of this namespace, which decides within the bounds only."""
    spec = dict(part(resource, "spec"))
    excess = describe_excess(len(dumps(spec)))
    if excess is not None:
        return Refusal("Invalid", (f"spec {excess}",))
    model = validate(Document(spec), PolicyModel)
    if isinstance(model, tuple):
        return Refusal("Invalid", tuple(defect.message for defect in model))
    if model.tables is None:
        return Refusal("Invalid", ("tables is missing; list the names of tables, or globs",))
    tables = tuple(TablePattern(text) for text in model.tables)
    allowed = ", ".join(bound.text for bound in bounds)
    outside = tuple(
        f"tables[{number}] is {table.text}, but the namespace {namespace} decides for {allowed} "
        "only"
        for number, table in enumerate(tables, 1)
        if not any(bound.contains(table) for bound in bounds)
    )
    if outside:
        return Refusal("OutsideNamespace", outside)
    name = name_layer(namespace, resource)
    settings = {
        write_path(path): Setting(value, f"{name}:{write_path(origin)}")
        for path, value, origin in flatten(model)
        if path[:1] != ("tables",)
    }
    return PolicyLayer(name, tables, settings)
