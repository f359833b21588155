import { screen, waitFor } from "@testing-library/react";
import { afterEach, describe, expect, it, vi } from "vitest";
import { ConnectionNotice } from "../components/ConnectionNotice";
import { ErrorNotice } from "../components/notices";
import { lazyPage, PartMissingError } from "../lib/lazyPage";
import { show } from "../testing/render";
import { ApiError } from "./client";
import { isAnswering } from "./connection";

const fetched = () => vi.spyOn(globalThis, "fetch");
const answer = (status: number) =>
  fetched().mockImplementation(() => Promise.resolve(new Response("{}", { status })));
const refuse = () => fetched().mockRejectedValue(new TypeError("fetch failed"));

afterEach(() => {
  vi.restoreAllMocks();
});

describe("whether the daemon answers", () => {
  it("is asked of the daemon itself and not of a cache", async () => {
    const asked = answer(200);
    expect(await isAnswering()).toBe(true);
    expect(asked).toHaveBeenCalledWith("/livez", expect.objectContaining({ cache: "no-store" }));
  });

  it("is no where a proxy answers for it, and where nobody does", async () => {
    answer(502);
    expect(await isAnswering()).toBe(false);
    refuse();
    expect(await isAnswering()).toBe(false);
  });

  it("is said once, at the top of the page", async () => {
    const asked = answer(200);
    const { unmount } = await show(<ConnectionNotice />);
    await waitFor(() => expect(asked).toHaveBeenCalled());
    expect(screen.queryByRole("alert")).not.toBeInTheDocument();
    unmount();
    refuse();
    await show(<ConnectionNotice />);
    expect(await screen.findByText("The daemon does not answer")).toBeInTheDocument();
  });

  it("is said of a browser without a network at once", async () => {
    answer(200);
    vi.spyOn(navigator, "onLine", "get").mockReturnValue(false);
    await show(<ConnectionNotice />);
    expect(screen.getByText("This browser is offline")).toBeInTheDocument();
  });
});

it("is not said again by each part that was to be read, but by what was to be done", async () => {
  const error = new ApiError(0, "The daemon does not answer", "It may be stopped.");
  const { unmount } = await show(<ErrorNotice error={error} onRetry={vi.fn()} />);
  expect(screen.getByText("Not loaded yet")).toBeInTheDocument();
  expect(screen.queryByRole("alert")).not.toBeInTheDocument();
  unmount();
  await show(<ErrorNotice error={error} />);
  expect(screen.getByRole("alert")).toHaveTextContent("The daemon does not answer");
});

describe("a page that is fetched when it is needed", () => {
  const load = vi.fn<() => Promise<{ Page: () => string }>>();

  it("is fetched again after it could not be had, and then never again", async () => {
    load
      .mockRejectedValueOnce(new TypeError("Failed to fetch dynamically imported module"))
      .mockResolvedValue({ Page: () => "here" });
    const Page = lazyPage(load, "Page");
    await Page.preload();
    expect(() => Page()).toThrow(PartMissingError);
    await Page.preload();
    await show(<Page />);
    expect(screen.getByText("here")).toBeInTheDocument();
    await Page.preload();
    expect(load).toHaveBeenCalledTimes(2);
  });
});
