import { localStorageColorSchemeManager, MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError } from "./api/client";
import { preloadPages, router } from "./router";
import "./styles/mantine.css";
import "./styles/base.css";
import "./styles/components.css";
import "./styles/figures.css";
import "./styles/grid.css";
import { resolveVariables, theme } from "./theme";

const FRESH_MS = 2_000;
const RETRIES = 2;

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: FRESH_MS,
      // A refusal stays one; only a missing answer or a failing daemon is worth asking again.
      retry: (failures, error) =>
        failures < RETRIES &&
        (!(error instanceof ApiError) || error.status === 0 || error.status >= 500),
    },
  },
});

const schemes = localStorageColorSchemeManager({ key: "iceberg-maintainer-color-scheme" });
const element = document.getElementById("root");
if (!element) throw new Error("index.html has no element #root");

createRoot(element).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={resolveVariables}
      colorSchemeManager={schemes}
      defaultColorScheme="auto"
    >
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);

const PRELOAD_AFTER_MS = 1_000;
window.setTimeout(preloadPages, PRELOAD_AFTER_MS);
