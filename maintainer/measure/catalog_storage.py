"""The storage of each catalog: the profiles in use, and the load of its name services."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from maintainer.domain.health import TableHealth
from maintainer.measure.impact import ImpactModels, Storage, StorageProfile
from maintainer.measure.name_node import (
    NameNodeLoad,
    NameService,
    load_name_node,
    name_service,
    sum_loads,
)


@dataclass(frozen=True, slots=True)
class CatalogStorage:
    """The storage of one catalog, by its measured tables.

    A catalog without measured tables has the storage of its settings, if they name the profile.
    """

    catalog: str
    storages: tuple[Storage, ...]  # one for each kind of storage
    name_services: tuple[NameService, ...]  # of the tables on HDFS, by name


def describe_storage(
    healths: Iterable[TableHealth], models: ImpactModels, catalogs: Sequence[str]
) -> tuple[CatalogStorage, ...]:
    """The storage of each of these catalogs, in their order."""
    storages: dict[str, set[Storage]] = defaultdict(set)
    loads: dict[str, list[tuple[str, NameNodeLoad | None]]] = defaultdict(list)
    for health in healths:
        name = health.table.catalog
        storage = models.of(name).at(health.location)
        storages[name].add(storage)
        if storage.profile is StorageProfile.HDFS:
            loads[name].append((name_service(health.location), load_name_node(health)))
    for name in catalogs:
        if models.of(name).profile is not None:
            storages[name].add(models.of(name).at(""))
    return tuple(
        CatalogStorage(
            name,
            tuple(sorted(storages[name], key=lambda storage: storage.profile)),
            sum_loads(loads[name]),
        )
        for name in catalogs
    )
