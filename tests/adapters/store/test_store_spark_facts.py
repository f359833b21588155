from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from maintainer.domain.driver import SparkFacts
from maintainer.ports.store import Store
from tests.adapters.store.values import NOW

FACTS = SparkFacts(
    NOW, "settings", "4.1.4", "2.13.17", "21.0.8", "1.12.0", {"lake": "", "far": "it's \N{SNOWMAN}"}
)


def test_the_newest_facts_of_each_pools_spark_are_kept(store: Store) -> None:
    assert store.spark_facts() == {}
    store.record_spark_facts(FACTS)
    assert store.spark_facts() == {"default": FACTS}
    newer = SparkFacts(NOW + timedelta(hours=1), "others")
    store.record_spark_facts(newer)
    big = replace(FACTS, pool="big")
    store.record_spark_facts(big)
    assert store.spark_facts() == {"big": big, "default": newer}
