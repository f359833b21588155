"""Targets of notices: Apprise URLs of allowed schemes and hosts, which are never redirected."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import TYPE_CHECKING, Any, Final

from maintainer.domain.errors import ConfigurationError
from maintainer.domain.location import is_link_local

if TYPE_CHECKING:
    from apprise import Apprise

# Blanks and line breaks, also written as %0d%0a: they could become headers of their own.
_UNFIT: Final = re.compile(r"[\s\x00-\x1f\x7f]|%0[0-9a-d]", re.IGNORECASE)
# Targets with these schemes act on the daemon's own machine.
LOCAL_SCHEMES: Final = frozenset((
    "blink1", "dbus", "gio", "glib", "gnome", "kde", "macosx", "qt", "syslog", "windows",
))  # fmt: skip


@dataclass(frozen=True, slots=True)
class TargetBounds:
    """The allowed schemes and hosts of targets; empty: all but LOCAL_SCHEMES, and all hosts."""

    schemes: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()  # globs of allowed hosts


def make_target(name: str, url: str, bounds: TargetBounds) -> Apprise:
    """The target; ConfigurationError for a URL that is unknown or not allowed, without its text."""
    # This import is slow, and the settings import this module.
    from apprise import Apprise, AppriseAsset  # noqa: PLC0415

    if _UNFIT.search(url):
        raise ConfigurationError(
            f"notifications.targets.{name} contains a blank, a line break or another control "
            f"character; write a blank as %20"
        )
    # Without a time limit of Apprise's: its threads would hold the end of the process.
    target = Apprise(asset=AppriseAsset(service_timeout=0))
    if not target.add(url):
        raise ConfigurationError(
            f"notifications.targets.{name} is no URL that Apprise knows (its text is not shown: "
            f"it may hold secrets)"
        )
    for server in target:
        _check_scheme(name, server.schema, bounds)
        _check_host(name, _host_of(server), bounds)
        server.redirects = False  # a redirect could lead to any host
    return target


def find_link_local(target: Apprise) -> str:
    """The first host of the target that is link-local now; empty: none is."""
    hosts = (_host_of(server) for server in target)
    return next((host for host in hosts if any(map(is_link_local, _resolve(host)))), "")


def _check_scheme(name: str, scheme: str, bounds: TargetBounds) -> None:
    if scheme in bounds.schemes or not (bounds.schemes or scheme in LOCAL_SCHEMES):
        return
    allowed = ", ".join(bounds.schemes) or (
        f"all schemes but those of this machine ({', '.join(sorted(LOCAL_SCHEMES))})"
    )
    raise ConfigurationError(
        f"notifications.targets.{name} has the scheme {scheme}, but notifications.schemes allows "
        f"{allowed}"
    )


def _check_host(name: str, host: str, bounds: TargetBounds) -> None:
    has_host = not bounds.hosts or any(fnmatch(host, allowed.lower()) for allowed in bounds.hosts)
    if not host or (has_host and not is_link_local(host)):
        return
    allowed = ", ".join(bounds.hosts) or "all hosts"
    raise ConfigurationError(
        f"notifications.targets.{name} has the host {host}, but notifications.hosts allows "
        f"{allowed}, and no link-local address"
    )


# Apprise's plug-ins have no static types.
def _host_of(server: Any) -> str:  # noqa: ANN401
    """The host in the URL; empty for a service whose host Apprise knows."""
    mail = getattr(server, "smtp_host", None)
    host = mail or (server.host if "host" in server.template_tokens else "")
    return str(host or "").strip("[]").lower()


def _resolve(host: str) -> Iterator[str]:
    if host:
        try:
            yield from (str(found[4][0]) for found in socket.getaddrinfo(host, None))
        except OSError:
            return  # the delivery reports the error
