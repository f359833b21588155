"""A directory of policy files; a changed file is read again."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from os import stat_result
from pathlib import Path
from stat import S_ISREG
from threading import Lock

from maintainer.adapters.policies.document import MAXIMUM_BYTES, describe_excess
from maintainer.adapters.policies.reading import parse_policy, read_table_properties
from maintainer.domain.policy import PolicyLayer, PolicyProblem, PolicySet

MAXIMUM_FILES = 5000
MAXIMUM_SWAPS = 5  # attempts to read, if the directory is swapped during each of them
# Kubernetes mounts a ConfigMap as links through this link, and swaps it when the content changes.
SWAPPED = "..data"
_SUFFIXES = {".yaml", ".yml"}
VERSION_DIGITS = 12

_Stamp = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _File:
    """The result of reading one file with this stamp.

    It has the last valid layer and the problems of the current text.
    """

    stamp: _Stamp | None  # None: unreadable, so the next read tries again
    layer: PolicyLayer | None
    problems: tuple[PolicyProblem, ...]


@dataclass(frozen=True, slots=True)
class _Look:
    """The result of one read of the directory; it is consistent even if links are swapped."""

    files: dict[str, _File]
    problems: tuple[PolicyProblem, ...]


class PolicyDirectory:
    """The policies of ``*.yaml`` and ``*.yml`` in one directory, without subdirectories.

    Hidden files are ignored. A directory that is swapped as a whole, behind a link or as a mounted
    ConfigMap, is read as a whole: files of the old and the new directory are never mixed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._title = path.name or path.resolve().name
        self._files: dict[str, _File] = {}
        self._directory_problems: tuple[PolicyProblem, ...] = ()
        self._set: PolicySet | None = None
        self._lock = Lock()

    def current(self) -> PolicySet:
        """Return the layers in force; check every file's stamp and read only changed files."""
        with self._lock:
            is_changed = self._look()
            if self._set is None or is_changed:
                self._set = self._build()
            return self._set

    def _look(self) -> bool:
        looked = self._read_all()
        is_changed = looked.problems != self._directory_problems or looked.files != self._files
        self._files, self._directory_problems = looked.files, looked.problems
        return is_changed

    def _read_all(self) -> _Look:
        """Read the files of the directory.

        If it is unreadable, or swapped more often than MAXIMUM_SWAPS, the known files are kept.
        """
        reason = f"it was swapped {MAXIMUM_SWAPS} times while it was read"
        for _ in range(MAXIMUM_SWAPS):
            try:
                place = self._find_place()
                looked = self._read_place(place)
                if self._find_place() == place:
                    return looked
            except OSError as error:
                # The directory may just be swapped, so the layers are kept.
                reason = error.strerror or str(error)
        kept = "its last good files stay" if self._files else "only the built-in default is"
        reason = f"the policy directory {self._path} cannot be read ({reason}); {kept} in force"
        return _Look(self._files, (PolicyProblem(self._title, reason),))

    def _find_place(self) -> Path:
        """Return the real directory of the files, with every link in the path followed once."""
        place = self._path.resolve(strict=True)
        swapped = place / SWAPPED
        return swapped.resolve(strict=True) if swapped.is_symlink() else place

    def _read_place(self, place: Path) -> _Look:
        paths = sorted(
            path
            for path in place.iterdir()
            if path.suffix in _SUFFIXES and not path.name.startswith(".")
        )
        problems: tuple[PolicyProblem, ...] = ()
        if len(paths) > MAXIMUM_FILES:
            reason = (
                f"{len(paths)} policy files, over the limit of {MAXIMUM_FILES}; those after "
                f"{paths[MAXIMUM_FILES - 1].name} are not used"
            )
            problems = (PolicyProblem(self._title, reason),)
        return _Look(
            {
                path.name: file
                for path in paths[:MAXIMUM_FILES]
                if (file := self._read(path)) is not None
            },
            problems,
        )

    def _read(self, path: Path) -> _File | None:
        """Return the known file, or read it if its stamp differs; None if it is not a file."""
        known = self._files.get(path.name)
        last_good = known.layer if known else None
        source = f"{self._title}/{path.name}"
        try:
            status = path.stat()
            if not S_ISREG(status.st_mode):
                return None
            stamp = _stamp(status)
            if known is not None and known.stamp == stamp:
                return known
            with path.open("rb") as file:
                content = file.read(MAXIMUM_BYTES + 1)
            excess = describe_excess(max(status.st_size, len(content)))
            if excess is not None:
                return _File(stamp, last_good, (PolicyProblem(source, f"the file {excess}"),))
            text = content.decode("utf-8")
        except FileNotFoundError as error:
            if not path.is_symlink():
                return None  # the file was removed after the directory was listed
            return _File(
                None, last_good, (PolicyProblem(source, f"cannot be read: {error.strerror}"),)
            )
        except OSError as error:
            return _File(
                None,
                last_good,
                (PolicyProblem(source, f"cannot be read: {error.strerror or error}"),),
            )
        except UnicodeDecodeError as error:
            return _File(
                None,
                last_good,
                (
                    PolicyProblem(
                        source,
                        f"is not UTF-8 text: byte 0x{error.object[error.start]:02x} at position "
                        f"{error.start}",
                    ),
                ),
            )
        parsed = parse_policy(text, path.name, source)
        return (
            _File(stamp, parsed, ())
            if isinstance(parsed, PolicyLayer)
            else _File(stamp, last_good, parsed)
        )

    def _build(self) -> PolicySet:
        layers = tuple(file.layer for file in self._files.values() if file.layer is not None)
        problems = self._directory_problems + tuple(
            problem for file in self._files.values() for problem in file.problems
        )
        return PolicySet(layers, problems, digest_layers(layers), read_table_properties)


def _stamp(status: stat_result) -> _Stamp:
    # With ctime, because an editor or `cp -p` may keep mtime and size of a changed file.
    return (status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino, status.st_dev)


def digest_layers(layers: tuple[PolicyLayer, ...]) -> str:
    """Return the version of these layers; the same content has the same version."""
    digest = sha256()
    for layer in layers:
        values = sorted((path, repr(setting.value)) for path, setting in layer.settings.items())
        digest.update(
            repr((layer.name, [pattern.text for pattern in layer.tables], values)).encode()
        )
    return digest.hexdigest()[:VERSION_DIGITS]
