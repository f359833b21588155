import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { preview, suggested, versions } from "../../../dev/fixtures/policies";
import type { PolicyLayer } from "../../api/types";
import schema from "../../../../policies/schema.json";
import { show } from "../../testing/render";
import { DraftPanel } from "./DraftPanel";
import { EffectivePanel } from "./EffectivePanel";
import { LayerRow } from "./LayerRow";
import { TrialResult } from "./TrialResult";

const EMPTY_DRAFT = <DraftPanel table="" onChoose={vi.fn()} />;
const ANSWERS: Record<string, unknown> = {
  schema,
  validate: { is_valid: true, problems: [] },
  preview,
  page_views: suggested,
  versions,
  policies: { version: "a", layers: [], problems: [] },
};
const sent: { path: string; body: string }[] = [];

beforeEach(() => {
  sent.length = 0;
  vi.spyOn(globalThis, "fetch").mockImplementation((async (request: Request) => {
    const { pathname, search } = new URL(request.url);
    sent.push({ path: pathname + search, body: await request.text() });
    const answer = ANSWERS[pathname.split("/").at(-1) ?? ""] ?? { items: [], next_cursor: null };
    return Response.json(answer);
  }) as never);
});

afterEach(() => {
  vi.restoreAllMocks();
});

it("a policy file names the rules that it sets, as elsewhere on the page", async () => {
  const values = [{ path: "rules.rewrite_data_files.cooldown", value: "1m", line: 3 }];
  const layer = { name: "a.yaml", tables: ["*"], values } as unknown as PolicyLayer;
  await show(<LayerRow layer={layer} />);
  expect(screen.getByText("Compact data files")).toBeInTheDocument();
  await show(<LayerRow layer={{ ...layer, values: [] }} />);
  expect(screen.getByText("No rule of its own")).toBeInTheDocument();
});

describe("a draft", () => {
  it("is completed at the caret", async () => {
    await show(EMPTY_DRAFT);
    const text = screen.getByRole("textbox", { name: "Policy as YAML" });
    await userEvent.clear(text);
    await userEvent.type(text, "mo");
    await userEvent.click(await screen.findByRole("button", { name: /^mode:/ }));
    expect(text).toHaveValue("mode: ");
    expect(text).toHaveFocus();
    await userEvent.keyboard("{Control>} {/Control}");
    expect(screen.getByRole("button", { name: /^observe/ })).toHaveFocus();
  });

  it("is checked, tried out page by page, and forgotten when it changes", async () => {
    await show(EMPTY_DRAFT);
    await userEvent.click(screen.getByRole("button", { name: "Try out on the fleet" }));
    expect(await screen.findByText("1 table of 40 would change its verdict")).toBeVisible();
    await userEvent.click(screen.getByRole("button", { name: "Try out the next tables" }));
    expect(await screen.findByText("2 tables of 80 would change their verdict")).toBeVisible();
    const tried = sent.filter(({ path }) => path.includes("preview"));
    expect(tried[1]?.path).toContain(`cursor=${preview.next_cursor}`);
    expect(JSON.parse(tried[0]?.body ?? "")).toEqual({
      yaml: expect.stringContaining("tables: lake.sales.*") as string,
    });
    await userEvent.type(screen.getByRole("textbox", { name: "Policy as YAML" }), "#");
    expect(screen.queryByText(/would change/)).toBeNull();
  });

  it("shows the problems of a text that is no policy, and is not tried out", async () => {
    const problem = { source: "candidate.yaml:3", message: "vacuum is not a rule" };
    ANSWERS.validate = { is_valid: false, problems: [problem] };
    await show(EMPTY_DRAFT);
    await userEvent.click(screen.getByRole("button", { name: "Try out on the fleet" }));
    expect(await screen.findByText(/vacuum is not a rule/)).toBeVisible();
    expect(sent.some(({ path }) => path.includes("preview"))).toBe(false);
    ANSWERS.validate = { is_valid: true, problems: [] };
  });
});

describe("a draft for a table", () => {
  it("begins with what the table's history suggests", async () => {
    await show(<DraftPanel table="lake.streaming.page_views" onChoose={vi.fn()} />);
    const text = await screen.findByRole("textbox", { name: "Policy as YAML" });
    expect(text).toHaveValue(suggested.yaml);
    expect(sent.map(({ path }) => path)).toContain(
      "/api/v1/policies/suggested/lake/streaming/page_views",
    );
    await userEvent.type(text, "# mine");
    expect(text).toHaveValue(`${suggested.yaml}# mine`);
  });

  it("is another one when another table is chosen", async () => {
    const choose = vi.fn();
    await show(<DraftPanel table="" onChoose={choose} />);
    const name = screen.getByRole("combobox", { name: "Suggest a policy from the history of" });
    await userEvent.type(name, "lake.streaming.page_views{Enter}");
    expect(choose).toHaveBeenCalledWith("lake.streaming.page_views");
  });
});

describe("the result of a trial", () => {
  it("has each changed verdict with its reason and cost", async () => {
    await show(<TrialResult result={preview} isGoingOn={false} onGoOn={vi.fn()} />);
    const rows = within(screen.getByRole("group", { name: "Changed verdicts" })).getAllByRole(
      "row",
    );
    expect(rows.slice(1).map((row) => row.textContent)).toEqual([
      expect.stringMatching(/page_viewsCompact data files.*Would run1536 small files.*0\.031$/),
      expect.stringMatching(/Expire snapshots.*No such rule.*–$/),
    ]);
    expect(screen.getByText(/0\.031 GB-hours by today’s predictions/)).toHaveTextContent(
      "1 table without a measurement cannot be predicted. 41 tables are concerned",
    );
  });
});

describe("the policy of a table", () => {
  it("needs a table's whole name", async () => {
    await show(<EffectivePanel table="orders" onChoose={vi.fn()} />);
    expect(screen.getByText("No table has this name")).toBeVisible();
  });
});
