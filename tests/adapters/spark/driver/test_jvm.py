from __future__ import annotations

import re
from types import SimpleNamespace

from maintainer.adapters.spark.driver.jvm import drop_cluster_defaults


class Settings(dict[str, str]):
    """Hadoop's Configuration, as far as it is asked."""

    def getValByRegex(self, pattern: str) -> SimpleNamespace:  # noqa: N802 - Java's name
        return SimpleNamespace(keySet=lambda: [name for name in self if re.search(pattern, name)])

    def unset(self, name: str) -> None:
        del self[name]


JAVA = SimpleNamespace(
    lang=SimpleNamespace(String=SimpleNamespace(join=lambda glue, names: glue.join(names)))
)


def test_defaults_of_clusters_go_and_everything_else_stays() -> None:
    settings = Settings(
        {
            "yarn.acl": "1",
            "mapreduce.map.memory.mb": "2",
            "mapred.child": "3",
            "fs.s3a.endpoint": "4",
            "dfs.replication": "5",
            "io.yarn.x": "6",
        }
    )
    assert drop_cluster_defaults(JAVA, settings, {}) == 3
    assert set(settings) == {"fs.s3a.endpoint", "dfs.replication", "io.yarn.x"}


def test_what_was_chosen_stays() -> None:
    settings = Settings({"yarn.acl": "1", "mapreduce.map.memory.mb": "2"})
    assert (
        drop_cluster_defaults(
            JAVA,
            settings,
            {"spark.hadoop.mapreduce.map.memory.mb": "2", "spark.ui.enabled": "false"},
        )
        == 1
    )
    assert set(settings) == {"mapreduce.map.memory.mb"}
