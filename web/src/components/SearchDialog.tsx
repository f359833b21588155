import { Modal, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useQuery } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import { useRef, useState, type KeyboardEvent } from "react";
import { policiesQuery } from "../api/policies";
import { tableNamesQuery } from "../api/queries";
import { locateTable } from "../lib/identifier";

const TYPING_PAUSE_MS = 150;
const MOST_OF_A_KIND = 8;

interface Hit {
  kind: string;
  label: string;
  link: LinkProps;
}

const PAGES: Hit[] = [
  { label: "Fleet", link: { to: "/" } },
  { label: "Inbox: what needs a person", link: { to: "/inbox" } },
  { label: "Tables", link: { to: "/tables" } },
  { label: "Namespaces", link: { to: "/namespaces" } },
  { label: "Critical tables", link: { to: "/tables", search: { band: "critical" } } },
  { label: "Jobs", link: { to: "/jobs" } },
  { label: "Running jobs", link: { to: "/jobs", search: { state: "running" } } },
  { label: "Failed jobs", link: { to: "/jobs", search: { state: "failed" } } },
  { label: "Timeline of the jobs", link: { to: "/jobs", search: { view: "timeline" } } },
  { label: "Policies", link: { to: "/policies" } },
  { label: "Draft a policy", link: { to: "/policies", search: { tab: "draft" } } },
  { label: "Versions of the policies", link: { to: "/policies", search: { tab: "versions" } } },
  { label: "Catalogs", link: { to: "/catalogs" } },
  { label: "Activity: the audit log", link: { to: "/activity" } },
  { label: "Settings", link: { to: "/settings" } },
].map((page) => ({ kind: "Page", ...page }) as Hit);

function linkTable(name: string): Hit[] {
  const params = locateTable(name);
  return params
    ? [
        {
          kind: "Table",
          label: name,
          link: { to: "/tables/$catalog/$namespace/$table", params } as LinkProps,
        },
      ]
    : [];
}

const isJobId = (text: string) => /^[\w-]*-[\w-]{4,}$/.test(text);

/** Tables, policies, jobs and pages that a text may mean. */
function useHits(typed: string): Hit[] {
  const [text] = useDebouncedValue(typed.trim(), TYPING_PAUSE_MS);
  const tables = useQuery({ ...tableNamesQuery(text), enabled: text !== "" }).data ?? [];
  const layers = useQuery(policiesQuery).data?.layers ?? [];
  const matches = ({ label }: { label: string }) =>
    label.toLowerCase().includes(text.toLowerCase());
  const policies = layers.map(({ name }) => ({
    kind: "Policy",
    label: name,
    link: { to: "/policies" } as LinkProps,
  }));
  const job: Hit = {
    kind: "Job",
    label: text,
    link: { to: "/jobs/$id", params: { id: text } } as LinkProps,
  };
  return [
    ...PAGES.filter(matches),
    ...(text === "" ? [] : tables.slice(0, MOST_OF_A_KIND).flatMap(linkTable)),
    ...(text === "" ? [] : policies.filter(matches).slice(0, MOST_OF_A_KIND)),
    ...(isJobId(text) ? [job] : []),
  ];
}

/** Finds tables, policies, jobs and pages; the arrow keys go through what was found. */
export function SearchDialog({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState("");
  const list = useRef<HTMLUListElement>(null);
  const hits = useHits(typed);
  const links = () => [...(list.current?.querySelectorAll("a") ?? [])];
  const move = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const all = links();
    const next = all.findIndex((link) => link === document.activeElement) + step;
    all[Math.max(0, Math.min(next, all.length - 1))]?.focus();
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title="Search"
      closeButtonProps={{ "aria-label": "Close" }}
      onKeyDown={move}
    >
      <div className="stack-tight">
        <TextInput
          type="search"
          aria-label="Tables, policies, jobs and pages"
          placeholder="A table, a policy, a job’s id or a page"
          data-autofocus
          value={typed}
          onChange={({ currentTarget: { value } }) => setTyped(value)}
          onKeyDown={(event) => event.key === "Enter" && links()[0]?.click()}
        />
        <ul ref={list} className="suggestions" aria-label="Found">
          {hits.map(({ kind, label, link }) => (
            <li key={`${kind} ${label}`}>
              <Link {...link} className="hit" onClick={onClose}>
                <span>{label}</span>
                <span className="dim">{kind}</span>
              </Link>
            </li>
          ))}
        </ul>
        {hits.length === 0 && <p className="dim">Nothing has this name.</p>}
      </div>
    </Modal>
  );
}
