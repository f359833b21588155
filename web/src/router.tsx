import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { Layout } from "./components/Layout";
import { NotFound, RouteError } from "./components/RouteError";
import { readJobsAddress, readTableAddress, readTablesAddress } from "./lib/addresses";

const root = createRootRoute({ component: Layout, notFoundComponent: NotFound, errorComponent: RouteError });

const tablesRoute = createRoute({
  getParentRoute: () => root,
  path: "/",
  validateSearch: readTablesAddress,
  component: lazyRouteComponent(() => import("./pages/tables/TablesPage"), "TablesPage"),
});

const tableRoute = createRoute({
  getParentRoute: () => root,
  path: "/tables/$catalog/$namespace/$table",
  validateSearch: readTableAddress,
  component: lazyRouteComponent(() => import("./pages/table/TablePage"), "TablePage"),
});

const jobsRoute = createRoute({
  getParentRoute: () => root,
  path: "/jobs",
  validateSearch: readJobsAddress,
  component: lazyRouteComponent(() => import("./pages/jobs/JobsPage"), "JobsPage"),
});

const jobRoute = createRoute({
  getParentRoute: () => root,
  path: "/jobs/$id",
  component: lazyRouteComponent(() => import("./pages/job/JobPage"), "JobPage"),
});

const policiesRoute = createRoute({
  getParentRoute: () => root,
  path: "/policies",
  component: lazyRouteComponent(() => import("./pages/policies/PoliciesPage"), "PoliciesPage"),
});

export const router = createRouter({
  routeTree: root.addChildren([tablesRoute, tableRoute, jobsRoute, jobRoute, policiesRoute]),
  defaultPreload: "intent",
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
