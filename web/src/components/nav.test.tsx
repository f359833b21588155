import { screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, describe, expect, it, vi } from "vitest";
import { show } from "../testing/render";
import { PageNav } from "./PageNav";

/** A window that is narrow or wide, and a daemon with three matters for a person. */
function serve(isNarrow: boolean): void {
  vi.spyOn(window, "matchMedia").mockImplementation(
    (query) =>
      ({
        matches: isNarrow,
        media: query,
        addEventListener: () => undefined,
        removeEventListener: () => undefined,
      }) as unknown as MediaQueryList,
  );
  vi.spyOn(globalThis, "fetch").mockImplementation(() =>
    Promise.resolve(Response.json({ items: [], total: 3, jobs: { running: 2 } })),
  );
}

afterEach(() => vi.restoreAllMocks());

const pages = () => within(screen.getByRole("navigation", { name: "Pages" }));

describe("the pages", () => {
  it("are in three groups in a wide window, with the matters for a person and what runs", async () => {
    serve(false);
    await show(<PageNav />);
    expect(pages().getAllByRole("link")).toHaveLength(10);
    expect(await screen.findByRole("link", { name: /Inbox.*3/ })).toHaveAttribute("href", "/inbox");
    expect(await screen.findByRole("link", { name: /Jobs.*2/ })).toHaveAttribute("href", "/jobs");
    const groups = pages().getAllByRole("group");
    expect(groups.map((group) => group.getAttribute("aria-label"))).toEqual([
      "Now",
      "Lake",
      "Control",
    ]);
    expect(screen.queryByRole("button")).not.toBeInTheDocument();
  });

  it("are a menu in a narrow window, which says how many matters wait", async () => {
    serve(true);
    await show(<PageNav />);
    const menu = await screen.findByRole("button", { name: /Menu.*3/ });
    expect(menu).toHaveAttribute("aria-expanded", "false");
    expect(screen.queryByRole("link")).not.toBeInTheDocument();
    await userEvent.click(menu);
    expect(pages().getAllByRole("link")).toHaveLength(10);
    await userEvent.keyboard("{Escape}");
    expect(screen.queryByRole("link")).not.toBeInTheDocument();
    await userEvent.click(menu);
    await userEvent.click(screen.getByRole("link", { name: "Tables" }));
    expect(menu).toHaveAttribute("aria-expanded", "false");
  });
});
