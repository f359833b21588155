"""Guards 1 to 8. Each is broken here on purpose and must refuse."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from maintainer.decide.circumstances import Circumstances
from maintainer.decide.jobs.submission import check_before_submit, is_older_pointer
from maintainer.decide.plan import decide
from maintainer.domain.action import RemoveOrphanFiles
from maintainer.domain.health import TableHealth
from maintainer.domain.location import Aliases, TableLocation, normalise_path
from maintainer.domain.orphan import FoundFile, Surroundings, quarantine_of
from maintainer.domain.plan import SkipCode
from maintainer.domain.policy import Approval, Mode, Policy
from maintainer.domain.rules import RemoveOrphanFilesRule
from maintainer.domain.units import MIB
from maintainer.procedures.remove_orphan_files.scan import (
    FOREIGN_TRUST,
    MAX_FILES,
    Assessment,
    describe_judgement,
    judge_orphans,
    refuse_orphans,
)
from tests.chapters import find_gain
from tests.samples import NOW, UUID, health_of_partitions

DAY = timedelta(days=1)
RULE = RemoveOrphanFilesRule(older_than=7 * DAY)
OLD = replace(
    health_of_partitions({"a": [MIB] * 100}),
    oldest_snapshot_at=NOW - 30 * DAY,
    storage_files=120,
    location="s3://lake/sales/orders",
)
ALONE = Surroundings(NOW - 30 * DAY, (), is_complete=True)


def reason_of(
    health: TableHealth = OLD,
    surroundings: Surroundings | None = ALONE,
    rule: RemoveOrphanFilesRule = RULE,
) -> tuple[SkipCode, str] | None:
    refusal = refuse_orphans(rule, health, surroundings, NOW)
    return None if refusal is None else (refusal.code, refusal.reason)


def beside(location: str, uuid: str = "another", *, is_gone: bool = False) -> Surroundings:
    return replace(
        ALONE,
        neighbours=(TableLocation(normalise_path(location), "lake.sales.other", uuid, is_gone),),
    )


def test_a_table_alone_in_its_location_may_be_scanned_for_orphans() -> None:
    assert reason_of() is None
    assert reason_of(surroundings=beside("s3://lake/sales/orders_2")) is None
    own = TableLocation("lake/sales/orders/", str(OLD.table), UUID)
    assert reason_of(surroundings=replace(ALONE, neighbours=(own,))) is None


@pytest.mark.parametrize(
    "location",
    [
        "s3a://lake/sales/orders/",
        "s3://lake/sales",
        "s3://lake/sales/orders/data/inner",
        "s3://lake",
    ],
)
def test_guard_1_a_place_that_is_anothers_or_in_or_around_it_is_refused_by_name(
    location: str,
) -> None:
    found = reason_of(surroundings=beside(location))
    assert found is not None
    assert found[0] is SkipCode.UNSAFE
    assert "overlaps with" in found[1]
    assert "lake.sales.other" in found[1]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("s3://lake/sales/orders", "s3n://lake/sales/orders/inner"),
        ("s3://lake/sales/orders", "s3://lake/sales/old/../orders"),
        ("abfss://lake@a.dfs.core.windows.net/db/t", "wasbs://lake@A.blob.core.windows.net/db/t"),
        ("hdfs://nn:8020/db/sales/t", "hdfs:///db/sales/t"),
        ("ofs://om/volume/db/t", "s3://volume/db/t"),
        ("ofs://om/volume/db/t", "ofs://om/other/../volume/db/t"),
        ("ofs://om/x/../volume/db/t", "s3://volume/db/t"),
        ("OFS://om//volume/db/t", "s3://volume/db"),
    ],
)
def test_guard_1_two_tables_under_two_names_of_one_storage_are_both_refused(
    first: str, second: str
) -> None:
    aliases = Aliases((("ofs://om/volume/", "s3://volume/"),))
    for own, other in ((first, second), (second, first)):
        table = replace(OLD, location=own, paths=aliases.paths_of(own, {}))
        neighbours = tuple(
            TableLocation(path, "lake.sales.other", "another")
            for path in aliases.paths_of(other, {})
        )
        found = reason_of(table, replace(ALONE, neighbours=neighbours))
        assert found is not None
        assert found[0] is SkipCode.UNSAFE
        assert "of table lake.sales.other" in found[1]


def test_guard_1_paths_that_properties_name_count_as_places() -> None:
    elsewhere = replace(OLD, properties={"write.data.path": "s3://lake/shared"})
    found = reason_of(elsewhere, beside("s3://lake/shared/inner"))
    assert found is not None
    assert "directory lake/shared/ overlaps" in found[1]


def test_guard_1_a_table_that_two_catalogs_have_is_refused_and_one_that_was_renamed_is_not() -> (
    None
):
    found = reason_of(surroundings=beside("s3://lake/sales/orders", UUID))
    assert found == (
        SkipCode.UNSAFE,
        "the table is registered as lake.sales.other too, whose state may need other files",
    )
    assert reason_of(surroundings=beside("s3://lake/sales/orders", UUID, is_gone=True)) is None


def test_guard_1_a_dropped_tables_place_counts() -> None:
    found = reason_of(surroundings=beside("s3://lake/sales/orders/old", is_gone=True))
    assert found is not None
    assert "which was dropped and may have left its files" in found[1]


def test_guard_1_a_table_that_is_none_of_icebergs_counts_for_a_week_after_it_was_seen() -> None:
    raw = TableLocation("lake/sales/orders/raw/", "lake.sales.raw", "", seen_at=NOW - 6 * DAY)
    found = reason_of(surroundings=replace(ALONE, neighbours=(raw,)))
    assert found is not None
    assert found[0] is SkipCode.UNSAFE
    assert "of table lake.sales.raw, which is not an Iceberg table, seen at 2026-" in found[1]
    assert (
        reason_of(
            surroundings=replace(ALONE, neighbours=(replace(raw, seen_at=NOW - FOREIGN_TRUST),))
        )
        is None
    )


def test_guard_1_no_orphan_scan_while_a_table_is_unknown() -> None:
    for unknown in (None, replace(ALONE, is_complete=False)):
        found = reason_of(surroundings=unknown)
        assert found is not None
        assert "not every table of every catalog has been measured" in found[1]


@pytest.mark.parametrize(
    ("properties", "code"),
    [
        ({"gc.enabled": "False"}, SkipCode.GC_DISABLED),
        ({"snapshot": "true"}, SkipCode.UNSAFE),
        ({"migrated": "true"}, SkipCode.UNSAFE),
    ],
)
def test_guard_2_no_table_whose_files_may_be_anothers(
    properties: dict[str, str], code: SkipCode
) -> None:
    found = reason_of(replace(OLD, properties=properties))
    assert found is not None
    assert found[0] is code


@pytest.mark.parametrize("location", ["s3://lake", "s3://lake/", "file:/", "hdfs://nn/wh"])
def test_guard_2_no_table_in_the_root_of_a_storage(location: str) -> None:
    found = reason_of(replace(OLD, location=location))
    assert found is not None
    assert "root of a storage" in found[1]


def test_guard_3_files_younger_than_three_days_are_never_orphans() -> None:
    assert reason_of(rule=replace(RULE, older_than=2 * DAY)) == (
        SkipCode.RETENTION_FLOOR,
        "older_than 2 d is under the 3 d floor of remove_orphan_files",
    )
    assert reason_of(rule=RemoveOrphanFilesRule()) is None, "the default is seven days"


def test_guard_8_young_tables_are_left_alone() -> None:
    young = replace(OLD, oldest_snapshot_at=NOW - 2 * DAY)
    assert reason_of(young, replace(ALONE, first_seen_at=NOW - DAY)) == (
        SkipCode.UNSAFE,
        "the table is not known to be older than 3 d",
    )
    assert reason_of(young, ALONE) is None, "it was seen thirty days ago"
    assert (
        reason_of(replace(OLD, oldest_snapshot_at=None), replace(ALONE, first_seen_at=None))
        is not None
    )


def at(version: str) -> TableHealth:
    return replace(
        OLD,
        metadata_location=f"s3://lake/sales/orders/metadata/{version}.metadata.json",
        newest_snapshot_at=NOW,
    )


def test_guard_7_a_pointer_older_than_one_that_was_seen_is_noticed() -> None:
    assert is_older_pointer(
        at("00012-0a1b2c3d-aaaa-bbbb-cccc-000000000001"),
        at("00011-0a1b2c3d-aaaa-bbbb-cccc-000000000001"),
    )
    assert is_older_pointer(at("v3"), at("v2.gz"))
    assert not is_older_pointer(at("v3"), at("v3"))
    assert not is_older_pointer(at("v3"), replace(at("v2"), table_uuid="another"))
    assert is_older_pointer(at("odd"), replace(at("odd"), newest_snapshot_at=NOW - DAY))
    assert is_older_pointer(at("odd"), replace(at("odd"), newest_snapshot_at=None))
    assert not is_older_pointer(replace(at("odd"), newest_snapshot_at=None), at("odd"))


def test_guard_7_the_job_is_not_handed_over_on_an_older_pointer() -> None:
    action = RemoveOrphanFiles(NOW - 7 * DAY, OLD.location)
    refused = check_before_submit(action, at("v2"), UUID, at("v3"))
    assert refused is not None
    assert (
        "is older than s3://lake/sales/orders/metadata/v3.metadata.json that was seen before"
        in refused
    )
    assert check_before_submit(action, at("v3"), UUID, at("v2")) is None
    assert check_before_submit(action, at("v3"), UUID) is None
    assert (
        check_before_submit(action, replace(at("v3"), properties={"gc.enabled": "false"}), UUID)
        is not None
    )


def test_the_action_lists_what_is_older_than_the_policys_age_to_the_full_hour() -> None:
    gain = find_gain(RULE, OLD, NOW + timedelta(minutes=20))
    assert gain is not None
    assert gain.action == RemoveOrphanFiles(
        NOW - 7 * DAY, OLD.location, (("prefix_listing", "true"),)
    )
    assert gain.sentence == (
        "files older than 7 d that the table does not reference would be listed; nothing is "
        "deleted before a person approves the list"
    )
    free = find_gain(replace(RULE, approval=Approval.AUTOMATIC), OLD)
    assert free is not None
    assert free.sentence.endswith("would be listed, and are removed without an approval")
    plan = decide(
        OLD, Policy(mode=Mode.ENFORCE, rules=(RULE,)), Circumstances(NOW, surroundings=ALONE)
    )
    assert [planned.action for planned in plan.planned] == [gain.action]
    refused = decide(
        OLD,
        Policy(mode=Mode.ENFORCE, rules=(RULE,)),
        Circumstances(NOW, surroundings=beside("s3://lake/sales")),
    )
    assert [skipped.code for skipped in refused.skipped] == [SkipCode.UNSAFE]


def found(*names: str, size: int | None = 1000) -> list[FoundFile]:
    return [FoundFile(f"s3://lake/sales/orders/{name}", size) for name in names]


def judge(
    *names: str,
    size: int | None = 1000,
    foreign: int | None = 0,
    health: TableHealth = OLD,
    counted: int | None = None,
) -> Assessment:
    return judge_orphans(health, found(*names, size=size), foreign, counted)


def test_files_that_nobody_knows_are_listed() -> None:
    assessment = judge("data/x.parquet", "data/day=1/y.parquet", "metadata/snap-1.avro")
    assert (len(assessment.orphans), assessment.kept, assessment.refusal, assessment.warning) == (
        3,
        (),
        None,
        None,
    )
    assert describe_judgement(assessment) == "3 orphan files of 2.9 KiB listed."
    assert describe_judgement(judge()) == "No orphan file was found."


@pytest.mark.parametrize(
    "name",
    [
        "metadata/00012-a.metadata.json", "metadata/v1.gz.metadata.json",
        "metadata/00001-a.metadata.json.gz", "metadata/version-hint.text",
        "metadata/flink.job-id.7", "metadata/1-2.stats", "metadata/partition-stats-7.parquet",
        "data/_temporary/0/x.parquet", "data/.hidden/x.parquet",
        "data/_SUCCESS", "staging/x.parquet", "data/.x.crc",
    ],
)  # fmt: skip
def test_guard_6_what_may_still_be_needed_is_never_on_the_list(name: str) -> None:
    assessment = judge(name)
    assert assessment.orphans == ()
    assert len(assessment.kept) == 1
    assert "1 more files are kept" in describe_judgement(assessment)


@pytest.mark.parametrize(
    "directory", ["_delta_log", "data/_hoodie", "_x", ".x", quarantine_of("", "m-1").strip("/")]
)
def test_guard_6_directories_that_begin_like_hidden_ones_keep_what_is_in_them(
    directory: str,
) -> None:
    assessment = judge(
        f"{directory}/00000000000000000000.json",
        f"{directory}/day=1/x.parquet",
        "data/x_y/z.parquet",
    )
    assert [reason for _, reason in assessment.kept] == [
        "it is in a staging or hidden directory"
    ] * 2
    assert len(assessment.orphans) == 1, "an underscore inside a name hides nothing"


def test_guard_6_markers_of_directories_and_the_current_metadata_stay() -> None:
    assert judge("metadata/", "data", size=0).orphans == ()
    odd = replace(OLD, metadata_location="s3a://lake/sales/orders/metadata/current.json")
    assert judge("metadata/current.json", health=odd).orphans == ()


@pytest.mark.parametrize(
    "path",
    [
        "s3://lake/sales/orders_2/data/x.parquet",
        "s3://elsewhere/x.parquet",
        "s3://lake/sales/x.parquet",
    ],
)
def test_guard_4_a_path_outside_the_location_is_never_on_the_list(path: str) -> None:
    assessment = judge_orphans(OLD, [FoundFile(path, 10)], 0)
    assert assessment.orphans == ()
    assert assessment.kept == ((path, "it is outside the table's location"),)


def test_guard_2_files_outside_the_location_betray_a_table_made_by_add_files() -> None:
    assert "may have been made by add_files" in (judge("data/x.parquet", foreign=3).refusal or "")
    assert (
        judge("data/x.parquet", foreign=None).refusal
        == "it is not known whether files of the table are outside its location"
    )


def test_guard_5_too_large_a_share_of_the_files_is_refused() -> None:
    many = [f"data/{n}.parquet" for n in range(60)]
    assert judge(*many, size=1).refusal == "60 files are more than 30% of the 180 in its location"
    assert judge(*many[:51], size=1).refusal is None


def test_guard_5_too_large_a_share_of_the_bytes_is_refused_and_half_of_it_is_a_warning() -> None:
    assert (
        judge("data/x.parquet", size=12 * MIB).refusal
        == "12 MiB are more than 10% of the 112 MiB in its location"
    )
    warned = judge("data/x.parquet", size=8 * MIB)
    assert (warned.refusal, warned.warning) == (
        None,
        "8 MiB are more than 5% of the 108 MiB in its location",
    )
    assert "Check the list" in describe_judgement(warned)
    assert "None of them may be deleted" in describe_judgement(
        judge("data/x.parquet", size=12 * MIB)
    )


def test_guard_5_a_list_that_is_not_whole_or_too_long_or_without_sizes_is_refused() -> None:
    assert (
        judge("data/x.parquet", counted=MAX_FILES + 1).refusal
        == "1,000,001 files were found, more than the limit of 1,000,000"
    )
    assert (
        judge("data/x.parquet", counted=2).refusal
        == "2 files were found and 1 listed: the list is incomplete"
    )
    assert judge("data/x.parquet", size=None).refusal == "the sizes of 1 of 1 files are unknown"
    assert (
        judge("data/x.parquet", health=replace(OLD, storage_files=None)).refusal
        == "the number of the table's own files is unknown"
    )


def test_a_storage_that_hadoop_does_not_list_by_itself_is_listed_by_the_tables_own_access() -> None:
    def options(location: str, *given: tuple[str, str]) -> tuple[tuple[str, str], ...]:
        gain = find_gain(replace(RULE, options=given), replace(OLD, location=location))
        assert gain is not None
        assert isinstance(gain.action, RemoveOrphanFiles)
        return gain.action.options

    assert {options(f"{scheme}://lake/t") for scheme in ("s3", "S3", "gs", "abfss", "oss")} == {
        (("prefix_listing", "true"),)
    }
    assert {
        options(location) for location in ("hdfs://nn/w/t", "file:///w/t", "s3a://lake/t", "/w/t")
    } == {()}
    assert options("s3://lake/t", ("prefix_listing", "false")) == (("prefix_listing", "false"),), (
        "as the policy says"
    )
