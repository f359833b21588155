"""Who may do what: roles, and the tables to which they apply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from re import split

from maintainer.domain.admission import EVERYTHING
from maintainer.domain.errors import InvalidValueError
from maintainer.domain.identifier import TableIdentifier, TablePattern, split_levels


class Role(StrEnum):
    """What a person may do; each role includes those before it."""

    VIEWER = "viewer"  # read
    OPERATOR = "operator"  # run, cancel, pause, pin
    APPROVER = "approver"  # decide on orphan files, roll back
    ADMIN = "admin"  # drain the daemon

    def includes(self, other: Role) -> bool:
        """True if this role is the other role or a later role."""
        order = tuple(Role)
        return order.index(self) >= order.index(other)


def read_prefix(scope: str) -> str:
    """The beginning of all names of a scope: `lake.sales.` for the namespace `lake.sales`.

    The scope is `*`, a catalog or a namespace; InvalidValueError for a glob or a table.
    """
    if scope == EVERYTHING:
        return ""
    levels = split_levels(scope)
    if not TablePattern(scope).is_exact or " " in scope:
        raise InvalidValueError(
            f"scope {scope[:80]!r} is a glob; write a catalog, a namespace, or * for all"
        )
    # The store has each level of a table's name, in backticks if needed.
    name = str(TableIdentifier(levels[0], levels[1:], "t"))
    return name.removesuffix("t")


def write_scope(catalog: str | None, namespace: str | None = None) -> str:
    """The scope of a namespace, as domain.admission writes it, of a catalog, or of all tables."""
    if catalog is None:
        return EVERYTHING
    levels = split_levels(namespace) if namespace else ()
    return str(TableIdentifier(catalog, levels, "t")).removesuffix("t") + EVERYTHING


@dataclass(frozen=True, slots=True)
class Grant:
    """A role on the tables whose full names begin with one of the prefixes; "" is all tables."""

    role: Role
    prefixes: tuple[str, ...] = ("",)


@dataclass(frozen=True, slots=True)
class Person:
    """The person or the machine that makes a request, with its name in the audit log."""

    name: str
    grants: tuple[Grant, ...] = ()

    def role_on(self, table: TableIdentifier | str) -> Role | None:
        """The greatest role on a table, or on all tables whose names begin with the text."""
        held = [
            grant.role
            for grant in self.grants
            if any(str(table).startswith(prefix) for prefix in grant.prefixes)
        ]
        return max(held, key=tuple(Role).index, default=None)

    def role_on_scope(self, scope: str) -> Role | None:
        """The greatest role on every table of a scope, as domain.admission writes scopes."""
        return self.role_on(_literal_start(scope))

    @property
    def greatest_role(self) -> Role | None:
        """The greatest role on any table."""
        return max((grant.role for grant in self.grants), key=tuple(Role).index, default=None)

    @property
    def sees(self) -> tuple[str, ...] | None:
        """The prefixes of the visible tables' names, without redundant ones; None: all tables."""
        prefixes = sorted({prefix for grant in self.grants for prefix in grant.prefixes})
        if "" in prefixes:
            return None
        return tuple(
            prefix
            for prefix in prefixes
            if not any(prefix != other and prefix.startswith(other) for other in prefixes)
        )

    @property
    def sees_all(self) -> bool:
        return self.sees is None

    def sees_catalog(self, catalog: str) -> bool:
        """True when any table of the catalog may be visible."""
        return bool(self.seen_in(catalog))

    def seen_in(self, catalog: str) -> tuple[str, ...]:
        """The prefixes of the visible tables' names in a catalog."""
        start = write_scope(catalog).removesuffix(EVERYTHING)
        return tuple(prefix for prefix in self.sees or (start,) if prefix.startswith(start))

    def sees_scope(self, scope: str) -> bool:
        """True if a scope is a visible table or has visible tables, by its name alone."""
        start = _literal_start(scope)
        return self.role_on(start) is not None or (
            not TablePattern(scope).is_exact
            and any(prefix.startswith(start) for prefix in self.sees or ())
        )


def is_within(name: TableIdentifier | str, prefixes: Sequence[str] | None) -> bool:
    """True when the full name begins with one of the prefixes; None: all names do."""
    return prefixes is None or str(name).startswith(tuple(prefixes))


@dataclass(frozen=True, slots=True)
class ClaimRule:
    """The grant of those whose claim is, or has in its list, the value; "" is everybody."""

    grant: Grant
    claim: str = ""
    value: str = ""

    def matches(self, claims: Mapping[str, object]) -> bool:
        """True when these claims have the grant."""
        if not self.claim:
            return True
        found = find_claim(claims, self.claim)
        return self.value in found if isinstance(found, list) else found == self.value


def find_claim(claims: Mapping[str, object], path: str) -> object:
    """The claim of that name, or inside others by a path with dots; None without one."""
    if path in claims:
        return claims[path]
    first, _, rest = path.partition(".")
    inner = claims.get(first)
    return find_claim(inner, rest) if rest and isinstance(inner, dict) else None


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A machine's token, and what its bearer may do."""

    secret: str = field(repr=False)
    grant: Grant = Grant(Role.ADMIN)


def _literal_start(scope: str) -> str:
    return split(r"[*?[]", scope, maxsplit=1)[0]
