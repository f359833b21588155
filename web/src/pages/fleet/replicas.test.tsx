import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { replicas } from "../../../dev/fixtures/fleet";
import { show } from "../../testing/render";
import { ReplicaGrid } from "./Replicas";

it("names each replica with its duties", async () => {
  await show(<ReplicaGrid replicas={replicas} />);
  expect(screen.getAllByRole("cell").map((cell) => cell.textContent)).toEqual([
    "policy status, scan lake",
    "–",
  ]);
});
