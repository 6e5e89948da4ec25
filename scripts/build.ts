// Empties dist, compiles src into it, without its tests, and builds the demo's agents and the inbox into it.
import { rmSync } from "node:fs";
import { buildDemo } from "./build-demo.ts";
import { buildWeb } from "./build-web.ts";
import { command, ROOT } from "./command.ts";

rmSync(`${ROOT}/dist`, { recursive: true, force: true });
const { status, stderr } = command("tsc", ["-p", "tsconfig.build.json"], { show: true });
process.stderr.write(stderr);
process.exitCode = status || buildDemo() || buildWeb();
