// Serves the page on dev/fixtures instead of a daemon: `vite --config dev/vite.config.ts`, or `vite preview` for the built page.
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Connect, Plugin } from "vite";
import { defineConfig, mergeConfig } from "vitest/config";
import page from "../vite.config.ts";
import * as fleet from "./fixtures/fleet.ts";
import * as jobs from "./fixtures/jobs.ts";
import * as policies from "./fixtures/policies.ts";
import { status } from "./fixtures/status.ts";
import * as storage from "./fixtures/storage.ts";
import * as tables from "./fixtures/tables.ts";
import * as reports from "./fixtures/reports.ts";
import * as orphans from "./fixtures/orphans.ts";
import * as snapshots from "./fixtures/snapshots.ts";
import { minutesAgo } from "./fixtures/times.ts";
import { makeTrend } from "./fixtures/trends.ts";
import { verdicts } from "./fixtures/verdicts.ts";

const PREFIX = "/api/v1";

function send(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { "content-type": status < 400 ? "application/json" : "application/problem+json" });
  response.end(JSON.stringify(body));
}

function refuse(response: ServerResponse, detail: string): void {
  send(response, { type: "about:blank", title: "Not Found", status: 404, detail }, 404);
}

function tellEvents(response: ServerResponse, id: string): void {
  const job = jobs.jobs.find((each) => each.job_id === id);
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of jobs.events) response.write(`id: ${event.sequence}\ndata: ${JSON.stringify(event)}\n\n`);
  if (job?.state === "running") return;
  response.end(`event: end\ndata: ${JSON.stringify(job)}\n\n`);
}

function tellLog(response: ServerResponse, id: string): void {
  const isRunning = jobs.jobs.find((each) => each.job_id === id)?.state === "running";
  const log = jobs.makeLog({ state: isRunning ? "growing" : "complete" });
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write(`id: ${log.next}\ndata: ${JSON.stringify(log)}\n\n`);
  if (!isRunning) response.end(`event: end\nid: ${log.next}\ndata: ${JSON.stringify({ ...log, text: "", start: log.next })}\n\n`);
}

function answerTable(response: ServerResponse, parts: string[], query: URLSearchParams): void {
  const [catalog, namespace, name, what, which] = parts;
  const table = tables.tables.find((each) => each.catalog === catalog && each.namespace === namespace && each.name === name);
  if (!table) return refuse(response, `no table ${parts.join(".")} is known`);
  const metric = query.get("metric") ?? "average_file_size_bytes";
  switch (what) {
    case undefined:
      return send(response, tables.makeDetail(table));
    case "history":
      return send(response, {
        table: table.table,
        metric,
        samples: Array.from({ length: 40 }, (_, index) => ({
          at: minutesAgo((40 - index) * 30),
          value: index < 25 ? 900_000 - index * 34_000 : 522_917,
        })),
      });
    case "partitions":
      return send(response, { items: tables.partitions, next_cursor: null, total: 96 });
    case "snapshots":
      return send(response, snapshots.snapshots);
    case "pins":
      return send(response, snapshots.pins);
    case "expiry":
      return send(response, snapshots.expiry);
    case "verdicts":
      return send(response, { items: verdicts, next_cursor: null, total: verdicts.length });
    case "rescue":
      return send(response, reports.makeRescue(table.table));
    case "orphans":
      return send(response, which === undefined ? { items: orphans.orphanLists } : orphans.orphanFiles);
    case "run":
      return send(response, { jobs: [jobs.jobs[1]], plan: jobs.makePlan(table.table) }, 202);
    default:
      return send(response, jobs.makePlan(table.table));
  }
}

