"""The checks of `maintainer doctor` on a catalog: the storage of its tables, and Spark's jars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from maintainer.adapters.catalog.reader import MetadataReader
from maintainer.adapters.catalog.trial import Trial
from maintainer.adapters.clock import SystemClock
from maintainer.adapters.spark.catalogs import jars_of_location, needed_jars
from maintainer.adapters.spark.jars import default_directory
from maintainer.adapters.spark.pins import SETS
from maintainer.adapters.spark.prerequisites import Finding
from maintainer.app import spark_catalogs
from maintainer.domain.location import Aliases
from maintainer.settings import Settings


def open_trials(settings: Settings, reader: MetadataReader) -> dict[str, Trial]:
    """Return a trial for each catalog, which has not begun."""
    return {
        name: Trial(
            name,
            catalog.properties,
            Aliases(tuple(catalog.locations.items())),
            reader,
            SystemClock(),
        )
        for name, catalog in settings.catalogs.items()
    }


def try_catalog(settings: Settings, name: str, trial: Trial) -> Iterator[Finding]:
    """Yield what works and what fails, and then the jars that jobs on the found tables lack."""
    what = f"catalog {name}"
    for is_fine, sentence in trial.run():
        yield what, is_fine, sentence
    for sentence in find_missing_jars(settings, name, trial.locations):
        yield what, False, sentence


def find_missing_jars(settings: Settings, name: str, locations: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each set of jars that a pool lacks; pools with an image are left out."""
    spark = spark_catalogs(settings)[0].get(name)
    if spark is None:  # another finding says why Spark cannot use this catalog
        return
    sets = needed_jars(spark).union(*(jars_of_location(place, spark) for place in locations))
    for pool_name, pool in settings.spark.every_pool.items():
        if pool.kubernetes is not None:  # the pool's image has the jars
            continue
        directory = pool.jars_dir or default_directory()
        for one in sorted(sets):
            missing = [
                jar.file_name for jar in SETS[one] if not (directory / jar.file_name).is_file()
            ]
            if missing:
                yield (
                    f"cannot run jobs in pool {pool_name}: jar {', '.join(missing)} is missing in "
                    f"{directory}. To fix: maintainer jars fetch --with {one}"
                )
