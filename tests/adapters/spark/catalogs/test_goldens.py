"""What Spark is given for each type of catalog, each way to sign in and each storage."""

from __future__ import annotations

import pytest

from maintainer.adapters.spark.catalogs import needed_jars, spark_configuration

P = "spark.sql.catalog.lake"
REST = {"type": "rest", "uri": "https://catalog.example/"}
_OF_REST = {
    "type": "rest",
    "uri": "https://catalog.example/",
    "header.X-Iceberg-Access-Delegation": "vended-credentials",
}
SQL = {"type": "sql", "uri": "sqlite:////a/c.db"}
_OF_SQL = {
    "type": "jdbc",
    "jdbc.schema-version": "V1",
    "uri": "jdbc:sqlite:/a/c.db",
    "jdbc.busy_timeout": "30000",
}
_S3 = "org.apache.iceberg.aws.s3.S3FileIO"
_ANYBODY = "software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider"
_ROLE = "arn:aws:iam::1:role/r"

# name: (PyIceberg's properties, Spark's without the catalog's prefix, the sets of jars)
GOLDENS: dict[str, tuple[dict[str, str], dict[str, str], set[str]]] = {
    "hive": (
        {
            "type": "hive",
            "uri": "thrift://metastore:9083",
            "warehouse": "hdfs://nn:8020/wh",
            "hive.kerberos-authentication": "true",
            "hive.hive2-compatible": "true",
            "lock-check-retries": "3",
        },
        {
            "type": "hive",
            "uri": "thrift://metastore:9083",
            "warehouse": "hdfs://nn:8020/wh",
            "spark.hadoop.hive.metastore.sasl.enabled": "true",
        },
        set(),
    ),
    "glue": (
        {
            "type": "glue",
            "glue.region": "r",
            "glue.id": "1",
            "glue.max-retries": "3",
            "client.role-arn": _ROLE,
            "client.role-session-name": "maintainer",
        },
        {
            "type": "glue",
            "client.region": "r",
            "glue.id": "1",
            "client.assume-role.arn": _ROLE,
            "client.assume-role.region": "r",
            "client.assume-role.session-name": "maintainer",
            "client.factory": "org.apache.iceberg.aws.AssumeRoleAwsClientFactory",
            "io-impl": _S3,
        },
        {"aws"},
    ),
    "dynamodb": (
        {
            "type": "dynamodb",
            "dynamodb.region": "r",
            "dynamodb.endpoint": "http://127.0.0.1:8000",
            "table-name": "lake",
            "warehouse": "s3://b/wh",
        },
        {
            "catalog-impl": "org.apache.iceberg.aws.dynamodb.DynamoDbCatalog",
            "client.region": "r",
            "dynamodb.endpoint": "http://127.0.0.1:8000",
            "dynamodb.table-name": "lake",
            "warehouse": "s3://b/wh",
            "io-impl": _S3,
        },
        {"aws"},
    ),
    "bigquery": (
        {
            "type": "bigquery",
            "gcp.bigquery.project-id": "p",
            "gcp.bigquery.location": "eu",
            "warehouse": "gs://b/wh",
        },
        {
            "type": "bigquery",
            "gcp.bigquery.project-id": "p",
            "gcp.bigquery.location": "eu",
            "warehouse": "gs://b/wh",
            "io-impl": "org.apache.iceberg.gcp.gcs.GCSFileIO",
        },
        {"gcp"},
    ),
    "hadoop": (
        {"type": "hadoop", "warehouse": "hdfs:///wh", "hadoop.fs.defaultFS": "hdfs://nn:8020"},
        {
            "type": "hadoop",
            "warehouse": "hdfs:///wh",
            "spark.hadoop.fs.defaultFS": "hdfs://nn:8020",
        },
        set(),
    ),
    "nessie": (
        {"type": "nessie", "uri": "http://n/api/v2", "warehouse": "s3://b/wh", "token": "t"},
        {
            "type": "nessie",
            "uri": "http://n/api/v2",
            "warehouse": "s3://b/wh",
            "authentication.type": "BEARER",
            "authentication.token": "t",
            "io-impl": _S3,
        },
        {"aws"},
    ),
    "OAuth2": (
        REST
        | {
            "auth.type": "oauth2",
            "auth.oauth2.client_id": "me",
            "auth.oauth2.client_secret": "pw",
            "auth.oauth2.token_url": "https://idp/token",
            "auth.oauth2.scope": "all",
            "auth.oauth2.refresh_margin": "60",
        },
        _OF_REST
        | {
            "rest.auth.type": "oauth2",
            "credential": "me:pw",
            "oauth2-server-uri": "https://idp/token",
            "scope": "all",
        },
        set(),
    ),
    "a credential": (
        REST | {"credential": "me:pw", "audience": "a", "resource": "r", "token": "t"},
        _OF_REST | {"credential": "me:pw", "audience": "a", "resource": "r", "token": "t"},
        set(),
    ),
    "a password, and a header": (
        REST
        | {
            "auth.type": "Basic",
            "auth.basic.username": "me",
            "auth.basic.password": "pw",
            "header.X-Team": "t",
        },
        _OF_REST
        | {
            "rest.auth.type": "basic",
            "rest.auth.basic.username": "me",
            "rest.auth.basic.password": "pw",
            "header.X-Team": "t",
        },
        set(),
    ),
    "Google's sign-in": (
        REST | {"auth.type": "google", "auth.google.credentials_path": "/k.json"},
        _OF_REST | {"rest.auth.type": "google", "gcp.auth.credentials-path": "/k.json"},
        {"gcp"},
    ),
    "SigV4": (
        REST
        | {
            "rest.sigv4-enabled": "true",
            "rest.signing-region": "r",
            "rest.signing-name": "glue",
            "client.access-key-id": "k",
            "client.secret-access-key": "s",
        },
        _OF_REST
        | {
            "rest.sigv4-enabled": "true",
            "rest.signing-region": "r",
            "rest.signing-name": "glue",
            "rest.access-key-id": "k",
            "s3.access-key-id": "k",
            "rest.secret-access-key": "s",
            "s3.secret-access-key": "s",
            "io-impl": _S3,
        },
        {"aws"},
    ),
    "TLS": (REST | {"ssl.cabundle": "/ca.pem"}, _OF_REST, set()),
    "S3": (
        SQL
        | {
            "warehouse": "s3://b/wh",
            "s3.endpoint": "http://127.0.0.1:1",
            "s3.access-key-id": "k",
            "s3.secret-access-key": "s",
            "s3.force-virtual-addressing": "false",
            "s3.region": "r",
            "s3.proxy-uri": "http://proxy:3128",
            "s3.server-side-encryption": "aws:kms",
            "s3.sse-kms-key-id": "key",
            "s3.connect-timeout": "5",
        },
        _OF_SQL
        | {
            "warehouse": "s3://b/wh",
            "s3.endpoint": "http://127.0.0.1:1",
            "s3.access-key-id": "k",
            "s3.secret-access-key": "s",
            "s3.path-style-access": "true",
            "client.region": "r",
            "http-client.proxy-endpoint": "http://proxy:3128",
            "s3.sse.type": "kms",
            "s3.sse.key": "key",
            "io-impl": _S3,
        },
        {"aws"},
    ),
    "S3 without keys": (
        SQL | {"warehouse": "s3://b/wh", "s3.anonymous": "true"},
        _OF_SQL
        | {"warehouse": "s3://b/wh", "client.credentials-provider": _ANYBODY, "io-impl": _S3},
        {"aws"},
    ),
    "S3 with remote signing": (
        REST | {"s3.signer": "S3V4RestSigner", "s3.signer.endpoint": "v1/sign"},
        _OF_REST
        | {"s3.remote-signing-enabled": "true", "signer.endpoint": "v1/sign", "io-impl": _S3},
        {"aws"},
    ),
    "GCS": (
        SQL | {"warehouse": "gs://b/wh", "gcs.project-id": "p", "gcs.access": "read_only"},
        _OF_SQL
        | {
            "warehouse": "gs://b/wh",
            "gcs.project-id": "p",
            "io-impl": "org.apache.iceberg.gcp.gcs.GCSFileIO",
        },
        {"gcp"},
    ),
    "ADLS": (
        SQL
        | {
            "warehouse": "abfss://c@a.dfs.core.windows.net/wh",
            "adls.account-name": "a",
            "adls.account-key": "k",
            "adls.sas-token": "sig",
        },
        _OF_SQL
        | {
            "warehouse": "abfss://c@a.dfs.core.windows.net/wh",
            "adls.auth.shared-key.account.name": "a",
            "adls.auth.shared-key.account.key": "k",
            "adls.sas-token.a.dfs.core.windows.net": "sig",
            "io-impl": "org.apache.iceberg.azure.adlsv2.ADLSFileIO",
        },
        {"azure"},
    ),
    "OSS": (
        SQL
        | {
            "warehouse": "oss://b/wh",
            "s3.endpoint": "https://oss-region.example",
            "s3.access-key-id": "k",
            "s3.secret-access-key": "s",
            "s3.session-token": "t",
            "s3.force-virtual-addressing": "true",
        },
        _OF_SQL
        | {
            "warehouse": "oss://b/wh",
            "oss.endpoint": "https://oss-region.example",
            "client.access-key-id": "k",
            "client.access-key-secret": "s",
            "client.security-token": "t",
            "io-impl": "org.apache.iceberg.aliyun.oss.OSSFileIO",
        },
        {"aliyun"},
    ),
    "two storages": (
        REST | {"s3.region": "r", "s3.endpoint": "http://s", "gcs.project-id": "p"},
        _OF_REST
        | {
            "client.region": "r",
            "s3.endpoint": "http://s",
            "gcs.project-id": "p",
            "io-impl": "org.apache.iceberg.io.ResolvingFileIO",
        },
        {"aws", "gcp"},
    ),
}


