// `npm start`: the demo; `npm start -- pending …`: any other command. Straight from TypeScript, without a build.
import { start } from "../bin/start.mjs";

const first = process.argv[2];
if (first === undefined || first.charAt(0) === "-") process.argv.splice(2, 0, "demo");
start(() => import("../src/cli/main.ts"), "Run `npm ci` first: it installs one for this folder.");
