import { useClickOutside, useHotkeys, useMediaQuery } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Link, linkOptions, useRouterState } from "@tanstack/react-router";
import { useState } from "react";
import { overviewQuery } from "../api/fleet";
import { inboxQuery } from "../api/inbox";
import { formatCount } from "../lib/format";

/** All pages do not fit beside each other in a narrower window. */
const NARROW = "(max-width: 64em)";
const ANY_SEARCH = { includeSearch: false };

/** What happens now, what is in the lake, and what decides. */
const GROUPS = [
  {
    title: "Now",
    pages: linkOptions([
      { to: "/", label: "Fleet", activeOptions: { exact: true, includeSearch: false } },
      { to: "/inbox", label: "Inbox", activeOptions: ANY_SEARCH },
      { to: "/jobs", label: "Jobs", activeOptions: ANY_SEARCH },
    ]),
  },
  {
    title: "Lake",
    pages: linkOptions([
      { to: "/tables", label: "Tables", activeOptions: ANY_SEARCH },
      { to: "/namespaces", label: "Namespaces", activeOptions: ANY_SEARCH },
      { to: "/catalogs", label: "Catalogs", activeOptions: ANY_SEARCH },
      { to: "/reports", label: "Reports", activeOptions: ANY_SEARCH },
    ]),
  },
  {
    title: "Control",
    pages: linkOptions([
      { to: "/policies", label: "Policies", activeOptions: ANY_SEARCH },
      { to: "/activity", label: "Activity", activeOptions: ANY_SEARCH },
      { to: "/settings", label: "Settings", activeOptions: ANY_SEARCH },
    ]),
  },
];

/** How many matters need a person; nothing when none does. */
function InboxCount() {
  const total = useQuery(inboxQuery).data?.total ?? 0;
  return total > 0 ? (
    <span className="badge badge-watch nav-count">{formatCount(total)}</span>
  ) : null;
}

/** How many jobs run; nothing when none does. */
function RunningCount() {
  const running = useQuery(overviewQuery).data?.jobs.running ?? 0;
  return running > 0 ? (
    <span className="badge badge-info nav-count" title="Running">
      {formatCount(running)}
    </span>
  ) : null;
}

/** The pages as a rail in a wide window, beside each other, or as a menu in a narrow window. */
export function PageNav() {
  const isNarrow = useMediaQuery(NARROW, false, { getInitialValueInEffect: false });
  const path = useRouterState({ select: (state) => state.location.pathname });
  const [openedAt, setOpenedAt] = useState<string | null>(null);
  // Another page, also one that a key or a search has opened, closes the menu.
  const isOpen = isNarrow && openedAt === path;
  const close = () => setOpenedAt(null);
  const frame = useClickOutside<HTMLElement>(close);
  useHotkeys([["Escape", close]]);
  return (
    <nav ref={frame} className={isNarrow ? "nav-narrow" : "nav"} aria-label="Pages">
      {isNarrow && (
        <button
          type="button"
          className="nav-toggle"
          aria-expanded={isOpen}
          onClick={() => setOpenedAt(isOpen ? null : path)}
        >
          Menu <InboxCount />
        </button>
      )}
      {(!isNarrow || isOpen) && (
        <div className={isNarrow ? "nav-menu" : "nav-row"}>
          {GROUPS.map(({ title, pages }) => (
            <div key={title} className="nav-group" role="group" aria-label={title}>
              <span className="nav-title" aria-hidden>
                {title}
              </span>
              {pages.map(({ label, ...page }) => (
                <Link key={page.to} {...page} onClick={close}>
                  {label}
                  {page.to === "/inbox" && <InboxCount />}
                  {page.to === "/jobs" && <RunningCount />}
                </Link>
              ))}
            </div>
          ))}
        </div>
      )}
    </nav>
  );
}
