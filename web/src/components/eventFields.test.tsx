import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { show } from "../testing/render";
import { EventFields } from "./EventFields";

it("writes lists as words, and leaves out what is empty", async () => {
  await show(
    <EventFields
      fields={{ rows: 12_000, commits: ["757", "758"], then: [], message: "", more: { kept: 3 } }}
    />,
  );
  expect(screen.getByText("Commits:").parentElement).toHaveTextContent("Commits: 757; 758");
  expect(screen.getByText("Rows:").parentElement).toHaveTextContent("Rows: 12,000");
  expect(screen.getByText("Kept:")).toBeInTheDocument();
  expect(screen.queryByText("Then:")).not.toBeInTheDocument();
  expect(screen.queryByText("Message:")).not.toBeInTheDocument();
});