function answerPolicies(response: ServerResponse, what: string | undefined): void {
  switch (what) {
    case "validate":
      return send(response, { is_valid: true, problems: [] });
    case "preview":
      return send(response, policies.preview);
    case "schema":
      return send(response, JSON.parse(readFileSync("../policies/schema.json", "utf8")));
    case "tables":
      return send(response, { items: tables.tables.map(({ table }) => table), next_cursor: null, total: tables.tables.length });
    case "versions":
      return send(response, policies.versions);
    case "diff":
      return send(response, policies.diff);
    case "suggested":
      return send(response, policies.suggested);
    case "page_views":
      return send(response, { ...fleet.policies, table: "lake.streaming.page_views", mode: "enforce", values: policies.values });
    default:
      return send(response, fleet.policies);
  }
}

function answer(request: IncomingMessage, response: ServerResponse, next: Connect.NextFunction): void {
  const url = new URL(request.url ?? "/", "http://fixtures");
  if (!url.pathname.startsWith(PREFIX)) return next();
  const parts = url.pathname
    .slice(PREFIX.length + 1)
    .split("/")
    .map(decodeURIComponent);
  const [resource, ...rest] = parts;
  switch (resource) {
    case "session":
      return send(response, { is_needed: false, name: null, grants: [], has_provider: false, has_tokens: false });
    case "overview":
      return send(response, rest[0] === "history" ? fleet.history : rest[0] === "days" ? fleet.dailyWork : fleet.overview);
    case "namespaces":
      return send(response, { items: fleet.namespaces, next_cursor: null, total: fleet.namespaces.length });
    case "status":
      return send(response, status);
    case "inbox":
      return send(response, fleet.inbox);
    case "pauses":
      return send(response, fleet.pauses);
    case "queue":
      return send(response, jobs.queue);
    case "catalogs":
      return send(response, rest[0] === "storage" ? storage.catalogStorage : fleet.catalogs);
    case "replicas":
      return send(response, fleet.replicas);
    case "audit":
      return send(response, fleet.audit);
    case "settings":
      return send(response, fleet.settings);
    case "reports":
      return send(response, reports.makeReport(url.searchParams));
    case "trends": {
      const names = url.searchParams.getAll("table");
      return send(response, { items: names.map((name) => makeTrend(name, url.searchParams.get("metric") ?? "")) });
    }
    case "pools":
      return send(response, fleet.pools);
    case "policies":
      return answerPolicies(response, rest[0] === "suggested" ? rest[0] : rest.at(-1));
    case "tables": {
      if (rest.length > 0) return answerTable(response, rest, url.searchParams);
      const from = Number(url.searchParams.get("cursor") ?? 0);
      const limit = Number(url.searchParams.get("limit") ?? 100);
      const found = tables.selectTables(url.searchParams);
      const next = from + limit < found.length ? String(from + limit) : null;
      return send(response, { items: found.slice(from, from + limit), next_cursor: next, total: found.length });
    }
    case "tables.csv": {
      const names = tables.selectTables(url.searchParams).map(({ table }) => table);
      response.writeHead(200, { "content-type": "text/csv" });
      return void response.end(["table", ...names, ""].join("\r\n"));
    }
    case "jobs": {
      const [id, what] = rest;
      if (id === undefined) {
        const state = url.searchParams.get("state");
        const table = url.searchParams.get("table");
        const rule = url.searchParams.get("rule");
        const items = jobs.jobs.filter(
          (job) => (!state || job.state === state) && (!table || job.table === table) && (!rule || job.rule === rule),
        );
        return send(response, { items, next_cursor: null, total: items.length });
      }
      if (what === "events") return tellEvents(response, id);
      if (what === "log") return tellLog(response, id);
      const job = jobs.jobs.find((each) => each.job_id === id);
      return job ? send(response, job) : refuse(response, `no job '${id}' is known; finished jobs are forgotten after their retention`);
    }
    default:
      return refuse(response, `no route ${url.pathname}`);
  }
}

function serveFixtures(): Plugin {
  return {
    name: "serve-fixtures",
    configureServer: (server) => void server.middlewares.use(answer),
    configurePreviewServer: (server) => void server.middlewares.use(answer),
  };
}

export default mergeConfig(
  page,
  defineConfig({ plugins: [serveFixtures()], server: { proxy: {} }, preview: { host: "127.0.0.1", strictPort: true } }),
);
