from __future__ import annotations

import pytest

from maintainer.adapters.spark.catalogs import (
    needed_jars,
    spark_configuration,
)
from maintainer.domain.errors import ConfigurationError

P = "spark.sql.catalog.lake"
SQLITE = {"uri": "sqlite:////data/catalog.db", "warehouse": "file:///data/wh"}


def test_a_sqlite_catalog_is_a_jdbc_catalog_on_the_same_file() -> None:
    assert spark_configuration("lake", SQLITE | {"type": "sql", "echo": "false"}, {}) == {
        P: "org.apache.iceberg.spark.SparkCatalog",
        f"{P}.cache-enabled": "false",
        f"{P}.type": "jdbc",
        f"{P}.jdbc.schema-version": "V1",
        f"{P}.uri": "jdbc:sqlite:/data/catalog.db",
        f"{P}.jdbc.busy_timeout": "30000",
        f"{P}.warehouse": "file:///data/wh",
    }


def test_a_postgresql_catalog_has_its_secrets_split_out() -> None:
    uri = "postgresql+psycopg2://me%40here:p%2Fw@db:5433/lake?sslmode=require"
    settings = spark_configuration(
        "lake",
        {"type": "sql", "uri": uri, "warehouse": "s3://bucket/wh", "s3.region": "eu-west-1"},
        {},
    )
    assert settings[f"{P}.uri"] == "jdbc:postgresql://db:5433/lake?sslmode=require"
    assert settings[f"{P}.retryable_status_codes"] == "57P01,57P02,57P03"
    assert settings[f"{P}.jdbc.user"] == "me@here"
    assert settings[f"{P}.jdbc.password"] == "p/w"
    assert settings[f"{P}.client.region"] == "eu-west-1"
    assert settings[f"{P}.io-impl"].endswith("S3FileIO")
    assert needed_jars(settings) == {"aws"}


def test_a_rest_catalog_keeps_its_own_words() -> None:
    properties = {
        "uri": "https://c.example/", "credential": "id:secret", "scope": "all",
        "header.X-Team": "a", "warehouse": "w", "s3.force-virtual-addressing": "false"
    }  # fmt: skip
    settings = spark_configuration(
        "lake", properties, {"view-endpoints-supported": "true", "spark.hadoop.a": "b"}
    )
    assert settings[f"{P}.type"] == "rest"
    assert settings[f"{P}.credential"] == "id:secret"
    assert settings[f"{P}.header.X-Team"] == "a"
    assert settings[f"{P}.s3.path-style-access"] == "true"
    assert settings[f"{P}.view-endpoints-supported"] == "true"
    assert settings["spark.hadoop.a"] == "b"
    assert not needed_jars(spark_configuration("lake", {"uri": "https://c.example/"}, {}))


def test_hive_and_glue_are_translated_too() -> None:
    assert (
        spark_configuration("lake", {"type": "hive", "uri": "thrift://h:9083"}, {})[f"{P}.uri"]
        == "thrift://h:9083"
    )
    settings = spark_configuration("lake", {"type": "glue", "glue.region": "eu-west-1"}, {})
    assert needed_jars(settings) == {"aws"}
    assert settings[f"{P}.io-impl"].endswith("S3FileIO")


def test_hadoops_own_settings_hold_for_the_whole_of_spark() -> None:
    properties = SQLITE | {
        "warehouse": "hdfs://cluster/wh",
        "hadoop.dfs.ha.namenodes.cluster": "one,two",
    }
    settings = spark_configuration("lake", properties, {})
    assert settings["spark.hadoop.dfs.ha.namenodes.cluster"] == "one,two"
    assert settings[f"{P}.warehouse"] == "hdfs://cluster/wh"
    assert (
        spark_configuration("lake", properties, {"spark.hadoop.dfs.ha.namenodes.cluster": "three"})[
            "spark.hadoop.dfs.ha.namenodes.cluster"
        ]
        == "three"
    )
    assert not needed_jars(settings)


def test_a_file_io_that_is_chosen_needs_no_jars_of_the_others() -> None:
    properties = SQLITE | {"warehouse": "oss://lake/wh", "s3.endpoint": "https://oss.example"}
    hadoop = {"io-impl": "org.apache.iceberg.hadoop.HadoopFileIO"}
    assert needed_jars(spark_configuration("lake", properties, {})) == {"aliyun"}
    assert not needed_jars(spark_configuration("lake", properties, hadoop))


