import { screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";
import { catalogs } from "../../../dev/fixtures/fleet";
import { show } from "../../testing/render";
import { CatalogGrid } from "./CatalogList";

const cells = () =>
  screen.getAllByRole("cell").map((cell) => cell.textContent.replaceAll("\u00a0", " "));

describe("the catalogs in figures", () => {
  it("have their own average file size and lead to their tables", async () => {
    await show(<CatalogGrid catalogs={catalogs.filter(({ name }) => name === "archive")} />);
    expect(cells()).toEqual([
      "rest",
      "240",
      "72.2 MiB",
      "9,600",
      "2,000",
      "677.1 GiB",
      "Healthy 240",
      "Pause… archive",
    ]);
    expect(screen.getByRole("link", { name: "archive" })).toHaveAttribute(
      "href",
      "/tables?catalog=archive",
    );
  });

  it("have no average where there are no files", async () => {
    await show(<CatalogGrid catalogs={catalogs.filter(({ name }) => name === "partner")} />);
    expect(cells()).toEqual(["rest", "0", "–", "0", "0", "0 B", "", "Pause… partner"]);
  });
});
