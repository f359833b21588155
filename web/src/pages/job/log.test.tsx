import { act, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { makeJob, makeLog } from "../../../dev/fixtures/jobs";
import { addPiece, MAX_LINES, NO_LOG } from "../../api/log";
import type { JobLog } from "../../api/types";
import { show } from "../../testing/render";
import { DriverFacts } from "./DriverFacts";
import { LogPanel } from "./LogPanel";

/** A stream whose messages the test sends. */
class FakeSource {
  static opened: FakeSource[] = [];
  static readonly CLOSED = 2;
  readyState = 1;
  onopen?: () => void;
  onmessage?: (message: { data: string }) => void;
  onerror?: () => void;
  end?: (message: { data: string }) => void;
  readonly url: string;

  constructor(url: string) {
    this.url = url;
    FakeSource.opened.push(this);
  }

  addEventListener(_name: string, listener: (message: { data: string }) => void) {
    this.end = listener;
  }

  close() {
    this.readyState = FakeSource.CLOSED;
  }
}

function newest(): FakeSource {
  const source = FakeSource.opened.at(-1);
  if (!source) throw new Error("nothing was opened");
  return source;
}

function tell(piece: JobLog, what: "onmessage" | "end" = "onmessage") {
  act(() => newest()[what]?.({ data: JSON.stringify(piece) }));
}

beforeEach(() => {
  FakeSource.opened = [];
  vi.stubGlobal("EventSource", FakeSource);
});

afterEach(() => {
  vi.restoreAllMocks();
});

describe("pieces of a log", () => {
  it("follow each other, and what was sent twice counts once", () => {
    const first = addPiece(NO_LOG, makeLog({ text: "one\ntwo\n", state: "growing" }));
    const again = addPiece(first, makeLog({ text: "two\nthree\n", start: 4 }));
    expect(again).toEqual({
      lines: ["one", "two", "three"],
      isCut: false,
      next: 14,
      state: "complete",
    });
    expect(addPiece(again, makeLog({ text: "", start: 14 })).lines).toHaveLength(3);
  });

  it("keep empty lines", () => {
    expect(addPiece(NO_LOG, makeLog({ text: "one\n\ntwo\n" })).lines).toEqual(["one", "", "two"]);
  });

  it("are cut where the daemon keeps no older lines, and at the most lines that are shown", () => {
    expect(addPiece(NO_LOG, makeLog({ text: "late\n", start: 900 })).isCut).toBe(true);
    const many = Array.from({ length: MAX_LINES + 5 }, (_, index) => `line ${index}\n`).join("");
    const long = addPiece(NO_LOG, makeLog({ text: many }));
    expect(long.isCut).toBe(true);
    expect(long.lines).toHaveLength(MAX_LINES);
    expect(long.lines.at(-1)).toBe(`line ${MAX_LINES + 4}`);
  });
});

describe("the log panel", () => {
  it("shows the lines as they come, until the log is complete", async () => {
    await show(<LogPanel jobId="m-1" />);
    expect(newest().url).toBe("/api/v1/jobs/m-1/log?since=0");
    expect(screen.getByText("No lines yet")).toBeVisible();
    act(() => newest().onopen?.());
    expect(screen.getByText("live")).toBeVisible();
    tell(makeLog({ text: "one\n", state: "growing" }));
    tell(makeLog({ text: "two\n", start: 4, state: "growing" }));
    expect(screen.getByRole("log", { name: "Driver log" })).toHaveTextContent(/^one two$/);
    const download = screen.getByRole("link", { name: "Download" });
    expect(download).toHaveAttribute("href", "/api/v1/jobs/m-1/log");
    expect(download).toHaveAttribute("download", "m-1.log");
    tell(makeLog({ text: "", start: 8 }), "end");
    expect(screen.getByText("complete")).toBeVisible();
    expect(screen.queryByRole("button", { name: "Pause" })).toBeNull();
    expect(FakeSource.opened).toHaveLength(1);
  });

  it("asks for nothing while it is paused, and goes on where it stopped", async () => {
    await show(<LogPanel jobId="m-1" />);
    tell(makeLog({ text: "one\n", state: "growing" }));
    const first = newest();
    await userEvent.click(screen.getByRole("button", { name: "Pause" }));
    expect(first.readyState).toBe(FakeSource.CLOSED);
    expect(screen.getByText("paused")).toBeVisible();
    expect(screen.getByRole("log")).toHaveTextContent("one");
    await userEvent.click(screen.getByRole("button", { name: "Follow" }));
    expect(newest().url).toBe("/api/v1/jobs/m-1/log?since=4");
  });

  it("asks for nothing while nobody can see the page", async () => {
    const state = vi.spyOn(document, "visibilityState", "get").mockReturnValue("hidden");
    await show(<LogPanel jobId="m-1" />);
    act(() => void document.dispatchEvent(new Event("visibilitychange")));
    expect(FakeSource.opened.at(-1)?.readyState ?? FakeSource.CLOSED).toBe(FakeSource.CLOSED);
    state.mockReturnValue("visible");
    act(() => void document.dispatchEvent(new Event("visibilitychange")));
    expect(newest().readyState).toBe(1);
  });

  it("says when no log was kept, and when the connection is lost for good", async () => {
    await show(<LogPanel jobId="m-1" />);
    newest().readyState = FakeSource.CLOSED;
    act(() => newest().onerror?.());
    expect(screen.getByText("connection lost; reload to see more")).toBeVisible();
    tell(makeLog({ text: "", state: "none" }), "end");
    expect(screen.getByText("No log of this job was kept")).toBeVisible();
    expect(screen.queryByRole("link", { name: "Download" })).toBeNull();
  });

  it("says that older lines are left out", async () => {
    await show(<LogPanel jobId="m-1" />);
    tell(makeLog({ text: "late\n", start: 900, state: "growing" }));
    expect(screen.getByText(/Older lines are left out/)).toBeVisible();
  });
});

describe("the driver of a job", () => {
  const { driver } = makeJob();
  if (!driver) throw new Error("the fixture has no driver");

  it("is shown with its place, its versions and a link to Spark's page", async () => {
    await show(
      <dl>
        <DriverFacts driver={driver} />
      </dl>,
    );
    expect(screen.getByText(`pod ${driver.pod}`)).toBeVisible();
    expect(
      screen.getByText("Spark 4.1.4, Iceberg 1.12.0, Scala 2.13.17, Java 21.0.8"),
    ).toBeVisible();
    expect(screen.getByRole("link")).toHaveAttribute("href", driver.ui_url);
  });

  it("is shown with what is known of it", async () => {
    const bare = { pod: "", application_id: "", ui_url: "", spark: "", iceberg: "", scala: "" };
    await show(
      <dl>
        <DriverFacts driver={{ ...driver, ...bare, java: "", host: "node-1", process: 7 }} />
      </dl>,
    );
    expect(screen.getByText("node-1, process 7")).toBeVisible();
    expect(screen.queryByRole("link")).toBeNull();
    expect(screen.queryByText("Versions")).toBeNull();
  });
});
