"""What `maintainer doctor --spark` makes of a trial of Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from maintainer.adapters.spark.trial import Trial
from maintainer.cli.setup.try_spark import Scratch, try_pool
from maintainer.domain.driver import SparkFacts
from maintainer.domain.errors import ConfigurationError, RunnerUnavailableError
from maintainer.settings import Settings, load_settings
from tests.adapters.store.values import NOW

FACTS = SparkFacts(
    NOW, "s", "4.1.4", "2.13.17", "17.0.15", "1.12.0", catalogs={"lake": "", "gone": "refused"}
)
LAKE, GONE = Scratch("lake", ("tmp",)), Scratch("gone", ("tmp",))


@dataclass
class FakeTrial:
    """A Spark that refuses the statements with these words in them."""

    refused: tuple[str, ...] = ()
    does_start: bool = True
    ran: list[str] = field(default_factory=list)

    def start(self) -> SparkFacts:
        if not self.does_start:
            message = "the driver did not start within 120 s"
            raise RunnerUnavailableError(message)
        return FACTS

    def run(self, statements: Sequence[str], _timeout: timedelta) -> Mapping[str, Any]:
        for statement in statements:
            self.ran.append(statement)
            word = next((word for word in self.refused if word in statement), None)
            if word is not None:
                message = f"{word} is refused"
                raise RunnerUnavailableError(message)
        return {"rewritten_data_files_count": 2}


def examine(trial: FakeTrial, *places: Scratch) -> dict[str, tuple[bool, str]]:
    found = try_pool(cast("Trial", trial), places)
    return {what: (is_fine, sentence) for what, is_fine, sentence in found}


def test_a_new_table_is_made_rewritten_and_dropped_with_its_files() -> None:
    trial = FakeTrial()
    found = examine(trial, LAKE)
    assert found["Spark starts"][0]
    assert "Iceberg 1.12.0" in found["Spark driver"][1]
    is_fine, sentence = found["CALL in lake.tmp"]
    assert (is_fine, sentence.split(" in ")[0]) == (True, "rewrote 2 of 2 files of a scratch table")
    assert [statement.split()[0] for statement in trial.ran] == [
        "CREATE",
        "INSERT",
        "INSERT",
        "CALL",
        "DROP",
    ]
    assert trial.ran[0].startswith("CREATE TABLE `lake`.`tmp`.`maintainer_doctor_")
    assert trial.ran[-1].endswith("` PURGE")
    assert LAKE.make_table() != LAKE.make_table(), "no name comes twice"


def test_without_a_place_nothing_is_run() -> None:
    trial = FakeTrial()
    examine(trial)
    assert trial.ran == []


def test_a_catalog_that_spark_could_not_load_is_told_and_not_tried() -> None:
    trial = FakeTrial()
    found = examine(trial, GONE)
    assert found["catalog gone in Spark"] == (False, "Spark could not load it: refused")
    assert trial.ran == []


def test_a_spark_that_does_not_start_is_the_only_finding() -> None:
    found = examine(FakeTrial(does_start=False), LAKE)
    assert found == {"Spark starts": (False, "the driver did not start within 120 s")}


@pytest.mark.parametrize("word", ["CREATE", "INSERT", "CALL"])
def test_the_table_is_dropped_whatever_failed(word: str) -> None:
    trial = FakeTrial((word,))
    found = examine(trial, LAKE)
    assert found["CALL in lake.tmp"] == (False, f"{word} is refused")
    assert "scratch table" not in found
    assert trial.ran[-1].startswith("DROP TABLE IF EXISTS ")


def test_a_catalog_that_may_not_delete_files_keeps_them_and_it_is_said() -> None:
    trial = FakeTrial(("PURGE",))
    is_fine, sentence = examine(trial, LAKE)["scratch table"]
    assert not is_fine
    assert "is dropped, but its files remain: PURGE is refused" in sentence
    assert trial.ran[-1].endswith("`"), "dropped without its files"


def test_a_table_that_cannot_be_dropped_is_named() -> None:
    trial = FakeTrial(("DROP",))
    is_fine, sentence = examine(trial, LAKE)["scratch table"]
    assert not is_fine
    assert sentence.startswith("lake.tmp.maintainer_doctor_")
    assert "may remain; drop it by hand: DROP is refused" in sentence


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    path = tmp_path / "maintainer.yaml"
    path.write_text("catalogs: {lake: {type: rest, uri: 'http://127.0.0.1:1'}}\n")
    return load_settings(path, {})


def test_a_place_is_a_catalog_and_a_namespace(settings: Settings) -> None:
    assert Scratch.parse("lake.a.`b.c`", settings) == Scratch("lake", ("a", "b.c"))


@pytest.mark.parametrize("text", ["lake", "other.tmp"])
def test_a_place_that_is_none_is_refused(text: str, settings: Settings) -> None:
    with pytest.raises(ConfigurationError, match=f"--scratch is '{text}'; .* catalogs lake"):
        Scratch.parse(text, settings)
