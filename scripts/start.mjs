// `npm start`: the command line of a clone, straight from its TypeScript, without a build.
import { start } from "../bin/start.mjs";

start(() => import("../src/cli/main.ts"), "Run `npm ci` first: it installs one for this folder.");
