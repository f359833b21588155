import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { describe, expect, it } from "vitest";
import { inbox } from "../../../dev/fixtures/fleet";
import { InboxList } from "../../components/InboxList";
import { show } from "../../testing/render";

describe("the inbox", () => {
  it("leads from each entry to where it can be settled", async () => {
    await show(<InboxList entries={inbox.items} />);
    expect(screen.getAllByRole("listitem")).toHaveLength(inbox.total);
    const leads = (name: string) => screen.getByRole("link", { name }).getAttribute("href");
    expect(leads("lake.streaming.page_views")).toBe("/tables/lake/streaming/page_views");
    expect(leads("Show the last job")).toBe("/jobs/rdf-orders-cdc-1p4d");
    for (const link of screen.getAllByRole("link", { name: "Show the policies" }))
      expect(link).toHaveAttribute("href", "/policies");
    expect(screen.getByText(/^3 tables would be maintained/)).toBeInTheDocument();
    expect(screen.getByText(/^Metadata file 00017/)).toBeInTheDocument();
    expect(screen.getByText(/^rewrite_data_files failed 3 times in a row/)).toBeInTheDocument();
  });

  it("has the button that settles an entry", async () => {
    await show(<InboxList entries={inbox.items} />);
    expect(screen.getByRole("button", { name: "Resume sensor_readings" })).toBeEnabled();
    expect(screen.getByRole("button", { name: "Run orders_cdc again…" })).toBeEnabled();
    await userEvent.click(screen.getByRole("button", { name: "Review the list of page_views…" }));
    expect(
      await screen.findByRole("dialog", { name: "Orphan files of page_views" }),
    ).toBeInTheDocument();
  });

  it("has no button for who may not use it", async () => {
    const session = {
      is_needed: true,
      name: "a viewer",
      grants: [{ role: "viewer", prefixes: [""] }],
    };
    await show(<InboxList entries={inbox.items} />, [["session"], session]);
    expect(screen.queryByRole("button", { name: /^Resume|^Run/ })).not.toBeInTheDocument();
    expect(screen.getByRole("button", { name: /^Review/ })).toBeEnabled();
  });

  it("says that nothing needs a person", async () => {
    await show(<InboxList entries={[]} />);
    expect(screen.getByText("Nothing needs you")).toBeInTheDocument();
  });
});
