import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";

const MANTINE = resolve("node_modules/@mantine/core");
const COMPONENTS = join(MANTINE, "esm/components");

function readSources(): string[] {
  return readdirSync("src", { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file))
    .map((file) => readFileSync(join("src", file), "utf8"));
}

/** The components of Mantine that the page's own modules import. */
function findUsed(): string[] {
  const lists = readSources().flatMap((text) =>
    [...text.matchAll(/import \{([^}]*)\} from "@mantine\/core"/g)].map((found) => found[1] ?? ""),
  );
  const names = lists.flatMap((list) => list.split(",").map((name) => name.trim()));
  return [...new Set(names)].filter((name) => existsSync(join(COMPONENTS, name, `${name}.mjs`)));
}

/** The style sheets of a component, and of the components that it consists of. */
function findSheets(module: string, seen: Set<string>): string[] {
  if (seen.has(module)) return [];
  seen.add(module);
  const sheet = /([A-Za-z]+)\.module\.mjs$/.exec(module)?.[1];
  if (sheet !== undefined) return [`${sheet}.css`];
  const imports = readFileSync(module, "utf8").matchAll(/from "(\.[^"]+)"/g);
  return [...imports]
    .map((found) => resolve(dirname(module), found[1] ?? ""))
    .filter((path) => path.startsWith(COMPONENTS))
    .flatMap((path) => findSheets(path, seen));
}

test("each Mantine component of the page has its style sheet", () => {
  const used = findUsed();
  expect(used).toContain("Button");
  const seen = new Set<string>();
  const sheets = used.flatMap((name) => findSheets(join(COMPONENTS, name, `${name}.mjs`), seen));
  const imported = readFileSync("src/styles/mantine.css", "utf8");
  const missing = [...new Set(sheets)].filter(
    (sheet) =>
      existsSync(join(MANTINE, "styles", sheet)) && !imported.includes(`/styles/${sheet}"`),
  );
  expect(missing).toEqual([]);
});
