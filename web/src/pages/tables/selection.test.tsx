import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import { makeJob, makePlan } from "../../../dev/fixtures/jobs";
import { makeTable } from "../../../dev/fixtures/tables";
import { askEach } from "../../api/bulk";
import { show } from "../../testing/render";
import { SelectionBar } from "./SelectionBar";
import { TableRow } from "./TableRow";

const named = (name: string) => ({ ...makeTable(), name, table: `lake.streaming.${name}` });
const TABLES = ["a", "b", "c", "d", "e", "f"].map(named);

/** A daemon that knows these tables but the refused one; the requests that it got. */
function serve(refused?: string): { path: string; body: unknown }[] {
  const asked: { path: string; body: unknown }[] = [];
  const answer = async (request: Request) => {
    const path = new URL(request.url).pathname.replace("/api/v1/tables/lake/streaming/", "");
    const text = await request.text();
    asked.push({ path, body: text ? JSON.parse(text) : null });
    if (path.startsWith(`${refused}/`))
      return Response.json(
        { type: "about:blank", title: "Not Found", status: 404, detail: "it was dropped" },
        { status: 404, headers: { "content-type": "application/problem+json" } },
      );
    if (path.endsWith("/resume")) return new Response(null, { status: 204 });
    const jobs = path.startsWith("a/") ? [makeJob()] : [];
    return Response.json({ jobs, plan: makePlan(path) });
  };
  vi.spyOn(globalThis, "fetch").mockImplementation(answer as never);
  return asked;
}

const bar = (selected = TABLES, onEnd = vi.fn()) => (
  <SelectionBar selected={selected} shown={300} onSelectShown={vi.fn()} onEnd={onEnd} />
);

afterEach(() => vi.restoreAllMocks());

describe("a request on several tables", () => {
  it("is made once for each, and the refusal of one stops no other", async () => {
    const asked = serve("b");
    const answers = await askEach(TABLES, { verb: "measure" });
    expect(asked.map(({ path }) => path).sort()).toEqual(
      TABLES.map(({ name }) => `${name}/measure`),
    );
    expect(answers.map(({ table }) => table)).toEqual(TABLES.map(({ table }) => table));
    expect(answers.filter(({ isRefused }) => isRefused)).toEqual([
      { table: "lake.streaming.b", words: "it was dropped", isRefused: true },
    ]);
  });

  it("says for each table which jobs it started", async () => {
    const asked = serve();
    await show(bar());
    await userEvent.click(screen.getByRole("button", { name: "Run now…" }));
    expect(await screen.findByText("lake.streaming.f")).toBeVisible();
    expect(asked).toEqual([]);
    await userEvent.click(screen.getByRole("button", { name: "Run now" }));
    expect(await screen.findByText(/^6 tables done/)).toBeVisible();
    await userEvent.click(screen.getByText("Result for each table"));
    expect(screen.getByRole("row", { name: "lake.streaming.a Compact data files" })).toBeVisible();
    expect(
      screen.getByRole("row", { name: "lake.streaming.b Nothing is worth doing" }),
    ).toBeVisible();
  });

  it("pauses with one reason, and shows a refusal at once", async () => {
    const asked = serve("b");
    await show(bar(TABLES.slice(0, 2)));
    await userEvent.click(screen.getByRole("button", { name: "Pause…" }));
    await userEvent.type(await screen.findByRole("textbox", { name: "Reason" }), "backfill");
    await userEvent.click(screen.getByRole("button", { name: "Pause" }));
    expect(await screen.findByText(/1 table done, 1 refused/)).toBeVisible();
    expect(screen.getByRole("row", { name: /b Refused: it was dropped/ })).toBeVisible();
    expect(asked.map(({ path }) => path).sort()).toEqual(["a/pause", "b/pause"]);
    expect(asked[0]?.body).toEqual({ reason: "backfill" });
  });

  it("needs a table, and can be left", async () => {
    const onEnd = vi.fn();
    await show(bar([], onEnd));
    expect(screen.getByText("0 tables selected")).toBeVisible();
    expect(screen.getByRole("button", { name: "Run now…" })).toBeDisabled();
    expect(screen.getByRole("button", { name: "Select the first 100" })).toBeEnabled();
    await userEvent.click(screen.getByRole("button", { name: "Done" }));
    expect(onEnd).toHaveBeenCalledOnce();
  });
});

describe("a row that can be selected", () => {
  const row = (isFull: boolean, toggle = vi.fn()) => (
    <table>
      <tbody>
        <TableRow table={named("a")} selection={{ has: () => false, isFull, toggle }} />
      </tbody>
    </table>
  );

  it("has a box with the full name", async () => {
    const toggle = vi.fn();
    await show(row(false, toggle));
    await userEvent.click(screen.getByRole("checkbox", { name: "Select lake.streaming.a" }));
    expect(toggle).toHaveBeenCalledOnce();
  });

  it("cannot be added to the most that may be selected", async () => {
    await show(row(true));
    expect(screen.getByRole("checkbox")).toBeDisabled();
  });
});
