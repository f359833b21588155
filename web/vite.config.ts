import { readdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vitest/config";

const OUT_DIR = "../maintainer/api/page";
const COMPRESSIBLE = /\.(js|css|html|svg|json)$/;
const WORTH_COMPRESSING_BYTES = 1024;

/** Writes a .gz beside each asset, so that the daemon need not compress while it serves. */
function compressAssets(): Plugin {
  let outDir = OUT_DIR;
  return {
    name: "compress-assets",
    apply: "build",
    configResolved(config) {
      outDir = config.build.outDir;
    },
    async closeBundle() {
      const entries = await readdir(outDir, { recursive: true, withFileTypes: true });
      for (const entry of entries) {
        if (!entry.isFile() || !COMPRESSIBLE.test(entry.name)) continue;
        const path = join(entry.parentPath, entry.name);
        const content = await readFile(path);
        if (content.byteLength >= WORTH_COMPRESSING_BYTES)
          await writeFile(`${path}.gz`, gzipSync(content, { level: 9 }));
      }
    },
  };
}

/** What the first page needs, by the modules that import each other; the charts are apart. */
interface ModuleGraph {
  getModuleInfo: (id: string) => { importedIds: readonly string[] } | null;
}
const FIRST = [resolve("src/main.tsx"), resolve("src/pages/fleet/FleetPage.tsx")];
const needed = new Set<string>();

function findNeeded(graph: ModuleGraph): Set<string> {
  const waiting = needed.size === 0 ? [...FIRST] : [];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    if (needed.has(id)) continue;
    needed.add(id);
    waiting.push(...(graph.getModuleInfo(id)?.importedIds ?? []));
  }
  return needed;
}

/** Two files for all pages: one request for the first page, and one for the others. */
function nameChunk(id: string, graph: ModuleGraph): string | undefined {
  if (/node_modules\/(echarts|zrender|tslib)|src\/lib\/echarts/.test(id)) return undefined;
  const isFirst = id.endsWith("index.html") || findNeeded(graph).has(id);
  return isFirst ? "first" : "pages";
}

export default defineConfig({
  plugins: [react(), compressAssets()],
  // Below a prefix, the daemon changes the addresses in index.html, and nothing else.
  experimental: {
    renderBuiltUrl: (filename, { hostType }) =>
      hostType === "html" ? `/${filename}` : { relative: true },
  },
  build: {
    outDir: OUT_DIR,
    emptyOutDir: true,
    target: "es2022",
    sourcemap: false,
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [{ name: (id, graph) => nameChunk(id, graph), debugName: "pages" }],
        },
      },
    },
  },
  server: {
    host: "127.0.0.1",
    proxy: {
      "/api": {
        target: process.env.MAINTAINER_URL ?? "http://127.0.0.1:8080",
        changeOrigin: false,
      },
    },
  },
  // A busy machine takes seconds for a dialog; what hangs is told by then too.
  test: {
    environment: "jsdom",
    // Each file has a context of its own in a thread that goes on: to start a thread for each file
    // takes five times the CPU.
    pool: "vmThreads",
    globals: false,
    testTimeout: 30_000,
    setupFiles: ["./src/testing/setup.ts"],
    include: ["src/**/*.test.{ts,tsx}"],
  },
});
