"""The pinned jars: jars for every driver, and a set of jars for each kind of storage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from re import compile as compile_regex

_COORDINATE = compile_regex(r"([\w.-]+):([\w.-]+):([\w.-]+)@([0-9a-f]{64})")


@dataclass(frozen=True, slots=True)
class Jar:
    """One pinned jar; a file with another SHA-256 is refused."""

    group: str
    artifact: str
    version: str
    sha256: str

    @classmethod
    def parse(cls, text: str) -> Jar | None:
        """Read ``GROUP:ARTIFACT:VERSION@SHA256``; None for any other text."""
        found = _COORDINATE.fullmatch(text)
        return cls(*found.groups()) if found is not None else None

    @property
    def file_name(self) -> str:
        return f"{self.artifact}-{self.version}.jar"

    @property
    def coordinate(self) -> str:
        return f"{self.group}:{self.artifact}:{self.version}"

    def __str__(self) -> str:
        return f"{self.coordinate}@{self.sha256}"


def _jar(text: str) -> Jar:
    found = Jar.parse(text)
    if found is None:
        raise ValueError(text)
    return found


# Iceberg's runtime by Spark's minor version, for the Scala version of the pyspark package. The
# newest is last.
RUNTIMES = {
    "3.5": _jar(
        "org.apache.iceberg:iceberg-spark-runtime-3.5_2.12:1.12.0"
        "@8dd8c90e54ed1a20f2461309d047a255ee56382eb7c0a46162b27a4936fd86dc"
    ),
    "4.1": _jar(
        "org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0"
        "@3123c3798af642dd537230923548e013ef41cc28b6626e5225808cf5670a0f82"
    ),
}
# The drivers of the databases of SQL catalogs, by the name in their JDBC addresses.
DATABASES: Mapping[str, Jar] = {
    "sqlite": _jar(
        "org.xerial:sqlite-jdbc:3.54.1.0"
        "@f8dce420a6016278497f4f0560f65602b9db858de141b541cf91a4644ebe4639"
    ),
    "postgresql": _jar(
        "org.postgresql:postgresql:42.7.14"
        "@73914527305a40cce504b0d3d90b23caf565136912d607ae8ae7c5895512332c"
    ),
}
# The jars that Iceberg's classes for a storage need. The runtime has these classes, but not the
# libraries of the clouds. A bundle has only a library, so a bundle of an older Iceberg works too.
SETS: Mapping[str, tuple[Jar, ...]] = {
    "aws": (
        _jar(
            "org.apache.iceberg:iceberg-aws-bundle:1.12.0"
            "@dd7e49ffa4ac9b215bed846581991259e3aec9bb2fa08d6cec029c46cd66d957"
        ),
    ),
    "gcp": (
        _jar(
            "org.apache.iceberg:iceberg-gcp-bundle:1.11.0"
            "@d9248fc76d94d232e153bf760631229cd3b7c6bc3b20f47d4b2caffe011a8a2f"
        ),
    ),
    "azure": (
        _jar(
            "org.apache.iceberg:iceberg-azure-bundle:1.10.0"
            "@f143be94b94bb380e76d1c45ee9a63e143f4a7f813c6aa1ed72f5bfd44f52d05"
        ),
    ),
    "aliyun": (
        _jar(
            "com.aliyun.oss:aliyun-sdk-oss:3.18.1"
            "@6a76bcf1088538bdaa0c21d48f4c3cbe64221f3f85e113117a2ac83d38dc328e"
        ),
        _jar(
            "org.jdom:jdom2:2.0.6.1"
            "@0b20f45e3a0fd8f0d12cdc5316b06776e902b1365db00118876f9175c60f302c"
        ),
        _jar(
            "javax.xml.bind:jaxb-api:2.3.1"
            "@88b955a0df57880a26a74708bc34f74dcaf8ebf4e78843a28b50eae945732b06"
        ),
    ),
    "hdfs": (),  # Spark contains Hadoop's client
}
