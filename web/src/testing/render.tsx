import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import {
  createMemoryHistory,
  createRootRoute,
  createRouter,
  RouterProvider,
} from "@tanstack/react-router";
import { render } from "@testing-library/react";
import type { ReactNode } from "react";

/** Draws a part of a page inside its theme, router and queries; `known` is an answer it has. */
export async function show(content: ReactNode, known?: [string[], unknown]) {
  const root = createRootRoute({ component: () => content });
  const router = createRouter({
    routeTree: root,
    history: createMemoryHistory({ initialEntries: ["/"] }),
  });
  await router.load();
  const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  if (known) queries.setQueryData(...known);
  return render(
    <MantineProvider env="test">
      <QueryClientProvider client={queries}>
        {/* The page's own router has the linked routes; here only their addresses count. */}
        <RouterProvider router={router as never} />
      </QueryClientProvider>
    </MantineProvider>,
  );
}
