"""Tables with several names: a commit under one name is unknown under the others.

Each name has a metadata pointer of its own. Expiry under one name deletes files that another name
still needs, and rewrites under both names make the two states diverge. Nothing runs on the table
until a policy names the owner, and then only under the owner's name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from maintainer.domain.health import TableHealth
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import Policy
from maintainer.domain.registration import Registration
from maintainer.estimate.floors import Refusal

MOST_NAMED = 5  # names in one sentence
HOW_TO_OWN = "write `owner: true` in a policy for the name that is to be maintained"


def refuse_shared(
    health: TableHealth, policy: Policy, registrations: Sequence[Registration]
) -> Refusal | None:
    """Why nothing may run on the table under this name.

    None when it has no other name, or this name is the owner.
    """
    if not registrations:
        return None
    owners = [other for other in registrations if other.is_owner]
    if policy.is_owner and not owners:
        newer = next((other for other in registrations if _is_newer(other, health)), None)
        if newer is None:
            return None
        reason = (
            f"a policy names this name as the owner, but {newer.table} has newer commits, which "
            f"work under this name could destroy"
        )
    elif policy.is_owner:
        reason = (
            f"policies name several owners, {health.table} and {_name(owners)}; only one name "
            f"may own the table"
        )
    elif owners:
        reason = f"it is maintained as {_name(owners)}, which a policy names as the owner"
    else:
        reason = f"work under one name may destroy what the other needs; {HOW_TO_OWN}"
    return Refusal(SkipCode.UNSAFE, f"{describe_names(registrations)}: {reason}")


def describe_names(registrations: Sequence[Registration]) -> str:
    """The other names as text."""
    return f"the table is registered as {_name(registrations)} too"


def _is_newer(other: Registration, health: TableHealth) -> bool:
    if other.newest_snapshot_at is None:
        return False
    return health.newest_snapshot_at is None or other.newest_snapshot_at > health.newest_snapshot_at


def _name(registrations: Iterable[Registration]) -> str:
    names = sorted(str(other.table) for other in registrations)
    more = f" and {len(names) - MOST_NAMED:,} others" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more
