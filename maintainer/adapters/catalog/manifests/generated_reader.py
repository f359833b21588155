"""Generates a reader for one writer's schema: straight-line Python that calls PyIceberg's decoder.

The compiled Avro decoder checks almost nothing: with a corrupt length it reads outside its buffer.
Therefore PADDING zero bytes follow every block, and end a truncated number. Every length is checked
before its use. After a jump there is either a read_int, which refuses to start behind the end, or a
check of the position.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from maintainer.adapters.catalog.manifests.skipped_fields import NOTHING_LEARNT, Layout, learn

PADDING: Final = 2048
# So many bytes or integers may follow a positive integer without a check; PADDING covers them.
_READ_UNCHECKED: Final = 1024
_MAX_FIXED_BYTES: Final = 1024
# The slow reader reads files with deeper schemas. Python allows 20 nested loops.
_MAX_DEPTH: Final = 24
_MAX_LINES: Final = 20_000
_LESSONS_A_BLOCK: Final = 2
_MISSES_TO_LEARN: Final = 3  # in a row; a rare layout must not replace the usual layout
_MISSES_TO_GIVE_UP: Final = 64  # in a row; then layouts are not used for the rest of the block
_INTEGERS: Final = ("int", "long", "enum")
_FIXED_WIDTHS: Final = {"boolean": 1, "float": 4, "double": 8}
_UNPACKED: Final = {"boolean": "unpack_boolean", "float": "unpack_float", "double": "unpack_double"}

# (decoder, padded block, bytes in the block, records in the block, sink)
ReadBlock = Callable[[Any, bytes, int, int, Any], None]


class NotGeneratedError(Exception):
    """No fast reader can be generated for the schema; the slow reader is used."""


class Source:
    """The lines of a function that reads `count` records with a total of `limit` bytes."""

    def __init__(self, defined: Mapping[str, Any]) -> None:
        self._defined = defined
        self._lines: list[str] = []
        self._indent = 1
        self._names = 0
        self._depth = 0
        # the types of the fields that are skipped by their layout
        self._laid_out: list[Sequence[Any]] = []
        self._first: list[str] = []  # lines before all others

    def compile(self, **known: Callable[..., object]) -> ReadBlock:
        """Compile the function, which may use the given names.

        For corrupt bytes the function raises any exception, but it never reads outside the block.
        """
        text = "\n".join(
            ("def read_block(decoder, data, limit, count, sink):", *self._first, *self._lines, "")
        )
        scope: dict[str, Any] = {
            f"unpack_{kind}": struct.Struct(form).unpack
            for kind, form in (("boolean", "?"), ("float", "<f"), ("double", "<d"))
        }
        scope |= {
            "from_bytes": int.from_bytes,
            "layouts": [NOTHING_LEARNT] * len(self._laid_out),
            "learn": self._learn,
            **known,
        }
        # The lines were generated here, and contain only numbers from the schema.
        exec(compile(text, "<reader generated from an Avro schema>", "exec"), scope)  # noqa: S102
        made: ReadBlock = scope["read_block"]
        return made

    def add(self, *lines: str) -> None:
        """Append lines at the current indentation."""
        if len(self._lines) > _MAX_LINES:
            raise NotGeneratedError(f"its reader would have more than {_MAX_LINES} lines")
        self._lines += [" " * self._indent + line for line in lines]

    @contextmanager
    def inside(self, line: str) -> Iterator[None]:
        """Begin a compound statement; the lines that are added meanwhile are in its body."""
        self.add(line)
        self._indent += 1
        yield
        self._indent -= 1

    def name(self) -> str:
        """Return the name of a new local variable."""
        self._names += 1
        return f"v{self._names}"

    def resolve(self, schema: Any) -> Any:  # noqa: ANN401 - an Avro schema is any JSON
        """Resolve a type: primitives to names, unions to lists, all others to objects."""
        while isinstance(schema, dict) and not (
            isinstance(schema["type"], str)
            and schema["type"] in {"record", "array", "map", "fixed", "enum"}
        ):
            schema = schema["type"]
        if isinstance(schema, str) and schema in self._defined:
            return self._defined[schema]
        return schema

    def skip(self, schema: Any) -> None:  # noqa: ANN401 - as above
        """Add lines that skip a value."""
        with self._nested():
            self._skip(self.resolve(schema))

    def _skip(self, schema: Any) -> None:  # noqa: ANN401, C901
        match schema:
            case "null":
                self.add("pass")
            case "int" | "long" | {"type": "enum"}:
                self.add("read_int()")
            case "boolean" | "float" | "double":
                self.add(f"skip({_FIXED_WIDTHS[schema]})")
            case "bytes" | "string":
                self._skip_sized("read_int()")
            case {"type": "fixed", "size": size}:
                self.add(f"skip({_bounded(size)})")
            case {"type": "record", "fields": fields}:
                self.add("pass")
                for inner in fields:
                    self.skip(inner["type"])
            case {"type": "array", "items": items}:
                self._skip_repeated([items])
            case {"type": "map", "values": values}:
                self._skip_repeated(["string", values])
            case list() as branches:
                self._branch(branches, self.skip)
            case _:
                raise NotGeneratedError(f"its schema has a type {schema!r}")

    def pass_over(self, schemas: Sequence[Any]) -> None:
        """Add lines that skip adjacent values.

        The values are skipped in one step if they have the layout of an earlier record. Otherwise
        each array or map is skipped separately.
        """
        repeated = [self._is_repeated(schema) for schema in schemas]

        def pass_each() -> None:
            for schema, is_repeated in zip(schemas, repeated, strict=True):
                if is_repeated and len(schemas) > 1:
                    self.pass_over([schema])
                else:
                    self.skip(schema)

        if any(repeated):
            self._pass_by_layout(schemas, pass_each)
        else:
            pass_each()

    def _pass_by_layout(self, schemas: Sequence[Any], otherwise: Callable[[], None]) -> None:
        place = len(self._laid_out)
        self._laid_out.append(schemas)
        start, size, mask, reported, misses, lessons = (self.name() for _ in range(6))
        self._first.append(
            f" {size}, {mask}, {reported} = layouts[{place}]; {misses} = 0; {lessons} = "
            f"{_LESSONS_A_BLOCK}"
        )
        self.add(f"{start} = tell()")
        with self.inside(
            f"if {size} and {start} <= limit - {size} and from_bytes(data[{start}:{start} + "
            f"{size}], 'little') & {mask} == {reported}:"
        ):
            self.add(f"skip({size})", f"{misses} = 0")
        with self.inside("else:"):
            otherwise()
            self.add(f"{misses} += 1")
            with self.inside(f"if {lessons} and ({misses} > {_MISSES_TO_LEARN} or not {size}):"):
                self.add(
                    f"layouts[{place}] = {size}, {mask}, {reported} = learn({place}, "
                    f"data[{start}:tell()])",
                    f"{misses} = 0",
                    f"{lessons} -= 1",
                )
            self.add(f"elif {misses} > {_MISSES_TO_GIVE_UP}: {size} = 0")

    def _is_repeated(self, schema: Any) -> bool:  # noqa: ANN401 - as above
        """Return whether the type contains an array or a map."""
        with self._nested():
            match self.resolve(schema):
                case {"type": "array" | "map"}:
                    return True
                case {"type": "record", "fields": fields}:
                    # A list, not a generator, so that the depth of each field is checked.
                    return any([self._is_repeated(inner["type"]) for inner in fields])  # noqa: C419
                case list() as branches:
                    return any([self._is_repeated(branch) for branch in branches])  # noqa: C419
                case _:
                    return False

    def _learn(self, place: int, data: bytes) -> Layout:
        return learn(data, self._laid_out[place], self.resolve)

    def read(self, schema: Any, target: str) -> None:  # noqa: ANN401 - as above
        """Add lines that assign a value to a variable.

        The value is an int, float, bool, bytes (also for strings) or None.
        """
        with self._nested():
            self._read(self.resolve(schema), target)

    def _read(self, schema: Any, target: str) -> None:  # noqa: ANN401 - as above
        match schema:
            case "null":
                self.add(f"{target} = None")
            case "int" | "long":
                self.add(f"{target} = read_int()")
            case "bytes" | "string":
                length = self.name()
                self.add(f"{length} = read_int()")
                self.add(
                    f"if not 0 <= {length} <= {_READ_UNCHECKED} and not 0 <= {length} <= limit - "
                    f"tell(): raise ValueError({length})"
                )
                self.add(f"{target} = read({length})" + (".decode()" if schema == "string" else ""))
            case "boolean" | "float" | "double":
                self.add(
                    "if tell() > limit: raise ValueError(limit)",
                    f"({target},) = {_UNPACKED[schema]}(read({_FIXED_WIDTHS[schema]}))",
                )
            case {"type": "fixed", "size": size}:
                self.add(
                    "if tell() > limit: raise ValueError(limit)",
                    f"{target} = read({_bounded(size)})",
                )
            case list() as branches:
                self._branch(branches, lambda branch: self.read(branch, target))
            case _:
                raise NotGeneratedError(f"a needed value has the type {schema!r}")

    def read_keyed(self, schema: Any, target: str, key: int) -> None:  # noqa: ANN401 - as above
        """Add lines that assign the value of one key from an array of (number, bytes) pairs.

        Iceberg stores maps in this form. The variable does not change if the key is missing.
        """
        with self._nested():
            match self.resolve(schema):
                case "null":
                    self.add("pass")
                case list() as branches:
                    self._branch(branches, lambda branch: self.read_keyed(branch, target, key))
                case {"type": "array", "items": items}:
                    self._read_pairs(self.resolve(items), target, key)
                case other:
                    raise NotGeneratedError(f"bounds have the type {other!r}")

    def read_structs(self, schema: Any, target: str, names: Sequence[str]) -> None:  # noqa: ANN401
        """Add lines that assign a list: for each struct of an array, the values of these fields."""
        with self._nested():
            match self.resolve(schema):
                case "null":
                    self.add(f"{target} = None")
                case list() as branches:
                    self._branch(branches, lambda branch: self.read_structs(branch, target, names))
                case {"type": "array", "items": items}:
                    self._read_items(self.resolve(items), target, names)
                case other:
                    raise NotGeneratedError(f"structs have the type {other!r}")

    def _read_items(self, item: Any, target: str, names: Sequence[str]) -> None:  # noqa: ANN401
        if not isinstance(item, dict) or item["type"] != "record":
            raise NotGeneratedError(f"the items of an array are not structs but {item!r}")
        count, values = self.name(), {name: self.name() for name in names}
        self.add(f"{target} = []", f"{count} = read_int()")
        with self.inside(f"while {count}:"):
            self.add(f"if {count} < 0:", f" {count} = -{count}", " read_int()")
            self.add(f"if {count} > limit: raise ValueError({count})")
            with self.inside(f"for _ in range({count}):"):
                self.add(f"{' = '.join(values.values())} = None")
                for field in item["fields"]:
                    if field["name"] in values:
                        self.read(field["type"], values[field["name"]])
                    else:
                        self.skip(field["type"])
                self.add(f"{target}.append(({', '.join(values.values())},))")
            self.add(f"{count} = read_int()")

    def _read_pairs(self, pair: Any, target: str, key: int) -> None:  # noqa: ANN401 - as above
        kinds = (
            [self.resolve(field["type"]) for field in pair["fields"]]
            if isinstance(pair, dict) and pair["type"] == "record"
            else []
        )
        if kinds != ["int", "bytes"]:
            raise NotGeneratedError(f"a bound is not a pair of a number and bytes but {kinds}")
        count, found, value = self.name(), self.name(), self.name()
        self.add(f"{count} = read_int()")
        with self.inside(f"while {count}:"):
            self.add(f"if {count} < 0:", f" {count} = -{count}", " read_int()")
            self.add(f"if {count} > limit: raise ValueError({count})")
            with self.inside(f"for _ in range({count}):"):
                self.add(f"{found} = read_int()")
                self._read("bytes", value)
                self.add(f"if {found} == {key}: {target} = {value}")
            self.add(f"{count} = read_int()")

    def _skip_sized(self, length_expression: str) -> None:
        length = self.name()
        self.add(
            f"{length} = {length_expression}",
            f"if {length} > limit or {length} < 0: raise ValueError({length})",
            f"skip({length})",
        )

    def _branch(self, branches: list[Any], handle: Callable[[Any], None]) -> None:
        chosen = self.name()
        self.add(f"{chosen} = read_int()")
        # The last branch is tested first: in Iceberg's files this is the value, and null is rare.
        for position in reversed(range(len(branches))):
            with self.inside(
                f"{'if' if position == len(branches) - 1 else 'elif'} {chosen} == {position}:"
            ):
                handle(branches[position])
        self.add(f"else: raise ValueError({chosen})" if branches else f"raise ValueError({chosen})")

    def _skip_repeated(self, items: list[Any]) -> None:
        """Add lines that skip blocks of items.

        A block begins with the number of its items; after a negative number, its size follows.
        """
        count = self.name()
        self.add(f"{count} = read_int()")
        with self.inside(f"while {count}:"):
            with self.inside(f"if {count} < 0:"):
                self._skip_sized("read_int()")
            self.add(f"elif {count} > limit: raise ValueError({count})")
            with self.inside("else:"):
                self._skip_items(items, count)
            self.add(f"{count} = read_int()")

    def _skip_items(self, items: list[Any], count: str) -> None:
        kinds = self._flatten(items)
        if not kinds:  # items without bytes
            self.add("pass")
            return
        if all(kind in _INTEGERS for kind in kinds):
            self.add(
                f"if {count} <= {_READ_UNCHECKED // len(kinds)}: read_ints({count} * {len(kinds)})"
            )
            self.add("else:", f" for _ in range({count} * {len(kinds)}): read_int()")
            return
        with self.inside(f"for _ in range({count}):"):
            for item in items:
                self.skip(item)
            self.add(
                "if tell() > limit: raise ValueError(limit)"
                if not set(kinds) & {*_INTEGERS, "sized"}
                else "pass"
            )

    def _flatten(self, items: list[Any]) -> list[str]:
        """Split the items into parts: "sized" begins with a number, "fixed" has a fixed width."""
        kinds: list[str] = []
        with self._nested():
            for item in items:
                match self.resolve(item):
                    case "null":
                        continue
                    case "int" | "long" | {"type": "enum"}:
                        kinds.append("int")
                    case "boolean" | "float" | "double" | {"type": "fixed"}:
                        kinds.append("fixed")
                    case {"type": "record", "fields": fields}:
                        kinds += self._flatten([inner["type"] for inner in fields])
                    case _:
                        kinds.append("sized")
        return kinds

    @contextmanager
    def _nested(self) -> Iterator[None]:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise NotGeneratedError(f"its schema is nested deeper than {_MAX_DEPTH}")
        yield
        self._depth -= 1


def _bounded(size: Any) -> int:  # noqa: ANN401 - an Avro schema is any JSON
    if not isinstance(size, int) or not 0 <= size <= _MAX_FIXED_BYTES:
        raise NotGeneratedError(
            f"it has a fixed type of {size!r} bytes, not 0 to {_MAX_FIXED_BYTES}"
        )
    return size
