"""What the store in memory knows of manifests."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime

from maintainer.domain.inventory import ManifestDigest


@dataclass
class FakeDigests:
    """Implements DigestStore for the store that mixes it in."""

    _digests: dict[str, dict[str, tuple[int, ManifestDigest]]] = field(
        default_factory=dict, kw_only=True
    )
    _unfinished: dict[str, datetime] = field(default_factory=dict, kw_only=True)

    def _open(self) -> AbstractContextManager[object]:
        raise NotImplementedError

    def _known_uuids(self) -> Collection[str]:
        raise NotImplementedError

    def digests(
        self, table_uuid: str, paths: Iterable[str], target_bytes: int
    ) -> Mapping[str, ManifestDigest]:
        with self._open():
            known = self._digests.get(table_uuid, {})
            return {
                path: known[path][1]
                for path in paths
                if path in known and known[path][0] == target_bytes
            }

    def record_digests(
        self, table_uuid: str, target_bytes: int, digests: Iterable[ManifestDigest]
    ) -> None:
        with self._open():
            self._unfinished.pop(table_uuid, None)
            known = self._digests.get(table_uuid, {})
            recorded = {digest.path: (target_bytes, digest) for digest in digests}
            usable = {path for path, (target, _) in known.items() if target == target_bytes}
            recalled = {
                path for path, (_, digest) in recorded.items() if digest.entries_read == 0
            } & usable
            self._digests[table_uuid] = {
                path: known[path] if path in recalled else one for path, one in recorded.items()
            }

    def add_digests(
        self, table_uuid: str, target_bytes: int, digests: Iterable[ManifestDigest], at: datetime
    ) -> None:
        with self._open():
            self._unfinished[table_uuid] = at
            self._digests.setdefault(table_uuid, {}).update(
                {digest.path: (target_bytes, digest) for digest in digests}
            )

    def prune_digests(self, before: datetime) -> int:
        with self._open():
            old = {uuid for uuid, at in self._unfinished.items() if at < before}
            for uuid in old:
                del self._unfinished[uuid]
            return sum(len(self._digests.pop(uuid, {})) for uuid in old - set(self._known_uuids()))

    def _drop_digests(self, uuids: Iterable[str]) -> None:
        for uuid in set(uuids) - set(self._known_uuids()):
            self._digests.pop(uuid, None)
