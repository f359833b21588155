from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from maintainer.app.options import admission_rules
from maintainer.domain.admission import AdmissionRules, Scorer
from maintainer.domain.errors import ConfigurationError
from maintainer.domain.policy import Budget, Window
from maintainer.domain.pool import JobSize, Pool, SizeProfile
from maintainer.domain.units import GIB
from maintainer.settings import Settings, load_settings

CATALOGS = "catalogs: {lake: {type: sql, uri: 'sqlite:///lake.db'}}\n"


def load(tmp_path: Path, text: str) -> Settings:
    file = tmp_path / "maintainer.yaml"
    file.write_text(CATALOGS + text)
    return load_settings(file, {})


def test_without_a_word_nothing_is_limited_and_a_job_occupies_its_part_of_the_driver(
    tmp_path: Path,
) -> None:
    rules = admission_rules(load(tmp_path, "spark: {driver_memory: 3g, max_jobs: 2}\n"))
    sizes = (
        SizeProfile(JobSize.SMALL, 1.5),
        SizeProfile(JobSize.MEDIUM, 3.0),
        SizeProfile(JobSize.LARGE, 3.0),
    )
    assert rules == AdmissionRules(pools={"default": Pool(1.5, 2, sizes)})
    assert rules.fleet.is_unlimited


def test_budgets_shares_scorer_and_blackouts_are_read(tmp_path: Path) -> None:
    text = """
admission:
  scorer: autocomp
  max_jobs: 4
  bytes_per_day: 2GiB
  gb_hours_per_day: 1.5
  per_catalog: {lake: {gb_hours_per_day: 1}}
  urgent_share: 0.2
  explore_share: 0.0
  sla: 2d
  blackouts: [{cron: "0 8 * * 1-5", duration: 10h, timezone: Europe/Berlin}]
"""
    rules = admission_rules(load(tmp_path, text))
    assert rules.scorer is Scorer.AUTOCOMP
    assert rules.fleet == Budget(4, 2 * GIB, 1.5, "the fleet")
    assert rules.per_catalog == {"lake": Budget(gb_hours_per_day=1.0, name="catalog lake")}
    assert (rules.urgent_share, rules.explore_share, rules.sla) == (0.2, 0.0, timedelta(days=2))
    assert rules.blackouts == (Window("0 8 * * 1-5", timedelta(hours=10), "Europe/Berlin"),)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            "admission: {scorer: magic}",
            "scorer is 'magic', but must be maintainer, autocomp or autocomp_quota",
        ),
        ("admission: {max_jobs: -1}", "max_jobs is -1, under the least value 0"),
        ("admission: {urgent_share: 0.6, explore_share: 0.5}", "leave nothing for other tables"),
        (
            "admission: {per_catalog: {sea: {max_jobs: 1}}}",
            "has admission.per_catalog.sea, but catalogs has only lake",
        ),
        (
            "admission: {blackouts: [{cron: '0 8 * * *', duration: 1h, timezone: Mars}]}",
            "'Mars', which is not a time zone",
        ),
        ("admission: {bytes_per_week: 1}", "unknown key 'bytes_per_week'"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_name(tmp_path: Path, text: str, complaint: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load(tmp_path, text)
    assert complaint in str(caught.value)
