import { describe, expect, it } from "vitest";
import schema from "../../../policies/schema.json";
import { complete, type SchemaNode } from "./completion";

function texts(yaml: string, caret = yaml.length): string[] {
  return complete(schema as SchemaNode, yaml, caret).suggestions.map(({ text }) => text.trim());
}

describe("completion of a policy", () => {
  it("offers the keys of a file that begin with what was typed", () => {
    expect(texts("m")).toEqual(["mode:", "min_size:", "max_size:"]);
    expect(texts("tables: a.b.*\nrun")).toEqual(["runs_on:"]);
  });

  it("follows the indentation, over lines that are blank or comments", () => {
    const yaml =
      "rules:\n  expire_snapshots:\n    keep: 3\n\n# of people\n  rewrite_data_files:\n    stra";
    expect(texts(yaml)).toEqual(["strategy:"]);
    expect(texts("rules:\n  rewrite_m")).toEqual(["rewrite_manifests:"]);
    expect(texts("rules:\n  expire_snapshots:\n    keep: 3\nmo")).toEqual(["mode:"]);
  });

  it("follows braces", () => {
    expect(texts("rules:\n  rewrite_manifests:\n    when: {manifest_count")).toEqual([
      "manifest_count_above:",
    ]);
    expect(texts("window: {cron: x, dur")).toEqual(["duration:"]);
  });

  it("offers keys inside the items of a list", () =>
    expect(texts("blackouts:\n  - cron: x\n    dur")).toEqual(["duration:"]));

  it("offers the values of a key, and replaces what was typed of one", () => {
    expect(texts("mode: ")).toEqual(["observe", "enforce"]);
    const { from, suggestions } = complete(schema, "mode: en", 8);
    expect([from, suggestions.map(({ text }) => text)]).toEqual([6, ["enforce"]]);
    expect(texts("owner: ")).toEqual(["true", "false"]);
  });

  it("describes what it offers", () =>
    expect(complete(schema as SchemaNode, "prio", 4).suggestions[0]?.description).not.toBe(""));

  it("offers nothing where the schema knows nothing", () => {
    expect(texts("rules:\n  vacuum:\n    a")).toEqual([]);
    expect(texts("tables: lake")).toEqual([]);
  });

  it("looks at the text before the caret only", () =>
    expect(texts("pri\nmode: observe", 3)).toEqual(["priority:"]));
});
