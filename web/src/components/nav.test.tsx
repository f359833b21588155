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
    Promise.resolve(Response.json({ items: [], total: 3 })),
  );
}

afterEach(() => vi.restoreAllMocks());

const pages = () => within(screen.getByRole("navigation", { name: "Pages" }));

describe("the pages", () => {
  it("stand beside each other in a wide window, with the matters for a person", async () => {
    serve(false);
    await show(<PageNav hasInbox />);
    expect(pages().getAllByRole("link")).toHaveLength(10);
    expect(await screen.findByRole("link", { name: /Inbox.*3/ })).toHaveAttribute("href", "/inbox");
    expect(screen.queryByRole("button")).not.toBeInTheDocument();
  });

  it("are a menu in a narrow window, which says how many matters wait", async () => {
    serve(true);
    await show(<PageNav hasInbox />);
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
