from __future__ import annotations

import os
import ssl
import subprocess
from pathlib import Path

import certifi
import pytest

from maintainer.adapters.spark.java import find_java
from maintainer.adapters.spark.trust import (
    find_bundle,
    read_certificates,
    replace_store,
    trust_options,
    write_store,
)
from maintainer.domain.errors import RunnerUnavailableError


@pytest.fixture
def java_home(tmp_path: Path) -> Path:
    security = tmp_path / "lib" / "security"
    security.mkdir(parents=True)
    (security / "cacerts").write_bytes(b"as delivered")
    return tmp_path


def list_store(store: Path) -> subprocess.CompletedProcess[str]:
    java = find_java(None, os.environ).home / "bin" / "java"
    command = [
        str(java),
        "-m",
        "java.base/sun.security.tools.keytool.Main",
        "-list",
        "-keystore",
        str(store),
        "-storepass",
        "changeit",
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_every_certificate_of_a_bundle_is_read() -> None:
    assert len(read_certificates(Path(certifi.where()))) == Path(certifi.where()).read_text(
        encoding="utf-8"
    ).count("BEGIN CERTIFICATE")


@pytest.mark.slow
def test_java_opens_the_store_and_finds_each_certificate(java_home: Path) -> None:
    certificates = read_certificates(Path(certifi.where()))
    listed = list_store(replace_store(java_home, certificates))
    assert listed.returncode == 0, listed.stdout + listed.stderr
    assert listed.stdout.count("trustedCertEntry") == len(certificates) > 0


@pytest.mark.slow
def test_java_refuses_a_store_that_was_tampered_with(java_home: Path) -> None:
    store = replace_store(java_home, read_certificates(Path(certifi.where())))
    content = bytearray(store.read_bytes())
    content[len(content) // 2] ^= 1
    store.write_bytes(content)
    assert list_store(store).returncode != 0


def test_the_delivered_file_is_replaced_and_not_changed(java_home: Path, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.hardlink_to(java_home / "lib" / "security" / "cacerts")
    replace_store(java_home, [b"certificate"])
    assert shared.read_bytes() == b"as delivered"
    assert [path.name for path in (java_home / "lib" / "security").iterdir()] == ["cacerts"]


def test_the_same_certificates_give_the_same_store() -> None:
    assert (
        write_store([b"one", b"two"])
        == write_store([b"one", b"two"])
        != write_store([b"two", b"one"])
    )


def test_a_certificate_that_stands_twice_is_taken_once(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle.pem"
    one, two = ssl.DER_cert_to_PEM_cert(b"one"), ssl.DER_cert_to_PEM_cert(b"two")
    bundle.write_text(f"# comment\n{one}{two}\n{one}", encoding="utf-8")
    assert read_certificates(bundle) == [b"one", b"two"]


def test_the_named_bundle_goes_before_the_one_of_the_system(tmp_path: Path) -> None:
    named, system = tmp_path / "named.pem", tmp_path / "system.pem"
    named.touch()
    system.touch()
    assert find_bundle({"SSL_CERT_FILE": str(named)}, [str(system)]) == named
    assert find_bundle({}, [str(tmp_path / "absent.pem"), str(system)]) == system
    assert find_bundle({"SSL_CERT_FILE": str(tmp_path / "absent.pem")}, [str(system)]) is None
    assert find_bundle({}, []) is None


@pytest.mark.slow
def test_a_drivers_java_trusts_the_named_authorities_beside_the_machines(tmp_path: Path) -> None:
    every = read_certificates(Path(certifi.where()))
    named, own = tmp_path / "ours.pem", tmp_path / "machine.pem"
    named.write_text(ssl.DER_cert_to_PEM_cert(every[0]), encoding="utf-8")
    own.write_text("".join(map(ssl.DER_cert_to_PEM_cert, every[:2])), encoding="utf-8")
    store = tmp_path / "trusted.jks"
    options = trust_options([named], {"SSL_CERT_FILE": str(own)}, store)
    assert options == (f"-Djavax.net.ssl.trustStore={store}", "-Djavax.net.ssl.trustStoreType=JKS")
    assert "contains 2 entries" in list_store(store).stdout


def test_without_named_authorities_java_keeps_its_own_store(tmp_path: Path) -> None:
    assert trust_options([], {}, tmp_path / "trusted.jks") == ()
    assert not (tmp_path / "trusted.jks").exists()


def test_a_bundle_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(RunnerUnavailableError, match=r"ssl\.cabundle .*none\.pem"):
        trust_options([tmp_path / "none.pem"], {}, tmp_path / "trusted.jks")
