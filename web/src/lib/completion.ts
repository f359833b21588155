/** The part of JSON Schema that completion reads. */
export interface SchemaNode {
  $ref?: string;
  $defs?: Record<string, SchemaNode>;
  properties?: Record<string, SchemaNode>;
  items?: SchemaNode;
  anyOf?: SchemaNode[];
  enum?: unknown[];
  const?: unknown;
  examples?: unknown[];
  default?: unknown;
  description?: string;
  type?: string;
}

export interface Suggestion {
  /** What is inserted in place of the text from `from` up to the caret. */
  text: string;
  description: string;
}

export interface Completion {
  from: number;
  suggestions: Suggestion[];
}

const REFERENCE = "#/$defs/";

/** The nodes that a node leads to: references are followed, alternatives are listed. */
function expand(node: SchemaNode, root: SchemaNode): SchemaNode[] {
  if (node.$ref?.startsWith(REFERENCE)) {
    const found = root.$defs?.[node.$ref.slice(REFERENCE.length)];
    return found ? expand(found, root) : [];
  }
  if (node.anyOf) return node.anyOf.flatMap((each) => expand(each, root));
  return node.items ? [node, ...expand(node.items, root)] : [node];
}

function nodesAt(path: string[], root: SchemaNode): SchemaNode[] {
  return path.reduce<SchemaNode[]>(
    (nodes, key) =>
      nodes.flatMap((node) => {
        const inner = node.properties?.[key];
        return inner ? expand(inner, root) : [];
      }),
    expand(root, root),
  );
}

function indentOf(line: string): number {
  return /^[\s-]*/.exec(line)?.[0].length ?? 0;
}

const isWritten = (line: string) => /^[\s-]*[^\s#-]/.test(line);

/** The keys that enclose a line, by its indentation. */
function enclosing(lines: string[], indent: number): string[] {
  const path: string[] = [];
  let inner = indent;
  for (const line of lines.toReversed()) {
    const at = indentOf(line);
    if (at >= inner || !isWritten(line)) continue;
    const key = /^[\s-]*([\w.-]+):/.exec(line)?.[1];
    if (key === undefined) continue;
    path.unshift(key);
    inner = at;
  }
  return path;
}

function valuesOf(nodes: SchemaNode[]): string[] {
  const values = nodes.flatMap((node) => [
    ...(node.enum ?? []),
    ...(node.const === undefined ? [] : [node.const]),
    ...(node.type === "boolean" ? [true, false] : []),
    ...(node.examples ?? []),
    ...(node.default === undefined || typeof node.default === "object" ? [] : [node.default]),
  ]);
  return [...new Set(values.map(String))];
}

/** The keys or values that the schema allows at the caret of a YAML text. */
export function complete(root: SchemaNode, text: string, caret: number): Completion {
  const lines = text.slice(0, caret).split("\n");
  const line = lines.pop() ?? "";
  const path = enclosing(lines, indentOf(line));
  // In {a: 1, b: the keys before a brace enclose what follows it.
  const parts = line.replace(/^[\s-]*/, "").split("{");
  for (const part of parts.slice(0, -1)) {
    const key = /([\w.-]+):\s*$/.exec(part)?.[1];
    if (key !== undefined) path.push(key);
  }
  const item = (parts.at(-1) ?? "").split(",").at(-1)?.trimStart() ?? "";
  const [, key, value] = /^([\w.-]+):\s*(.*)$/.exec(item) ?? [];
  if (key !== undefined && value !== undefined) {
    const nodes = nodesAt([...path, key], root);
    const description = nodes.find((node) => node.description)?.description ?? "";
    const suggestions = valuesOf(nodes)
      .filter((each) => each.startsWith(value))
      .map((each) => ({ text: each, description }));
    return { from: caret - value.length, suggestions };
  }
  const suggestions = nodesAt(path, root).flatMap((node) =>
    Object.entries(node.properties ?? {})
      .filter(([name]) => name.startsWith(item))
      .map(([name, inner]) => ({
        text: `${name}: `,
        description:
          inner.description ??
          expand(inner, root).find((each) => each.description)?.description ??
          "",
      })),
  );
  return { from: caret - item.length, suggestions };
}
