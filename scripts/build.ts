// Empties dist and compiles src into it, without its tests.
import { rmSync } from "node:fs";
import { command, ROOT } from "./command.ts";

rmSync(`${ROOT}/dist`, { recursive: true, force: true });
const { status, stderr } = command("tsc", ["-p", "tsconfig.build.json"], { show: true });
process.stderr.write(stderr);
process.exitCode = status;
