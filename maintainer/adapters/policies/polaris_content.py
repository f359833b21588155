"""Translates Apache Polaris' maintenance policies into policy files of maintainer.

It covers the meaning of each documented field, and lists the fields without a meaning here.
Sources: Polaris' schemas of 2025-02-03 for system.data-compaction, system.metadata-compaction,
system.snapshot-expiry and system.orphan-file-removal. The keys of `config` belong to the engines:
Spark's and Iceberg's are translated, and all others get a note.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from math import isfinite

import yaml

from maintainer.adapters.policies.document import Document, describe_excess, write_path
from maintainer.adapters.policies.model import PolicyModel
from maintainer.adapters.policies.reading import flatten
from maintainer.adapters.policies.validation import validate
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier, TablePattern
from maintainer.domain.option import REWRITE_DATA_FILES_OPTIONS
from maintainer.domain.policy import PolicyLayer, PolicyProblem, Setting
from maintainer.domain.rules import MIN_EXPIRE_AGE, MIN_ORPHAN_AGE, MIN_SNAPSHOTS_KEPT

DATA_COMPACTION = "system.data-compaction"
METADATA_COMPACTION = "system.metadata-compaction"
SNAPSHOT_EXPIRY = "system.snapshot-expiry"
ORPHAN_FILE_REMOVAL = "system.orphan-file-removal"
RULES: Mapping[str, str] = {
    DATA_COMPACTION: "rewrite_data_files",
    METADATA_COMPACTION: "rewrite_manifests",
    SNAPSHOT_EXPIRY: "expire_snapshots",
    ORPHAN_FILE_REMOVAL: "remove_orphan_files",
}
SCHEMA_VERSION = "2025-02-03"
MAXIMUM_POLICIES = 1000  # in one document

_STRATEGIES = {"bin-pack": "binpack", "binpack": "binpack", "sort": "sort"}
_DAY = timedelta(days=1)
_UNUSED = {
    "max_ref_age_days": (
        "branches and tags go by their own ages and the table's history.expire.max-ref-age-ms"
    ),
    "spec_id": "the daemon chooses the partition spec with the most excess manifests",
    "prefix_mismatch_mode": (
        "it is always ERROR, so that no file is deleted that may be in use under another name"
    ),
    "location": "only the table's own location is scanned",
    "locations": "only the table's own location is scanned",
    "older_than": "an age is needed, not an instant; write max_orphan_file_age_in_days",
}
PRECEDENCE = -1  # a file overrides a layer for equally many tables
_WILDCARDS = str.maketrans({wildcard: f"[{wildcard}]" for wildcard in "*?["})


@dataclass(frozen=True, slots=True)
class PolarisPolicy:
    """One policy as Polaris returns it; is_inherited is None if Polaris does not say."""

    name: str
    kind: str  # system.snapshot-expiry
    content: Mapping[str, object]
    version: int | None = None
    namespace: tuple[str, ...] = ()
    is_inherited: bool | None = None
    is_inheritable: bool = True


def read_policies(document: object) -> list[PolarisPolicy]:
    """Read a GetApplicablePoliciesResponse, a list or a single policy.

    InvalidValueError for anything else.
    """
    entries: object = document
    if isinstance(document, dict):
        entries = next(
            (document[key] for key in ("applicable-policies", "policies") if key in document),
            [document],
        )
    if not isinstance(entries, list) or len(entries) > MAXIMUM_POLICIES:
        raise InvalidValueError(
            f"not a list of at most {MAXIMUM_POLICIES} Polaris policies, nor an answer that has "
            f"one under applicable-policies"
        )
    return [_read_policy(entry) for entry in entries]


def _read_policy(entry: object) -> PolarisPolicy:
    """Read the flat form that servers send, or the older form with the policy under `policy`."""
    if not isinstance(entry, dict):
        raise InvalidValueError(f"a Polaris policy must be an object, not {entry!r:.100}")
    inner = entry.get("policy")
    reported = {**entry, **inner} if isinstance(inner, dict) else entry
    name, kind = reported.get("name"), reported.get("policy-type", reported.get("type"))
    if not isinstance(name, str) or not isinstance(kind, str):
        raise InvalidValueError(
            f"a Polaris policy needs a name and a policy-type, which {reported!r:.200} has not"
        )
    namespace = reported.get("namespace", reported.get("namespaces"))
    version, inherited = reported.get("version"), reported.get("inherited")
    return PolarisPolicy(
        name=name,
        kind=kind,
        content=_read_content(name, reported.get("content")),
        version=version if isinstance(version, int) else None,
        namespace=tuple(map(str, namespace)) if isinstance(namespace, list) else (),
        is_inherited=inherited if isinstance(inherited, bool) else None,
        is_inheritable=reported.get("inheritable") is not False,
    )


def _read_content(name: str, content: object) -> Mapping[str, object]:
    parsed: object = content
    if isinstance(content, str):
        excess = describe_excess(len(content.encode("utf-8", "surrogatepass")))
        if excess is not None:
            raise InvalidValueError(f"the content of Polaris policy {name} {excess}")
        try:
            parsed = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise InvalidValueError(
                f"the content of Polaris policy {name} is not JSON: {error}"
            ) from error
    if not isinstance(parsed, dict):
        raise InvalidValueError(
            f"the content of Polaris policy {name} must be an object, not {parsed!r:.100}"
        )
    return parsed


@dataclass(slots=True)
class Draft:
    """A policy file in the making, valid at all times; values that do not fit get a note."""

    document: dict[str, object] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def set(self, key: str, path: tuple[str, ...], value: object) -> None:
        """Set the value of Polaris' key at the path in the policy file, if the file can have it."""
        if value is None:
            self.notes.append(f"{key} is not used: it has no value")
            return
        candidate = _with(self.document, path, value)
        checked = validate(Document(candidate), PolicyModel)
        if isinstance(checked, PolicyModel):
            self.document = candidate
        else:
            self.notes.append(f"{key} is not used: {checked[0].message}")


