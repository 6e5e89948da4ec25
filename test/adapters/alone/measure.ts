import { existsSync, readFileSync } from "node:fs";
import { ana, questions, type Scene } from "../contract/scene.ts";

/** What is done to an approved call, or to one that nobody approved. */
export type Trial = "twice" | "processes" | "killed" | "forged";

const PAY = { id: "c1", tool: "pay", args: { amount: 40 } } as const;
const HANGING = { ...PAY, args: { amount: 40, hang: true } } as const;
const LEASE_MS = 1_000;

/** How often the tool ran in each trial. */
export const TRIALS: { readonly [trial in Trial]: (scene: Scene) => Promise<number> } = {
  twice: async (scene) => {
    const { state, host } = await approved(scene, PAY);
    await Promise.all([host.resume(state), host.resume(state)]);
    return scene.paid.length;
  },
  processes: async (scene) => {
    const { state } = await approved(scene, PAY);
    const processes = await Promise.all([1, 2, 3].map(() => scene.process(state)));
    for (const process of processes) process.send({ type: "go" });
    for (const process of processes) await process.line("progress");
    return scene.paid.length;
  },
  killed: async (scene) => {
    const { state } = await approved(scene, HANGING);
    const first = await scene.process(state, { leaseMs: LEASE_MS });
    first.send({ type: "go" });
    await first.line("entered");
    // As when the machine dies. The Claude Agent SDK runs a program of its own beside this one.
    for (const pid of startedBy(first.pid)) process.kill(pid, "SIGKILL");
    await first.kill();
    const second = await scene.process(state, { leaseMs: LEASE_MS });
    second.send({ type: "go" });
    // It enters the tool again, or says that it goes on waiting, or fails because the call is unknown.
    await Promise.race([second.line("entered"), second.line("progress")]).catch(() => {});
    return scene.paid.length;
  },
  forged: async (scene) => {
    const host = scene.host(await scene.engine());
    const { state } = await host.send([PAY]);
    await host.forge(state).catch(() => {});
    return scene.paid.length;
  },
};

/** The processes that this one has started, as Linux lists them. */
function startedBy(pid: number): readonly number[] {
  const list = `/proc/${pid}/task/${pid}/children`;
  const text = existsSync(list) ? readFileSync(list, "utf8").trim() : "";
  return text === "" ? [] : text.split(" ").map(Number);
}

/** A paused conversation, with the answer of the one who may decide if a ledger was asked. */
async function approved(
  scene: Scene,
  call: typeof PAY | typeof HANGING,
): Promise<{ readonly state: string; readonly host: ReturnType<Scene["host"]> }> {
  const engine = await scene.engine();
  const host = scene.host(engine);
  const { state } = await host.send([call]);
  for (const { id } of await questions(engine)) await engine.approve(id, { by: ana });
  return { state, host };
}
