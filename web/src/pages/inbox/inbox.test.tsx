import { screen } from "@testing-library/react";
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
    expect(leads("Show the policies")).toBe("/policies");
    expect(screen.getByText(/^Metadata file 00017/)).toBeInTheDocument();
    expect(screen.getByText(/^rewrite_data_files failed 3 times in a row/)).toBeInTheDocument();
  });

  it("says that nothing needs a person", async () => {
    await show(<InboxList entries={[]} />);
    expect(screen.getByText("Nothing needs you")).toBeInTheDocument();
  });
});
