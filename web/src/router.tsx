import { createRootRoute, createRoute, createRouter } from "@tanstack/react-router";
import { Layout } from "./components/Layout";
import { NotFound, RouteError } from "./components/RouteError";
import { lazyPage } from "./lib/lazyPage";
import {
  readActivityAddress,
  readFleetAddress,
  readJobsAddress,
  readPoliciesAddress,
  readReportsAddress,
  readTableAddress,
  readTablesAddress,
} from "./lib/addresses";
import { prefix } from "./lib/prefix";

const fleetPage = lazyPage(() => import("./pages/fleet/FleetPage"), "FleetPage");
const tablesPage = lazyPage(() => import("./pages/tables/TablesPage"), "TablesPage");
const inboxPage = lazyPage(() => import("./pages/inbox/InboxPage"), "InboxPage");
const namespacesPage = lazyPage(
  () => import("./pages/namespaces/NamespacesPage"),
  "NamespacesPage",
);
const tablePage = lazyPage(() => import("./pages/table/TablePage"), "TablePage");
const jobsPage = lazyPage(() => import("./pages/jobs/JobsPage"), "JobsPage");
const jobPage = lazyPage(() => import("./pages/job/JobPage"), "JobPage");
const activityPage = lazyPage(() => import("./pages/activity/ActivityPage"), "ActivityPage");
const catalogsPage = lazyPage(() => import("./pages/catalogs/CatalogsPage"), "CatalogsPage");
const settingsPage = lazyPage(() => import("./pages/settings/SettingsPage"), "SettingsPage");
const reportsPage = lazyPage(() => import("./pages/reports/ReportsPage"), "ReportsPage");
const policiesPage = lazyPage(() => import("./pages/policies/PoliciesPage"), "PoliciesPage");

const root = createRootRoute({
  component: Layout,
  notFoundComponent: NotFound,
  errorComponent: RouteError,
});

const fleetRoute = createRoute({
  getParentRoute: () => root,
  path: "/",
  validateSearch: readFleetAddress,
  component: fleetPage,
});

const tablesRoute = createRoute({
  getParentRoute: () => root,
  path: "/tables",
  validateSearch: readTablesAddress,
  component: tablesPage,
});

const inboxRoute = createRoute({
  getParentRoute: () => root,
  path: "/inbox",
  component: inboxPage,
});

const namespacesRoute = createRoute({
  getParentRoute: () => root,
  path: "/namespaces",
  component: namespacesPage,
});

const tableRoute = createRoute({
  getParentRoute: () => root,
  path: "/tables/$catalog/$namespace/$table",
  validateSearch: readTableAddress,
  component: tablePage,
});

const jobsRoute = createRoute({
  getParentRoute: () => root,
  path: "/jobs",
  validateSearch: readJobsAddress,
  component: jobsPage,
});

const jobRoute = createRoute({
  getParentRoute: () => root,
  path: "/jobs/$id",
  component: jobPage,
});

const policiesRoute = createRoute({
  getParentRoute: () => root,
  path: "/policies",
  validateSearch: readPoliciesAddress,
  component: policiesPage,
});

const reportsRoute = createRoute({
  getParentRoute: () => root,
  path: "/reports",
  validateSearch: readReportsAddress,
  component: reportsPage,
});

const activityRoute = createRoute({
  getParentRoute: () => root,
  path: "/activity",
  validateSearch: readActivityAddress,
  component: activityPage,
});

const catalogsRoute = createRoute({
  getParentRoute: () => root,
  path: "/catalogs",
  component: catalogsPage,
});

const settingsRoute = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  component: settingsPage,
});

export const router = createRouter({
  basepath: prefix || "/",
  routeTree: root.addChildren([
    fleetRoute,
    inboxRoute,
    tablesRoute,
    namespacesRoute,
    tableRoute,
    jobsRoute,
    jobRoute,
    policiesRoute,
    reportsRoute,
    activityRoute,
    catalogsRoute,
    settingsRoute,
  ]),
  defaultPreload: "intent",
  defaultErrorComponent: RouteError,
  scrollRestoration: true,
});

/** Fetches every page while the daemon answers: the next click must not depend on it. */
export function preloadPages(): void {
  for (const page of [
    fleetPage,
    inboxPage,
    tablesPage,
    namespacesPage,
    tablePage,
    jobsPage,
    jobPage,
    policiesPage,
    reportsPage,
    activityPage,
    catalogsPage,
    settingsPage,
  ])
    void page.preload();
}

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
