import { Engine } from "../../../src/engine/index.ts";
import { createLedger } from "../../../src/stores/index.ts";
import { listen, programOptions, say } from "../../support/processes/program.ts";
import type { ProgramLine, ProgramOptions } from "./program.ts";
import { worldOf } from "./scene.ts";
import type { AdapterSubject } from "./subject.ts";

/** One process of an adapter's program: it goes on from a state when the test says so. */
export async function runProgram(subjectOf: (name: string) => Promise<AdapterSubject>): Promise<void> {
  const { url, effects, subject: name, state, leaseMs, streams } = programOptions() as ProgramOptions;
  const engine = new Engine({
    ledger: await createLedger(url),
    ...(leaseMs === undefined ? {} : { leaseMs, heartbeatMs: leaseMs / 4 }),
  });
  const subject = await subjectOf(name);
  const host = subject.open(worldOf({ engine, effects, entered: () => tell({ type: "entered" }), streams }));
  listen(() => {
    host.resume(state).then(
      (progress) => tell({ type: "progress", progress }),
      (error: unknown) => {
        throw error;
      },
    );
  });
  tell({ type: "ready" });
}

function tell(line: ProgramLine): void {
  say(line);
}
