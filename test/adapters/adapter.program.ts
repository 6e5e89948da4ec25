import { Engine } from "../../src/engine/index.ts";
import { createLedger } from "../../src/stores/index.ts";
import { listen, programOptions, say } from "../support/processes/program.ts";
import type { ProgramLine, ProgramOptions } from "./contract/program.ts";
import { worldOf } from "./contract/scene.ts";
import { SUBJECTS } from "./subjects/index.ts";

// One process of an adapter's program: it goes on from a state when the test says so.
const { url, effects, subject: name, state, leaseMs } = programOptions() as ProgramOptions;
const engine = new Engine({
  ledger: await createLedger(url),
  ...(leaseMs === undefined ? {} : { leaseMs, heartbeatMs: leaseMs / 4 }),
});
const subject = SUBJECTS.find((each) => each.name === name);
if (subject === undefined) throw new Error(`There is no subject ${name}.`);
const tell = (line: ProgramLine): void => say(line);
const host = subject.open(worldOf({ engine, effects, entered: () => tell({ type: "entered" }) }));
listen(() => {
  host.resume(state).then(
    (progress) => tell({ type: "progress", progress }),
    (error: unknown) => {
      throw error;
    },
  );
});
tell({ type: "ready" });
