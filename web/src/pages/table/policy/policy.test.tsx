import { screen, within } from "@testing-library/react";
import { expect, it } from "vitest";
import { makeDetail, makeTable } from "../../../../dev/fixtures/tables";
import { show } from "../../../testing/render";
import { GoverningPolicy } from "./GoverningPolicy";

const table = makeDetail(makeTable());

it("shows a policy as its differences from what is built in", async () => {
  await show(<GoverningPolicy table={table} />);
  const grid = screen.getByRole("group", { name: /differ from the built-in ones$/ });
  expect(within(grid).getAllByRole("row")).toHaveLength(4);
  expect(within(grid).getByRole("row", { name: /^mode/ })).toHaveTextContent(
    "modeenforceobservepolicies/streaming.yaml:4",
  );
  expect(screen.getByText("2 built-in values")).toBeVisible();
  expect(screen.getByText("rules.rewrite_data_files.cooldown")).not.toBeVisible();
});

it("says that no file sets anything", async () => {
  const values = table.policy.values.filter((value) => value.is_built_in);
  await show(<GoverningPolicy table={{ ...table, policy: { ...table.policy, values } }} />);
  expect(screen.getByText(/^No file sets anything/)).toBeInTheDocument();
});
