import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
  root: here("."),
  base: "./",
  resolve: {
    alias: {
      "countersign/client": here("../src/client/index.ts"),
      "countersign/protocol": here("../src/protocol/index.ts"),
    },
  },
  build: {
    outDir: here("../dist/web"),
    emptyOutDir: true,
    target: "es2024",
    // The policy of the page allows no inline script, and nothing here needs one.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    rollupOptions: {
      // How long parts of the build took is nothing that somebody who starts the demo wants to read.
      checks: { bundlerTimings: false },
      input: {
        index: here("index.html"),
        offline: here("offline.html"),
        sw: here("src/worker/service-worker.ts"),
      },
      // A browser looks for changes of the worker at one address, and the worker's place is its scope.
      output: { entryFileNames: ({ name }) => (name === "sw" ? "sw.js" : "assets/[name]-[hash].js") },
    },
  },
});