def _with(
    document: Mapping[str, object], path: tuple[str, ...], value: object
) -> dict[str, object]:
    first, *rest = path
    if not rest:
        return {**document, first: value}
    inner = document.get(first)
    return {**document, first: _with(inner if isinstance(inner, dict) else {}, tuple(rest), value)}


def draft_file(policy: PolarisPolicy, draft: Draft | None = None) -> Draft:
    """Add the policy to a draft of the policy file; an unknown type only gets a note."""
    made = draft if draft is not None else Draft()
    rule = RULES.get(policy.kind)
    if rule is None:
        made.notes.append(f"policy type {policy.kind} has no meaning here")
        return made
    enable = policy.content.get("enable")
    if not isinstance(enable, bool):
        made.notes.append(f"enable is {enable!r}, but must be true or false; the rule is disabled")
    made.set("enable", ("rules", rule, "enabled"), enable is True)
    version = policy.content.get("version", SCHEMA_VERSION)
    if version != SCHEMA_VERSION:
        made.notes.append(f"version is {version!r}; it was read as {SCHEMA_VERSION}")
    for key, value in _list_fields(policy.content):
        taken = _TAKEN[policy.kind].get(key.removeprefix("config."))
        if taken is not None:
            taken(made, key, value)
        elif (
            policy.kind == DATA_COMPACTION
            and key.removeprefix("config.") in REWRITE_DATA_FILES_OPTIONS
        ):
            made.set(key, ("rules", rule, "options", key.removeprefix("config.")), value)
        else:
            made.notes.append(
                f"{key} is not used: "
                f"{_UNUSED.get(key.removeprefix('config.'), 'the key is not known here')}"
            )
    return made


def _list_fields(content: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for key, value in content.items():
        if key == "config" and isinstance(value, dict):
            yield from ((f"config.{inner}", inner_value) for inner, inner_value in value.items())
        elif key not in {"version", "enable"}:
            yield key, value


def _take_number(value: object) -> float | None:
    """Read a number, which may be a text: engines write the values of config in any form."""
    try:
        number = (
            float(value)
            if isinstance(value, int | float | str) and not isinstance(value, bool)
            else None
        )
    except (ValueError, OverflowError):
        return None
    return number if number is not None and isfinite(number) else None


def _take_target(draft: Draft, key: str, value: object) -> None:
    number = _take_number(value)
    draft.set(key, ("target_file_size",), int(number) if number is not None else value)


def _take_strategy(draft: Draft, key: str, value: object) -> None:
    strategy = _STRATEGIES.get(str(value).lower().replace("_", "-"))
    if strategy is None:
        draft.notes.append(
            f"{key} is not used: {value!r} is neither bin-pack nor sort; a z-order needs "
            f"columns, as in sort_order: zorder(a, b)"
        )
    else:
        draft.set(key, ("rules", "rewrite_data_files", "strategy"), strategy)


def _take_text(path: tuple[str, ...]) -> Callable[[Draft, str, object], None]:
    return lambda draft, key, value: draft.set(key, path, value)


def _take_age(path: tuple[str, ...], floor_days: float) -> Callable[[Draft, str, object], None]:
    def take(draft: Draft, key: str, value: object) -> None:
        days = _take_number(value)
        if days is not None and days < floor_days:
            draft.notes.append(
                f"{key} is {days:g} days, under the floor of {floor_days:g} d; the floor is used"
            )
        draft.set(
            key,
            path,
            value if days is None else f"{max(days, floor_days):.6f}".rstrip("0").rstrip(".") + "d",
        )

    return take


def _take_kept(draft: Draft, key: str, value: object) -> None:
    number = _take_number(value)
    if number is not None and number < MIN_SNAPSHOTS_KEPT:
        draft.notes.append(
            f"{key} is {number:g}, under the floor of {MIN_SNAPSHOTS_KEPT}; the floor is used"
        )
    draft.set(
        key,
        ("rules", "expire_snapshots", "keep"),
        value
        if number is None or not number.is_integer()
        else max(int(number), MIN_SNAPSHOTS_KEPT),
    )


_TAKEN: Mapping[str, Mapping[str, Callable[[Draft, str, object], None]]] = {
    DATA_COMPACTION: {
        "target_file_size_bytes": _take_target,
        "compaction_strategy": _take_strategy,
        "sort_order": _take_text(("rules", "rewrite_data_files", "sort_order")),
        "where": _take_text(("rules", "rewrite_data_files", "where")),
    },
    METADATA_COMPACTION: {
        "use_caching": _take_text(("rules", "rewrite_manifests", "options", "use_caching"))
    },
    SNAPSHOT_EXPIRY: {
        "min_snapshot_to_keep": _take_kept,
        "min_snapshots_to_keep": _take_kept,
        "max_snapshot_age_days": _take_age(
            ("rules", "expire_snapshots", "max_age"), MIN_EXPIRE_AGE / _DAY
        ),
    },
    ORPHAN_FILE_REMOVAL: {
        "max_orphan_file_age_in_days": _take_age(
            ("rules", "remove_orphan_files", "older_than"), MIN_ORPHAN_AGE / _DAY
        )
    },
}


@dataclass(frozen=True, slots=True)
class Attachment:
    """The target of an attachment: the catalog (by its configured name), a namespace or a table."""

    catalog: str
    namespace: tuple[str, ...] = ()
    table: str | None = None

    @property
    def pattern(self) -> TablePattern:
        """Return the pattern of all its tables, also in nested namespaces."""
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
