import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/index.ts";
import type { Child } from "../../support/processes/child.ts";
import { useResources } from "../../support/resources.ts";
import {
  approvalOf,
  askedIn,
  saidIn,
  startA2aServer,
  stateOf,
  taskIn,
  Wire,
  type WireTask,
} from "./a2a-server.ts";
import type { A2aLine } from "./server.program.ts";

const resources = useResources();
const PROGRAM = new URL("./server.program.ts", import.meta.url);
const DELETE = { id: "call-1", name: "delete_file", args: { path: "a" } };
const HOLD = { id: "call-1", name: "hold", args: {} };
const DONE = 'delete_file: {"status":"ok"}';

interface Served {
  readonly child: Child<A2aLine>;
  readonly wire: Wire;
}

/** A server on this database, in a process of its own. */
async function start(folder: string, mode = ""): Promise<Served> {
  const child = resources.child<A2aLine>(PROGRAM, { args: [join(folder, "ledger.db"), mode] });
  const { url } = await child.line("listening");
  return { child, wire: new Wire({ url }, { hitl: true }) };
}

/** The states that a stream tells, the task's first. */
async function statesIn(stream: AsyncGenerator<JsonObject>): Promise<readonly string[]> {
  const states: string[] = [];
  for await (const { result } of stream) {
    const { task, statusUpdate } = result as { task?: WireTask; statusUpdate?: Pick<WireTask, "status"> };
    const told = task ?? statusUpdate;
    if (told !== undefined) states.push(stateOf(told as WireTask));
  }
  return states;
}

/** The task once it is not at work any more. */
async function still(wire: Wire, id: string): Promise<WireTask> {
  for await (const { result } of wire.stream("SubscribeToTask", { id })) {
    const { task, statusUpdate } = (result ?? {}) as { task?: WireTask; statusUpdate?: WireTask };
    const told = task ?? statusUpdate;
    if (told !== undefined && stateOf(told) !== "working") break;
  }
  return taskIn(await wire.get(id));
}

describe("processes", () => {
  test("a pause outlives a server that is killed, and the task that paused is the one that completes", async () => {
    const folder = await resources.folder();
    const first = await start(folder);
    const task = await first.wire.order(DELETE);
    await first.child.kill();
    const { wire, child } = await start(folder);
    expect(taskIn(await wire.get(task.id))).toEqual(task);
    const done = taskIn(await wire.answer(task, approvalOf(task)));
    expect([done.id, stateOf(done), saidIn(done)]).toEqual([task.id, "completed", DONE]);
    await child.line("ran");
  });

  test("a question of one server is answered at another, and a stream of the first shows it", async () => {
    const folder = await resources.folder();
    const [here, there] = await Promise.all([start(folder), start(folder)]);
    const task = await here.wire.order(DELETE);
    const told = here.wire.stream("SubscribeToTask", { id: task.id });
    await told.next();
    const done = taskIn(await there.wire.answer(task, approvalOf(task)));
    expect(stateOf(done)).toBe("completed");
    expect((await statesIn(told)).at(-1)).toBe("completed");
    expect(taskIn(await here.wire.get(task.id))).toEqual(done);
    expect(taskIn(await there.wire.get(task.id))).toEqual(done);
  });

  test("killed after the answer and inside the call, the task says that a person must settle it; nothing runs again", async () => {
    const folder = await resources.folder();
    const first = await start(folder, "stall");
    const task = await first.wire.order(HOLD);
    const cutOff = first.wire.answer(task, approvalOf(task), { messageId: "m-1" }).catch(() => "cut off");
    await first.child.line("ran");
    await first.child.kill();
    expect(await cutOff).toBe("cut off");
    const { wire, child } = await start(folder);
    // The lease of the one that died has to run out first; the stream tells when it has.
    const lost = await still(wire, task.id);
    expect(stateOf(lost)).toBe("input-required");
    expect(lost.status.message?.parts[0]?.text).toContain("settle");
    // The client does not know what became of its message, and sends it again.
    const again = taskIn(await wire.answer(task, approvalOf(task), { messageId: "m-1" }));
    expect(stateOf(again)).toBe("input-required");
    child.send("anything");
    expect(taskIn(await wire.get(task.id))).toEqual(lost);
  });

  test("killed after the call, while its model is asked, the task completes at the next server", async () => {
    const folder = await resources.folder();
    const first = await start(folder, "mute");
    const task = await first.wire.order(DELETE);
    const told = first.wire.answer(task, approvalOf(task)).catch(() => undefined);
    await first.child.line("muted");
    await first.child.kill();
    await told;
    const { wire } = await start(folder);
    const last = await still(wire, task.id);
    expect([stateOf(last), saidIn(last)]).toEqual(["completed", DONE]);
  });
});

describe("restarts", () => {
  test("an interrupted stream is resumed at another server on the same file", async () => {
    const ledger = `sqlite:${join(await resources.folder(), "ledger.db")}`;
    const before = await startA2aServer(resources, { ledger });
    const wire = new Wire(before, { hitl: true });
    const task = await wire.order(DELETE);
    const leaving = new AbortController();
    const told = wire.stream("SubscribeToTask", { id: task.id }, leaving.signal);
    await told.next();
    leaving.abort();
    await told.next().catch(() => undefined);
    await before.close();
    const second = await startA2aServer(resources, { ledger });
    const resumed = new Wire(second, { hitl: true });
    const again = resumed.stream("SubscribeToTask", { id: task.id });
    const first = (await again.next()).value as { readonly result: { readonly task: WireTask } };
    expect(first.result.task).toEqual(task);
    await second.runner.approve(askedIn(task)[0] ?? "", { by: { id: "boss" } });
    expect((await statesIn(again)).at(-1)).toBe("completed");
    expect(second.ran).toHaveLength(1);
  });

  test("the older form still knows what was shown after a restart", async () => {
    const ledger = `sqlite:${join(await resources.folder(), "ledger.db")}`;
    const first = await startA2aServer(resources, { ledger });
    const task = await new Wire(first).order(DELETE);
    await first.close();
    const second = await startA2aServer(resources, { ledger });
    const done = taskIn(await new Wire(second).decide(task, { decision_type: "approve" }));
    expect([done.id, stateOf(done), saidIn(done)]).toEqual([task.id, "completed", DONE]);
  });

  test("a message whose answer got lost is not taken twice by another server", async () => {
    const ledger = `sqlite:${join(await resources.folder(), "ledger.db")}`;
    const [first, second] = [
      await startA2aServer(resources, { ledger }),
      await startA2aServer(resources, { ledger }),
    ];
    const [here, there] = [new Wire(first, { hitl: true }), new Wire(second, { hitl: true })];
    const message = { messageId: "m-1", parts: [here.text(JSON.stringify([DELETE]))] };
    const [one, other] = await Promise.all([here.send(message), there.send(message)]);
    expect(taskIn(one).id).toBe(taskIn(other).id);
    const task = taskIn(one);
    const answers = await Promise.all([
      here.answer(task, approvalOf(task), { messageId: "m-2" }),
      there.answer(task, approvalOf(task), { messageId: "m-2" }),
    ]);
    expect(answers.map((answer) => stateOf(taskIn(answer)))).toEqual(["completed", "completed"]);
    expect(first.ran.length + second.ran.length).toBe(1);
  });
});
