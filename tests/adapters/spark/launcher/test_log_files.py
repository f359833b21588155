"""A log that is a file is read in whole lines."""

from __future__ import annotations

from pathlib import Path

from maintainer.adapters.spark.launcher.log_files import read_file
from maintainer.adapters.spark.link import LogPart


def test_a_line_comes_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "driver.log"
    assert read_file(path, 0) == LogPart("", 0)
    path.write_bytes("Grüße\nhal".encode())
    first = read_file(path, 0)
    assert first == LogPart("Grüße\n", 8)
    assert read_file(path, first.next) == LogPart("", 8)
    path.write_bytes("Grüße\nhalf\n".encode())
    assert read_file(path, first.next) == LogPart("half\n", 13)


def test_a_long_log_comes_in_parts_and_a_long_line_too(tmp_path: Path) -> None:
    path = tmp_path / "driver.log"
    path.write_text("x" * 300_000 + "\n" + "y" * 9 + "\n")
    position, parts = 0, []
    while (part := read_file(path, position)).text:
        parts.append(part.text)
        position = part.next
    assert len(parts) == 2
    assert "".join(parts) == path.read_text()