@pytest.mark.parametrize(
    ("name", "properties", "words"),
    [
        ("a.b", SQLITE, "'a.b'"),
        ("spark_catalog", SQLITE, "spark_catalog"),
        ("lake", SQLITE | {"adls.account-key": "x"}, "without adls.account-name"),
        ("lake", SQLITE | {"s3.role-arn": "x"}, "without s3.region"),
        ("lake", {"uri": "https://c/", "auth.oauth2.client_id": "x"}, "client_secret"),
        ("lake", {"uri": "https://c/", "auth.type": "entra"}, "auth.type: entra"),
        ("lake", SQLITE | {"s3.profile-name": "x"}, "environment: AWS_PROFILE"),
        ("lake", {"type": "glue", "client.access-key-id": "x"}, "environment: AWS_ACCESS_KEY_ID"),
        ("lake", SQLITE | {"credential": "x"}, "credential"),
        ("lake", {"uri": "sqlite:///relative.db", "warehouse": "w"}, "absolute path"),
        ("lake", {"uri": "sqlite:///:memory:", "warehouse": "w"}, "absolute path"),
        ("lake", {"uri": "sqlite:////a.db"}, "warehouse"),
        ("lake", {"uri": "mysql://h/db", "type": "sql", "warehouse": "w"}, "mysql"),
        ("lake", {"uri": "postgresql://h/db?keepalives=1", "warehouse": "w"}, "keepalives"),
        ("lake", {"uri": "postgresql:///db", "warehouse": "w"}, "no host"),
        ("lake", {"type": "bigquery"}, "warehouse"),
        ("lake", {"type": "datalake"}, "type 'datalake' cannot be translated"),
        ("lake", {"type": "rest"}, "uri"),
        ("lake", {"py-catalog-impl": "x.Y"}, "py-catalog-impl"),
        (
            "lake",
            SQLITE | {"ssl.cabundle": "x", "auth.type": "basic"},
            "properties ssl.cabundle, auth.type cannot be translated",
        ),
        *(
            ("lake", SQLITE | {untranslated: "true"}, f"property {untranslated} cannot be")
            for untranslated in (
                "ssl.cabundle",
                "auth.type",
                "hive.kerberos-authentication",
                "gcp.bigquery.project-id",
                "table-name",
                "a.property.of.tomorrow",
            )
        ),
    ],
)
def test_what_cannot_be_translated_is_named(
    name: str, properties: dict[str, str], words: str
) -> None:
    with pytest.raises(ConfigurationError, match=words.replace(".", r"\.")):
        spark_configuration(name, properties, {})


def test_an_override_stands_in_for_a_property_without_counterpart() -> None:
    settings = spark_configuration(
        "lake", SQLITE | {"adls.credential": "x"}, {"adls.credential": "y", "io-impl": "my.IO"}
    )
    assert settings[f"{P}.adls.credential"] == "y"
    assert settings[f"{P}.io-impl"] == "my.IO"


@pytest.mark.parametrize(
    ("properties", "overrides"),
    [
        (
            {"type": "dynamodb", "warehouse": "s3://b/wh"},
            {"catalog-impl": "org.apache.iceberg.aws.dynamodb.DynamoDbCatalog"},
        ),
        ({"type": "hadoop", "warehouse": "hdfs://c/wh"}, {"type": "hadoop"}),
        (
            {"py-catalog-impl": "our.Catalog", "uri": "our://host"},
            {"catalog-impl": "com.example.OurCatalog"},
        ),
    ],
)
def test_a_catalog_of_any_kind_is_reached_by_what_is_written_under_spark(
    properties: dict[str, str], overrides: dict[str, str]
) -> None:
    settings = spark_configuration("lake", properties, overrides)
    (given,) = overrides.items()
    assert settings[f"{P}.{given[0]}"] == given[1]
    kept = {name: text for name, text in properties.items() if name in {"uri", "warehouse"}}
    assert {name: settings[f"{P}.{name}"] for name in kept} == kept
    assert ("aws" in needed_jars(settings)) == ("aws" in given[1])
    with pytest.raises(ConfigurationError, match=r"adls\.credential"):
        spark_configuration("lake", properties | {"adls.credential": "x"}, overrides)


def test_an_empty_override_leaves_a_property_out() -> None:
    settings = spark_configuration(
        "lake",
        SQLITE | {"s3.anonymous": "true"},
        {"s3.anonymous": "", "client.credentials-provider": "a.Provider"},
    )
    assert f"{P}.s3.anonymous" not in settings
    assert settings[f"{P}.client.credentials-provider"] == "a.Provider"
