"""The storage of all catalogs, and of one."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from maintainer.app.options import make_impact_models
from maintainer.domain.errors import ConfigurationError
from maintainer.measure.impact import StorageProfile
from maintainer.settings import Settings, load_settings

CATALOG = """catalogs:
  lake: {type: rest, uri: http://localhost}
  ice:
    type: rest
    uri: http://localhost
    storage:
"""


def load(tmp_path: Path, text: str) -> Settings:
    file = tmp_path / "maintainer.yaml"
    file.write_text(text)
    return load_settings(file, {})


def test_a_catalogs_own_storage_overrides_that_of_all_catalogs_one_by_one(tmp_path: Path) -> None:
    settings = load(
        tmp_path,
        CATALOG
        + "      profile: hdfs\n      parallelism: 16\n      bandwidth: 1GB\n"
        + "impact: {get_price_per_million: 0.4, parallelism: 4, round_trip: 5ms}\n",
    )
    models = make_impact_models(settings)
    ice, lake = models.of("ice"), models.of("lake")
    assert (lake.profile, lake.parallelism, lake.bandwidth) == (None, 4, None)
    assert (ice.profile, ice.parallelism, ice.bandwidth) == (StorageProfile.HDFS, 16, 10**9)
    for model in (ice, lake):
        assert (model.get_price_per_million, model.round_trip) == (0.4, timedelta(milliseconds=5))
    assert settings.catalogs["ice"].properties == {"type": "rest", "uri": "http://localhost"}


def test_the_storage_of_a_catalog_is_printed_as_it_is_given(tmp_path: Path) -> None:
    settings = load(tmp_path, CATALOG + "      round_trip: 20ms\n")
    catalogs = settings.redacted()["catalogs"]
    assert isinstance(catalogs, dict)
    assert catalogs["ice"]["storage"] == {"round_trip": "0.02s"}
    assert "storage" not in catalogs["lake"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("parallelism: 0", "storage.parallelism is 0, under the least value 1"),
        ("parallelism: 1000001", "storage.parallelism is 1000001, over the greatest value 1000000"),
        ("parallelism: many", "storage.parallelism is 'many', but must be a whole number"),
        ("bandwidth: 10", "storage.bandwidth is 10, under the least value 1KiB"),
        ("bandwidth: 2000TiB", "storage.bandwidth is 2000TiB, over the greatest value 1024TiB"),
        ("round_trip: 2m", "storage.round_trip is 2m, over the greatest value 1m"),
        ("round_trip: 5", "storage.round_trip is not a duration: duration 5 is not understood"),
        ("get_price_per_million: -1", "storage.get_price_per_million is -1, under the least value"),
        ("put_price_per_million: 1e9", "storage.put_price_per_million is 1000000000"),
        ("price_per_gb_month: cheap", "storage.price_per_gb_month is 'cheap', but must be a numb"),
        ("list_price_per_million: [1]", "storage.list_price_per_million is a list, but must be a"),
        ("profile: tape", "storage.profile is 'tape'"),
        ("price: 1", "unknown key 'price'"),
    ],
)
def test_a_bad_value_is_refused_by_its_field_its_value_and_the_bound(
    tmp_path: Path, line: str, message: str
) -> None:
    with pytest.raises(ConfigurationError) as refused:
        load(tmp_path, CATALOG + f"      {line}\n")
    assert message in str(refused.value)
    assert "maintainer.yaml:7" in str(refused.value)
