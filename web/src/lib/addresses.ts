// What the page keeps in its address, read leniently: what is not understood is left out.
import type { AuditFilters } from "../api/audit";
import type { JobFilters } from "../api/queries";
import type { ReportsAddress, TableState } from "../api/types";
import {
  isFleetMetric,
  isHistoryMetric,
  isHistoryRange,
  type FleetMetric,
  type HistoryMetric,
  type HistoryRange,
} from "./metrics";
import { isTableSort, type TableSort } from "./sorts";
import { parseColumns, writeColumns } from "./tableColumns";
import { JOB_RULES, JOB_STATES, STORAGES, TABLE_STATES } from "./words";

type Raw = Record<string, unknown>;

export interface FleetAddress {
  metric?: FleetMetric;
  range?: HistoryRange;
  catalog?: string | undefined;
  /** Of the catalog. */
  namespace?: string | undefined;
}

export interface TablesAddress {
  search?: string | undefined;
  catalog?: string | undefined;
  namespace?: string | undefined;
  state?: TableState | undefined;
  sort?: TableSort;
  /** Of the list, by name: `data_files,records`. */
  columns?: string | undefined;
}

/** The tabs of a table's page, in their order. */
export const TABLE_TABS = ["overview", "activity", "jobs", "files", "snapshots", "policy"] as const;
export type TableTab = (typeof TABLE_TABS)[number];

export function isTableTab(value: unknown): value is TableTab {
  return TABLE_TABS.some((tab) => tab === value);
}

export interface TableAddress {
  tab?: TableTab;
  metric?: HistoryMetric;
  range?: HistoryRange;
}

/** The filters of the jobs, and how they are shown. */
export interface JobsAddress extends JobFilters {
  view?: "timeline" | undefined;
}

export const POLICY_TABS = {
  files: "Files",
  table: "In force for a table",
  draft: "Draft",
  versions: "Versions",
} as const;

type PolicyTab = keyof typeof POLICY_TABS;

export interface PoliciesAddress {
  tab?: PolicyTab;
  table?: string;
}

export function isPolicyTab(value: unknown): value is PolicyTab {
  return typeof value === "string" && value in POLICY_TABS;
}

/** How often a day each table is read, to choose from. */
export const SCANS_PER_DAY = [1, 10, 100, 1000] as const;

function readText(value: unknown): string | undefined {
  // The router reads a search for 2026 as a number.
  return typeof value === "string" || typeof value === "number"
    ? String(value) || undefined
    : undefined;
}

export function readFleetAddress(raw: Raw): FleetAddress {
  const { metric, range } = raw;
  const catalog = readText(raw.catalog);
  const namespace = readText(raw.namespace);
  return {
    ...(isFleetMetric(metric) && { metric }),
    ...(isHistoryRange(range) && { range }),
    ...(catalog && { catalog }),
    ...(catalog && namespace && { namespace }),
  };
}

export function readTablesAddress(raw: Raw): TablesAddress {
  const search = readText(raw.search);
  const catalog = readText(raw.catalog);
  const namespace = readText(raw.namespace);
  const state = TABLE_STATES.find((known) => known === raw.state);
  const sort = raw.sort;
  const columns = parseColumns(raw.columns);
  const written = columns && writeColumns(columns);
  return {
    ...(search && { search }),
    ...(catalog && { catalog }),
    ...(namespace && { namespace }),
    ...(state && { state }),
    ...(isTableSort(sort) && { sort }),
    ...(written && { columns: written }),
  };
}

export function readTableAddress(raw: Raw): TableAddress {
  const { tab, metric, range } = raw;
  return {
    ...(isTableTab(tab) && { tab }),
    ...(isHistoryMetric(metric) && { metric }),
    ...(isHistoryRange(range) && { range }),
  };
}

export function readJobsAddress(raw: Raw): JobsAddress {
  const table = readText(raw.table);
  const by = readText(raw.by);
  const state = JOB_STATES.find((known) => known === raw.state);
  const rule = JOB_RULES.find((known) => known === raw.rule);
  return {
    ...(state && { state }),
    ...(table && { table }),
    ...(rule && { rule }),
    ...(by && { by }),
    ...(isHistoryRange(raw.range) && { range: raw.range }),
    ...(raw.view === "timeline" && { view: raw.view }),
  };
}

export function readPoliciesAddress(raw: Raw): PoliciesAddress {
  const table = readText(raw.table);
  return { ...(isPolicyTab(raw.tab) && { tab: raw.tab }), ...(table && { table }) };
}

export function readActivityAddress(raw: Raw): AuditFilters {
  const table = readText(raw.table);
  const actor = readText(raw.actor);
  return {
    ...(table && { table }),
    ...(actor && { actor }),
    ...(isHistoryRange(raw.range) && { range: raw.range }),
  };
}

export function readReportsAddress(raw: Raw): ReportsAddress {
  const table = readText(raw.table);
  const storage = STORAGES.find((known) => known === raw.storage);
  const scans = SCANS_PER_DAY.find((known) => known === raw.scans_per_day);
  return {
    ...(storage && { storage }),
    ...(scans && { scans_per_day: scans }),
    ...(table && { table }),
  };
}