@pytest.mark.parametrize(("properties", "expected", "jars"), GOLDENS.values(), ids=GOLDENS.keys())
def test_spark_is_given_exactly_this(
    properties: dict[str, str], expected: dict[str, str], jars: set[str]
) -> None:
    settings = spark_configuration("lake", properties, {}, {})
    bare = {key.removeprefix(f"{P}."): value for key, value in settings.items()}
    assert bare == {
        P: "org.apache.iceberg.spark.SparkCatalog",
        "cache-enabled": "false",
        **expected,
    }
    assert needed_jars(settings) == jars


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        (
            {"HTTPS_PROXY": "http://me:p%40w@proxy:3128"},
            {"hostname": "proxy", "port": "3128", "username": "me", "password": "p@w"},
        ),
        ({"all_proxy": "proxy"}, {"hostname": "proxy", "port": "80"}),
        ({"https_proxy": "http://proxy:3128", "no_proxy": "example,catalog.example"}, {}),
        ({"http_proxy": "http://proxy:3128"}, {}),
        ({"https_proxy": ""}, {}),
    ],
)
def test_java_is_given_the_proxy_of_the_environment_for_a_rest_catalog(
    environment: dict[str, str], expected: dict[str, str]
) -> None:
    settings = spark_configuration("lake", REST, {}, environment)
    start = f"{P}.rest.client.proxy."
    found = {key.removeprefix(start): text for key, text in settings.items() if start in key}
    assert found == expected


def test_a_type_written_under_spark_chooses_the_names_of_its_properties() -> None:
    given = {"type": "nessie", "uri": "http://n/api/v2", "ref": "main"}
    settings = spark_configuration("lake", REST | {"token": "t"}, given, {})
    assert settings[f"{P}.authentication.token"] == "t"
    assert settings[f"{P}.uri"] == "http://n/api/v2"
    assert settings[f"{P}.ref"] == "main"
