// The command as installed, but from source: what `bin/countersign.mjs` does with `dist`.
import { start } from "../../bin/start.mjs";

start(() => import("../../src/cli/main.ts"), "");
