import type { TablePath } from "../api/types";

/** The levels of a name as they are written, backticks kept: "a.`b.c`.d" -> a, `b.c`, d. */
function splitLevels(text: string): string[] {
  return text.match(/`(?:[^`]|``)*`|[^.`]+/g) ?? [];
}

function unquote(level: string): string {
  return level.startsWith("`") ? level.slice(1, -1).replaceAll("``", "`") : level;
}

/**
 * Splits "catalog.namespace.table"; the namespace keeps its quotes, as the API wants it.
 * Null when a level is missing.
 */
export function locateTable(text: string): TablePath | null {
  const levels = splitLevels(text);
  const [catalog] = levels;
  const name = levels.at(-1);
  if (levels.length < 3 || catalog === undefined || name === undefined) return null;
  return {
    catalog: unquote(catalog),
    namespace: levels.slice(1, -1).join("."),
    table: unquote(name),
  };
}
