import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import { replicas, settings } from "../../../dev/fixtures/fleet";
import { show } from "../../testing/render";
import { TargetPanel } from "./TargetPanel";
import { ReplicaList, SettingList, SettingsPage } from "./SettingsPage";

afterEach(() => vi.restoreAllMocks());

const answer = (status: number, body: unknown, type = "application/json") =>
  new Response(JSON.stringify(body), { status, headers: { "Content-Type": type } });

/** A daemon that answers the settings so; its replicas are known. */
function stubDaemon(settle: () => Promise<Response>) {
  vi.spyOn(globalThis, "fetch").mockImplementation((request) =>
    new URL((request as Request).url).pathname === "/api/v1/settings"
      ? settle()
      : Promise.resolve(answer(200, replicas)),
  );
}

const cells = () => screen.getAllByRole("cell").map((cell) => cell.textContent);

describe("the settings", () => {
  it("tells what is set from what is a default", async () => {
    await show(<SettingList settings={settings.settings} />);
    expect(screen.getAllByRole("rowheader")[0]).toHaveTextContent("catalogs.lake.type");
    expect(cells().slice(0, 2)).toEqual(["rest", "Set"]);
    expect(screen.getByRole("row", { name: "scan.interval 5m Default" })).toBeInTheDocument();
    expect(screen.getByRole("row", { name: "tracing – Default" })).toBeInTheDocument();
  });

  it("are found by a part of their names", async () => {
    await show(<SettingList settings={settings.settings} />);
    await userEvent.type(screen.getByRole("searchbox", { name: "Search" }), "SCAN.");
    expect(screen.getAllByRole("rowheader").map((name) => name.textContent)).toEqual([
      "scan.interval",
      "scan.workers",
    ]);
    expect(screen.getByRole("status")).toHaveTextContent(`2 of ${settings.settings.length}`);
    await userEvent.type(screen.getByRole("searchbox"), "nothing");
    expect(screen.getByText("No setting has such a name")).toBeInTheDocument();
  });

  it("say that there are none", async () => {
    await show(<SettingList settings={[]} />);
    expect(screen.getByText("This process reports no settings")).toBeInTheDocument();
  });
});

describe("the targets of notifications", () => {
  const answerTest = (items: unknown[]) =>
    vi.spyOn(globalThis, "fetch").mockImplementation(() => Promise.resolve(answer(200, { items })));

  it("say which of them received the test message", async () => {
    const asked = answerTest([
      { name: "mail", is_received: false },
      { name: "ops", is_received: true },
    ]);
    await show(<TargetPanel />);
    await userEvent.click(screen.getByRole("button", { name: "Send a test message" }));
    expect(await screen.findByRole("row", { name: "ops Received" })).toBeVisible();
    expect(screen.getByRole("row", { name: /mail Refused/ })).toBeVisible();
    expect((asked.mock.calls[0]?.[0] as Request).url).toMatch(/\/api\/v1\/notifications\/test$/);
  });

  it("may be none", async () => {
    answerTest([]);
    await show(<TargetPanel />);
    await userEvent.click(screen.getByRole("button", { name: "Send a test message" }));
    expect(await screen.findByText("No target is configured: nothing was sent.")).toBeVisible();
  });
});

describe("the page of the settings", () => {
  it("shows the version, the settings and the replicas with their duties", async () => {
    stubDaemon(() => Promise.resolve(answer(200, settings)));
    await show(<SettingsPage />);
    expect(await screen.findByText(`Version ${settings.version}`)).toBeInTheDocument();
    expect(await screen.findByText("policy status, scan lake")).toBeInTheDocument();
  });

  it("says that it loads", async () => {
    stubDaemon(() => new Promise(() => undefined));
    await show(<SettingsPage />);
    expect(screen.getByText("Loading the settings")).toBeInTheDocument();
  });

  it("gives the daemon's reason where the role does not suffice, and still the replicas", async () => {
    const detail = "this needs the role admin on all tables; ada has the role viewer there";
    const problem = { type: "about:blank", title: "Forbidden", status: 403, detail };
    stubDaemon(() => Promise.resolve(answer(403, problem, "application/problem+json")));
    await show(<SettingsPage />);
    expect(await screen.findByText(detail)).toBeInTheDocument();
    expect(screen.queryByRole("button", { name: "Try again" })).not.toBeInTheDocument();
    expect(await screen.findByText("policy status, scan lake")).toBeInTheDocument();
  });

  it("offers another attempt after an error", async () => {
    const problem = { type: "about:blank", title: "Broken", status: 500, detail: "a fault" };
    stubDaemon(() => Promise.resolve(answer(500, problem, "application/problem+json")));
    await show(<SettingsPage />);
    expect(await screen.findByRole("alert")).toHaveTextContent("a fault");
    stubDaemon(() => Promise.resolve(answer(200, settings)));
    await userEvent.click(screen.getByRole("button", { name: "Try again" }));
    expect(await screen.findByText(`Version ${settings.version}`)).toBeInTheDocument();
  });

  it("says that no replica works", async () => {
    await show(<ReplicaList replicas={[]} />);
    expect(screen.getByText("No replica scans, plans or runs jobs now")).toBeInTheDocument();
  });
});
