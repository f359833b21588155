"""Makes layers from Polaris' policies.

A narrower attachment replaces a wider one of the same type as a whole. Our own files override both.
"""

from __future__ import annotations

from dataclasses import dataclass

import yaml

from maintainer.adapters.policies.document import Document, write_path
from maintainer.adapters.policies.model import PolicyModel
from maintainer.adapters.policies.polaris_content import Draft, PolarisPolicy, draft_file
from maintainer.adapters.policies.reading import flatten
from maintainer.adapters.policies.validation import validate
from maintainer.domain.identifier import TableIdentifier, TablePattern
from maintainer.domain.policy import PolicyLayer, PolicyProblem, Setting

PRECEDENCE = -1  # a file overrides a layer for equally many tables
_WILDCARDS = str.maketrans({wildcard: f"[{wildcard}]" for wildcard in "*?["})


@dataclass(frozen=True, slots=True)
class Attachment:
    """The target of an attachment: the catalog (by its name here), a namespace, or a table."""

    catalog: str
    namespace: tuple[str, ...] = ()
    table: str | None = None

    @property
    def pattern(self) -> TablePattern:
        """Return the pattern of all its tables, those in nested namespaces included."""
        if self.table is not None:
            return TablePattern(
                str(TableIdentifier(self.catalog, self.namespace, self.table)).translate(_WILDCARDS)
            )
        levels = str(TableIdentifier(self.catalog, self.namespace, "x"))
        return TablePattern(f"{levels[:-2].translate(_WILDCARDS)}.*")

    def __str__(self) -> str:
        """Return ``lake``, ``lake.sales`` or ``lake.sales.orders``."""
        return self.pattern.text if self.table is not None else self.pattern.text.removesuffix(".*")


def make_layer(
    policy: PolarisPolicy, attachment: Attachment
) -> tuple[PolicyLayer | None, tuple[PolicyProblem, ...]]:
    """Make the layer of a policy, with a note for each field that is ignored.

    None if all fields are ignored.
    """
    version = f" (version {policy.version})" if policy.version is not None else ""
    source = f"Polaris policy {policy.name}{version} at {attachment}"
    draft = draft_file(policy)
    notes = tuple(PolicyProblem(source, note, is_note=True) for note in draft.notes)
    model = validate(Document(draft.document), PolicyModel)
    if not draft.document or not isinstance(model, PolicyModel):
        return None, notes
    settings = {write_path(path): Setting(value, source) for path, value, _ in flatten(model)}
    name = f"polaris/{attachment}/{policy.kind}"
    return PolicyLayer(
        name,
        (attachment.pattern,),
        settings,
        precedence=PRECEDENCE,
        family=f"polaris {policy.kind}",
    ), notes


def write_file(tables: tuple[str, ...], policies: list[PolarisPolicy]) -> str:
    """Write Polaris' policies as one policy file, with a comment for each field that is ignored."""
    draft = Draft()
    for policy in policies:
        before = len(draft.notes)
        draft_file(policy, draft)
        draft.notes[before:] = [
            f"{policy.name} ({policy.kind}): {note}" for note in draft.notes[before:]
        ]
    comments = [f"# from Polaris policy {policy.name} ({policy.kind})" for policy in policies] + [
        f"# {note}" for note in draft.notes
    ]
    document = {"tables": tables[0] if len(tables) == 1 else list(tables), **draft.document}
    return "\n".join(
        [
            *(
                "".join(letter if letter.isprintable() else " " for letter in comment)
                for comment in comments
            ),
            yaml.safe_dump(document, sort_keys=False, allow_unicode=True),
        ]
    )
