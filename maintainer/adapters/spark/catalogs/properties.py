"""The table of PyIceberg's properties, with their names in Iceberg's Java library.

The names are those of PyIceberg 0.12 and Iceberg 1.12.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import Enum

OSS = "oss"  # the tag of rows for this storage only; all other tags are types of catalogs
TYPES = ("sql", "rest", "hive", "glue", "dynamodb", "bigquery", "hadoop", "nessie")
_AWS = ("glue", "dynamodb")
_ASSUMES_ROLE = {"client.factory": "org.apache.iceberg.aws.AssumeRoleAwsClientFactory"}
_BY_ENVIRONMENT = "Spark's drivers take it from their environment: "
_OF_JAVA = "give Java a key store by spark.conf (javax.net.ssl.keyStore)"
_BOOLEAN = {"true": "false", "false": "true"}


class Use(Enum):
    """The part of the system that uses a property."""

    PASSED = "Spark too"
    COMBINED = "Spark too, with others"  # catalogs/__init__.py combines these properties
    DAEMON = "the daemon only"
    TRUSTED = "the trust store of Spark's drivers on this machine"
    MISSING = "refused"


@dataclass(frozen=True, slots=True)
class Row:
    """How one property is passed to Spark."""

    name: str  # of PyIceberg's property; with a dot at its end, of all that begin with it
    use: Use
    spark: tuple[str, ...] = ()  # Iceberg's names for the property
    types: tuple[str, ...] = ()  # types of catalogs, or OSS; empty: all
    values: Mapping[str, str] = field(default_factory=dict)  # Iceberg's value by PyIceberg's value
    adds: Mapping[str, str] = field(default_factory=dict)  # settings that are added
    note: str = ""

    def fits(self, key: str) -> bool:
        return key == self.name or (self.name.endswith(".") and key.startswith(self.name))

    def translate(self, key: str, value: str) -> dict[str, str] | None:
        """Return Iceberg's properties; None if Iceberg has no such value."""
        if self.values and value.lower() not in self.values:
            return None
        spelt = self.values.get(value.lower(), value)
        if self.name.endswith("."):
            return {f"{name}{key.removeprefix(self.name)}": spelt for name in self.spark}
        return {**dict.fromkeys(self.spark, spelt), **self.adds} if spelt else {}


def _same(*names: str, types: tuple[str, ...] = ()) -> tuple[Row, ...]:
    return tuple(Row(name, Use.PASSED, (name,), types) for name in names)


def _daemon(*names: str) -> tuple[Row, ...]:
    return tuple(Row(name, Use.DAEMON) for name in names)


def _missing(note: str, *names: str, types: tuple[str, ...] = ()) -> tuple[Row, ...]:
    return tuple(Row(name, Use.MISSING, types=types, note=note) for name in names)


