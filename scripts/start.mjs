// `npm start`: the demo; `npm start -- pending …`: any other command. Straight from TypeScript; only the inbox is built.
import { start } from "../bin/start.mjs";

const first = process.argv[2];
if (first === undefined || first.charAt(0) === "-") process.argv.splice(2, 0, "demo");
const [, , command, ...rest] = process.argv;
const serves =
  (command === "demo" || command === "serve") && !rest.includes("--help") && !rest.includes("-h");
const prepared = () =>
  serves ? import("./build-web.ts").then(({ ensureWebBuilt }) => ensureWebBuilt()) : Promise.resolve();
start(
  () => prepared().then(() => import("../src/cli/main.ts")),
  "Run `npm ci` first: it installs one for this folder.",
);
