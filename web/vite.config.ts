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
  },
});
