import { screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { queue } from "../../../dev/fixtures/jobs";
import { show } from "../../testing/render";
import { QueueList, sayQueue } from "./Outlook";

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
