"""YAML as plain data with the line of every value, and with all defects, not only the first."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from re import compile as compile_regex

import yaml

from maintainer.domain.errors import InvalidValueError

MAXIMUM_BYTES = 64 * 1024  # in one policy text
MAXIMUM_VALUES = 5_000  # values with anchors expanded: a few nested lines can expand to billions
MAXIMUM_DEPTH = 20

# Only the literals of YAML 1.2: in YAML 1.1 a table named "no" would be false, and 1:30 would be
# 90.
_WORDS: Mapping[str, bool | None] = {
    "true": True,
    "True": True,
    "false": False,
    "False": False,
    "null": None,
    "~": None,
    "": None,
}
_INTEGER = compile_regex(r"[-+]?(?:0|[1-9][0-9]{0,17})")
_FLOAT = compile_regex(r"[-+]?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,18})?(?:[eE][-+]?[0-9]{1,2})?")
# The tags that the base loader gives to untagged nodes.
_TAGS = {"tag:yaml.org,2002:map", "tag:yaml.org,2002:seq", "tag:yaml.org,2002:str"}

Path = tuple[str | int, ...]
Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Defect:
    """An error at a line of a text (1 is the first; None: the text as a whole)."""

    line: int | None
    message: str
    path: Path = ()


@dataclass(slots=True)
class Document:
    """A YAML text as plain data.

    ``texts`` has each scalar as written, before a variable in it was replaced.
    """

    value: dict[str, object] = field(default_factory=dict)
    lines: dict[Path, int] = field(default_factory=dict)
    texts: dict[Path, str] = field(default_factory=dict)
    # the scalars with replaced variables, after the replacement
    expanded: dict[Path, str] = field(default_factory=dict)
    defects: list[Defect] = field(default_factory=list)

    @property
    def is_broken(self) -> bool:
        """Return True if the whole text is unreadable, so that its keys are unknown."""
        return bool(self.defects) and not self.lines

    def line(self, path: Path) -> int:
        """Return the line of the key or item at the path, or of its nearest known ancestor."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1)


def resolve_scalar(text: str) -> Scalar:
    """Return the value of an unquoted scalar: true, false, null, a decimal number, or the text."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    return float(text) if _FLOAT.fullmatch(text) else text


def write_path(path: Path) -> str:
    """Write a path: ``rules.expire_snapshots.keep`` or ``tables[2]`` (the first item is 1)."""
    text = ""
    for part in path:
        text += f"[{part + 1}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def describe_excess(size: int, limit: int = MAXIMUM_BYTES) -> str | None:
    """Describe a text of too many bytes; None if the size is within the limit."""
    return f"has {size} bytes, over the limit of {limit}" if size > limit else None


def read_document(
    text: str, expand: Callable[[str], str] | None = None, limit: int = MAXIMUM_BYTES
) -> Document:
    """Read one YAML mapping.

    ``expand`` rewrites each scalar value, and raises InvalidValueError if it cannot.
    """
    document = Document()
    excess = describe_excess(len(text.encode("utf-8", "surrogatepass")), limit)
    if excess is not None:
        document.defects.append(Defect(None, f"the file {excess}"))
        return document
    try:
        nodes = list(_compose(text))
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        document.defects.append(
            Defect(
                mark.line + 1 if mark else None, f"not valid YAML: {error.problem or error.context}"
            )
        )
        return document
    except yaml.reader.ReaderError as error:
        document.defects.append(
            Defect(
                text.count("\n", 0, error.position) + 1,
                f"not valid YAML: the character U+{error.character:04X} is not allowed",
            )
        )
        return document
    except _BoundError as error:
        document.defects.append(Defect(None, str(error)))
        return document
    if len(nodes) > 1:
        document.defects.append(
            Defect(
                nodes[1].start_mark.line + 1,
                "a second YAML document begins here; write one document per file",
            )
        )
    if nodes and not _is_empty(nodes[0]):
        _Walk(document, expand).read_root(nodes[0])
    document.defects.sort(key=lambda defect: defect.line or 0)
    return document


class _BoundError(Exception):
    """A text exceeds a bound."""


class _BoundedLoader(yaml.BaseLoader):
    """Stops at a bound while reading: composing all nodes first would take seconds and memory."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._nodes = 0
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        self._nodes += 1
        self._depth += 1
        if self._nodes > 2 * MAXIMUM_VALUES + 1:  # each value has a key, and there is the root
            raise _BoundError(f"the file holds more than {MAXIMUM_VALUES} values")
        if self._depth > MAXIMUM_DEPTH + 1:
            raise _BoundError(f"values are nested deeper than {MAXIMUM_DEPTH} levels")
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


