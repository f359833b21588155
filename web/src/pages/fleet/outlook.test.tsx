import { screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { queue } from "../../../dev/fixtures/jobs";
import { tables } from "../../../dev/fixtures/tables";
import { show } from "../../testing/render";
import { QueueList, sayQueue, WorstList } from "./Outlook";

describe("what happens next", () => {
  it("says who starts, and why and until when the others wait", async () => {
    await show(<QueueList queue={queue} />);
    expect(screen.getAllByText("Starts")).toHaveLength(1);
    expect(screen.getAllByText("Waits")).toHaveLength(2);
    expect(screen.getByText(/no free slot; 1 ahead in the queue/)).toBeInTheDocument();
    expect(screen.getByText(/until 2026-11-22 00:00 UTC at the earliest/)).toBeInTheDocument();
    expect(screen.getByRole("link", { name: "lake.sales.orders_cdc" })).toHaveAttribute(
      "href",
      "/tables/lake/sales/orders_cdc",
    );
  });

  it("is summed up in a line", () => {
    expect(sayQueue(queue)).toBe("3 planned, 1 starting, 2 waiting");
    expect(sayQueue({ ...queue, total: 0, starting: 0 })).toBe("nothing is planned");
  });

  it("is nothing when nothing is planned", async () => {
    await show(<QueueList queue={{ ...queue, items: [], total: 0 }} />);
    expect(screen.getByText("Nothing is planned")).toBeInTheDocument();
  });
});

describe("the worst tables", () => {
  it("are those that can be improved or cannot be read, with the daemon's sentence", async () => {
    await show(<WorstList tables={tables} />);
    expect(screen.getByText("Unreadable")).toBeInTheDocument();
    expect(screen.getByText("Compacting position deletes is running.")).toBeInTheDocument();
    expect(screen.queryByText("Healthy")).not.toBeInTheDocument();
    expect(screen.queryByText("Small by nature")).not.toBeInTheDocument();
  });

  it("are none in a healthy fleet", async () => {
    await show(<WorstList tables={tables.filter((table) => table.band === "healthy")} />);
    expect(screen.getByText("No table can be improved")).toBeInTheDocument();
  });
});