# Of several rows for a name and a type, the first row is used.
ROWS: tuple[Row, ...] = (
    # ---- every catalog ----
    *_same("warehouse"),
    *_daemon("type", "py-io-impl", "downcast-ns-timestamp-to-us-on-write"),
    Row("hadoop.", Use.PASSED, ("spark.hadoop.",), note="holds for the whole of Spark"),
    # ---- SQL ----
    *_daemon("echo", "pool_pre_ping", "init_catalog_tables"),
    # ---- REST ----
    *_same(
        "prefix", "credential", "token", "oauth2-server-uri", "scope", "audience", "resource",
        "rest.sigv4-enabled", "rest.signing-region", "rest.signing-name", "header.",
        "view-endpoints-supported", "namespace-separator",
        types=("rest",),
    ),
    *_daemon("rest-page-size", "snapshot-loading-mode", "scan-planning-mode"),
    *_daemon("rest.sigv4.max-retries"),
    Row(
        "auth.type", Use.PASSED, ("rest.auth.type",), ("rest",),
        {"noop": "none", "basic": "basic", "oauth2": "oauth2", "google": "google"},
    ),
    Row("auth.basic.username", Use.PASSED, ("rest.auth.basic.username",), ("rest",)),
    Row("auth.basic.password", Use.PASSED, ("rest.auth.basic.password",), ("rest",)),
    Row("auth.oauth2.client_id", Use.COMBINED, ("credential",), ("rest",)),
    Row("auth.oauth2.client_secret", Use.COMBINED, ("credential",), ("rest",)),
    Row("auth.oauth2.token_url", Use.PASSED, ("oauth2-server-uri",), ("rest",)),
    Row("auth.oauth2.scope", Use.PASSED, ("scope",), ("rest",)),
    *_daemon("auth.oauth2.refresh_margin", "auth.oauth2.expires_in"),
    Row("auth.google.credentials_path", Use.PASSED, ("gcp.auth.credentials-path",), ("rest",)),
    Row("auth.google.scopes", Use.PASSED, ("gcp.auth.scopes",), ("rest",)),
    Row("ssl.cabundle", Use.TRUSTED, types=("rest",)),
    *_missing(_OF_JAVA, "ssl.client.cert", "ssl.client.key", types=("rest",)),
    # ---- Nessie's own protocol ----
    Row(
        "token", Use.PASSED, ("authentication.token",), ("nessie",),
        adds={"authentication.type": "BEARER"},
    ),
    # ---- Hive ----
    *_daemon("hive.hive2-compatible"),
    *_daemon("lock-check-min-wait-time", "lock-check-max-wait-time", "lock-check-retries"),
    Row(
        "hive.kerberos-authentication", Use.PASSED,
        ("spark.hadoop.hive.metastore.sasl.enabled",), ("hive",),
    ),
    *_missing(
        "write spark.hadoop.hive.metastore.kerberos.principal: SERVICE/_HOST@REALM under spark:",
        "hive.kerberos-service-name", types=("hive",),
    ),
    *_missing(f"{_BY_ENVIRONMENT}HADOOP_USER_NAME", "ugi", types=("hive",)),
    # ---- AWS ----
    *_same("client.region"),
    Row("s3.region", Use.PASSED, ("client.region",)),
    Row("glue.region", Use.PASSED, ("client.region",), ("glue",)),
    Row("dynamodb.region", Use.PASSED, ("client.region",), ("dynamodb",)),
    *_same("dynamodb.endpoint", types=("dynamodb",)),
    *_same("glue.id", "glue.endpoint", "glue.skip-archive", types=("glue",)),
    *_daemon("glue.max-retries", "glue.retry-mode"),
    Row("table-name", Use.PASSED, ("dynamodb.table-name",), ("dynamodb",)),
    *_missing(
        f"{_BY_ENVIRONMENT}AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN",
        *(f"{place}.{part}" for place in ("client", *_AWS)
          for part in ("access-key-id", "secret-access-key", "session-token")),
        types=_AWS,
    ),
    *_missing(
        f"{_BY_ENVIRONMENT}AWS_PROFILE",
        "client.profile-name", "s3.profile-name", "glue.profile-name", "dynamodb.profile-name",
    ),
    *(
        Row(
            name, Use.PASSED, ("client.assume-role.arn",), adds=_ASSUMES_ROLE,
            note="needs a region",
        )
        for name in ("client.role-arn", "s3.role-arn")
    ),
    *(
        Row(name, Use.PASSED, ("client.assume-role.session-name",))
        for name in ("client.role-session-name", "s3.role-session-name")
    ),
    # ---- OSS, which PyIceberg reads by the protocol of S3 ----
    Row("s3.endpoint", Use.PASSED, ("oss.endpoint",), (OSS,)),
    *(
        Row(f"{place}.{theirs}", Use.PASSED, (f"client.{ours}",), (OSS,))
        for place in ("s3", "client")
        for theirs, ours in (
            ("access-key-id", "access-key-id"),
            ("secret-access-key", "access-key-secret"),
            ("session-token", "security-token"),
        )
    ),
    Row(
        "s3.force-virtual-addressing", Use.DAEMON, types=(OSS,),
        note="OSS itself knows no other addresses",
    ),
    # ---- S3 ----
    *_same(
        "s3.endpoint", "s3.access-key-id", "s3.secret-access-key", "s3.session-token",
        "s3.path-style-access", "s3.remote-signing-enabled",
    ),
    *(
        Row(
            f"client.{part}", Use.PASSED, (f"s3.{part}", f"rest.{part}"), ("rest",),
            note="signs requests to the catalog too",
        )
        for part in ("access-key-id", "secret-access-key", "session-token")
    ),
    *(
        Row(f"client.{part}", Use.PASSED, (f"s3.{part}",))
        for part in ("access-key-id", "secret-access-key", "session-token")
    ),
    Row(
        "s3.force-virtual-addressing", Use.PASSED, ("s3.path-style-access",), values=_BOOLEAN,
        note="true is false there, and false is true",
    ),
    Row("s3.proxy-uri", Use.PASSED, ("http-client.proxy-endpoint",)),
    Row(
        "s3.anonymous", Use.PASSED, ("client.credentials-provider",),
        values={
            "true": "software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider",
            "false": "",
        },
    ),
    Row(
        "s3.signer", Use.PASSED, ("s3.remote-signing-enabled",),
        values={"s3v4restsigner": "true"},
    ),
    Row("s3.signer.uri", Use.PASSED, ("signer.uri",)),
    Row("s3.signer.endpoint", Use.PASSED, ("signer.endpoint",)),
    Row(
        "s3.server-side-encryption", Use.PASSED, ("s3.sse.type",),
        values={"aes256": "s3", "aws:kms": "kms", "aws:kms:dsse": "dsse-kms"},
    ),
    Row("s3.sse-kms-key-id", Use.PASSED, ("s3.sse.key",)),
    *_daemon(
        "s3.connect-timeout", "s3.request-timeout", "s3.resolve-region", "s3.retry-strategy-impl"
    ),
    # ---- Google ----
    *_same(
        "gcs.oauth2.token", "gcs.oauth2.token-expires-at", "gcs.project-id", "gcs.service.host"
    ),
    *_same("gcp.bigquery.project-id", "gcp.bigquery.location", types=("bigquery",)),
    *_missing(
        f"{_BY_ENVIRONMENT}GOOGLE_APPLICATION_CREDENTIALS",
        "gcp.bigquery.credential-file", "gcp.bigquery.credentials-info", types=("bigquery",),
    ),
    *_daemon(
        "gcs.access", "gcs.consistency", "gcs.cache-timeout", "gcs.session-kwargs",
        "gcs.version-aware", "gcs.default-bucket-location",
    ),
    *_missing("write gcs.user-project: PROJECT under spark:", "gcs.requester-pays"),
    # ---- Azure ----
    *_same("adls.token", "adls.sas-token."),
    Row(
        "adls.account-name", Use.COMBINED,
        ("adls.auth.shared-key.account.name",), note="with adls.account-key",
    ),
    Row(
        "adls.account-key", Use.COMBINED,
        ("adls.auth.shared-key.account.key",), note="with adls.account-name",
    ),
    Row(
        "adls.sas-token", Use.COMBINED, ("adls.sas-token.ACCOUNT.dfs.core.windows.net",),
        note="with adls.account-name",
    ),
    *_missing(
        f"{_BY_ENVIRONMENT}AZURE_TENANT_ID, AZURE_CLIENT_ID, AZURE_CLIENT_SECRET",
        "adls.tenant-id", "adls.client-id", "adls.client-secret",
    ),
    *_missing(
        "write adls.auth.shared-key.account.name and adls.auth.shared-key.account.key, or "
        "adls.sas-token.HOST, under spark:",
        "adls.connection-string",
    ),
    *_missing(
        "Iceberg's FileIO for Azure has only hosts of Azure, and signs each request",
        "adls.account-host", "adls.anon", "adls.blob-storage-authority",
        "adls.dfs-storage-authority", "adls.blob-storage-scheme", "adls.dfs-storage-scheme",
    ),
    *_missing("write adls.token-credential-provider: CLASS under spark:", "adls.credential"),
    # ---- HDFS ----
    *_missing(
        "write the name node in each location, or spark.hadoop.fs.defaultFS: hdfs://HOST:PORT "
        "under spark:",
        "hdfs.host", "hdfs.port",
    ),
    *_missing(f"{_BY_ENVIRONMENT}HADOOP_USER_NAME", "hdfs.user"),
    *_missing(f"{_BY_ENVIRONMENT}KRB5CCNAME", "hdfs.kerberos_ticket"),
)  # fmt: skip


def find_row(key: str, tags: Collection[str]) -> Row | None:
    """Return the row of a property, for the type of the catalog and the storage."""
    return next(
        (
            row
            for row in ROWS
            if row.fits(key) and (not row.types or not frozenset(tags).isdisjoint(row.types))
        ),
        None,
    )