def _compose(text: str) -> Iterator[yaml.Node]:
    loader = _BoundedLoader(text)
    try:
        while loader.check_node():
            node = loader.get_node()
            if node is not None:
                yield node
    finally:
        loader.dispose()


def _is_empty(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.value == "" and node.style is None


@dataclass(slots=True)
class _Walk:
    """One pass over a document's nodes, which adds nothing after a bound is exceeded."""

    document: Document
    expand: Callable[[str], str] | None
    values: int = 0
    is_over: bool = False

    def read_root(self, node: yaml.Node) -> None:
        if not isinstance(node, yaml.MappingNode):
            self._report(node, (), "the file must hold keys and values, like `mode: observe`")
            return
        self.document.lines[()] = node.start_mark.line + 1
        self.document.value = self._read_mapping(node, ())

    def _report(self, node: yaml.Node, path: Path, message: str) -> None:
        self.document.defects.append(Defect(node.start_mark.line + 1, message, path))

    def _read(self, node: yaml.Node, path: Path) -> object:
        self.values += 1
        if self.is_over or self._passes_bound(node, path):
            return None
        if node.tag not in _TAGS:
            self._report(node, path, f"the tag {node.tag!r} is not supported")
        elif isinstance(node, yaml.MappingNode):
            return self._read_mapping(node, path)
        elif isinstance(node, yaml.SequenceNode):
            return self._read_sequence(node, path)
        elif isinstance(node, yaml.ScalarNode):
            return self._read_scalar(node, path)
        return None

    def _passes_bound(self, node: yaml.Node, path: Path) -> bool:
        if self.values > MAXIMUM_VALUES:
            self._report(
                node,
                path,
                f"the file has more than {MAXIMUM_VALUES} values after its anchors are followed",
            )
        elif len(path) > MAXIMUM_DEPTH:
            self._report(node, path, f"values are nested deeper than {MAXIMUM_DEPTH} levels")
        else:
            return False
        self.is_over = True
        return True

    def _read_mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, object]:
        mapping: dict[str, object] = {}
        for key_node, value_node in node.value:
            key = key_node.value if isinstance(key_node, yaml.ScalarNode) else None
            if key is None:
                self._report(key_node, path, "a key must be plain text")
                continue
            key_path = (*path, key)
            if key_path in self.document.lines:
                self._report(
                    key_node,
                    key_path,
                    f"key {key!r} is written twice; the first is on line "
                    f"{self.document.lines[key_path]}",
                )
                continue
            if key == "<<" and key_node.style is None:
                self._report(
                    key_node, key_path, "merge keys (<<) are not supported; write the values out"
                )
                continue
            self.document.lines[key_path] = key_node.start_mark.line + 1
            value = self._read(value_node, key_path)
            if value is not None:
                mapping[key] = value
        return mapping

    def _read_sequence(self, node: yaml.SequenceNode, path: Path) -> list[object]:
        items: list[object] = []
        for index, item_node in enumerate(node.value):
            item_path = (*path, index)
            self.document.lines[item_path] = item_node.start_mark.line + 1
            items.append(self._read(item_node, item_path))
        return items

    def _read_scalar(self, node: yaml.ScalarNode, path: Path) -> Scalar:
        text = str(node.value)
        self.document.texts[path] = text
        if self.expand is not None:
            try:
                expanded = self.expand(text)
            except InvalidValueError as error:
                self._report(node, path, f"{write_path(path)}: {error}")
                return None
            if expanded != text:
                self.document.expanded[path] = expanded
                # Also in quotes, because YAML needs quotes around ${NAME} inside braces.
                value = resolve_scalar(expanded)
                return expanded if value is None else value
        value = resolve_scalar(text) if node.style is None else text
        if value is None:
            self._report(node, path, f"{write_path(path)} has no value; write one or leave it out")
        return value
