// `npm start`: the demo; `npm start -- pending …`: any other command.
import { start } from "../bin/start.mjs";
import { load } from "./from-source.mjs";

const first = process.argv[2];
if (first === undefined || first.charAt(0) === "-") process.argv.splice(2, 0, "demo");
start(load, "Run `npm ci` first: it installs one for this folder.");
