import { expect, test } from "vitest";
import { useResources } from "../support/resources.ts";
import { Race, type RacerHandle } from "./race.ts";
import type { Answer } from "./racing.ts";

const resources = useResources();

/** Long enough that a busy machine does not let a lease lapse which the test did not stop. */
const LEASE = { leaseMs: 3_000, heartbeatMs: 300 };

interface Stopped {
  readonly race: Race;
  readonly stopped: RacerHandle;
  readonly other: RacerHandle;
  readonly call: string;
  readonly confirmation: string;
  /** What whoever approved it is told in the end. */
  readonly decided: Promise<readonly Answer[]>;
}

/** A process that was stopped inside the body, for so long that another one gave it up. */
async function stoppedInBody(): Promise<Stopped> {
  const race = await Race.on(resources);
  const stopped = await race.racer("stopped", LEASE);
  const other = await race.racer("other", { ...LEASE, works: true });
  const { call, confirmation } = await race.open(stopped, "slow");
  const decided = stopped.ask({ do: "decide", confirmation, confirmed: true, times: 1 });
  await stopped.child.line("in-body");
  stopped.child.signal("SIGSTOP");
  await other.ask({ do: "await-call", call, status: "unknown" });
  return { race, stopped, other, call, confirmation, decided };
}

async function kindsOf(race: Race, call: string): Promise<readonly string[]> {
  return (await race.journal()).filter(({ body }) => body["call"] === call).map(({ kind }) => kind);
}

test("a process stopped in the body for longer than its lease: its late result is accepted, once", async () => {
  const { race, stopped, call, decided } = await stoppedInBody();
  stopped.child.signal("SIGCONT");
  stopped.child.send({ type: "leave-body" });
  expect(await decided).toMatchObject([
    { final: { status: "succeeded", result: { by: "stopped", attempt: 1 } } },
  ]);
  expect(race.runsOf(call)).toHaveLength(1);
  expect(await kindsOf(race, call)).toEqual([
    "confirmation-requested",
    "confirmation-approved",
    "call-unknown",
    "call-succeeded",
  ]);
  expect((await race.journal()).at(-1)?.body).toMatchObject({ late: true, attempt: 1 });
  expect(await race.check()).toEqual([]);
});

test("a result that comes after a person retried the call changes nothing and is journalled", async () => {
  const { race, stopped, other, call, decided } = await stoppedInBody();
  const settled = await other.ask({ do: "settle", call, settlement: { as: "retry" } });
  expect(settled).toEqual({ ok: true });
  await other.child.line("in-body");
  stopped.child.signal("SIGCONT");
  stopped.child.send({ type: "leave-body" });
  await other.ask({ do: "await-record", kind: "late-result" });
  expect(await race.calls()).toMatchObject([{ status: "executing", attempt: 2 }]);
  expect((await race.journal()).at(-1)).toMatchObject({
    kind: "late-result",
    body: { attempt: 1, outcome: "succeeded", statusThen: "executing" },
  });
  other.child.send({ type: "leave-body" });
  await other.ask({ do: "await-call", call, status: "succeeded" });
  expect(await race.calls()).toMatchObject([{ attempt: 2, result: { by: "other", attempt: 2 } }]);
  expect(await decided).toMatchObject([{ final: { status: "succeeded", result: { by: "other" } } }]);
  expect(race.runsOf(call).map(({ attempt, key }) => [attempt, key])).toEqual([
    [1, call],
    [2, call],
  ]);
  expect(await race.check()).toEqual([]);
});

test("a result that comes after a person settled the call as failed changes nothing and is journalled", async () => {
  const { race, stopped, other, call, decided } = await stoppedInBody();
  await other.ask({ do: "settle", call, settlement: { as: "failed", error: "given up" } });
  stopped.child.signal("SIGCONT");
  stopped.child.send({ type: "leave-body" });
  await other.ask({ do: "await-record", kind: "late-result" });
  expect(await race.calls()).toMatchObject([{ status: "failed", attempt: 1, result: { error: "given up" } }]);
  expect(await decided).toMatchObject([{ final: { status: "failed", result: { error: "given up" } } }]);
  expect(race.runsOf(call)).toHaveLength(1);
  expect(await race.check()).toEqual([]);
});

/** A process that was stopped after its claim and before the body, for so long that it was given up. */
async function stoppedBeforeBody(): Promise<Stopped> {
  const race = await Race.on(resources);
  const stopped = await race.racer("stopped", { ...LEASE, stopsAfterClaim: true });
  const other = await race.racer("other", { ...LEASE, works: true });
  const { call, confirmation } = await race.open(other, "quick");
  const decided = stopped.ask({ do: "decide", confirmation, confirmed: true, times: 1 });
  await stopped.child.line("claimed");
  await other.ask({ do: "await-call", call, status: "unknown" });
  return { race, stopped, other, call, confirmation, decided };
}

test("a process stopped between claim and body does not start it; the call is given back and runs once", async () => {
  const { race, stopped, call, decided } = await stoppedBeforeBody();
  expect(race.runsOf(call)).toEqual([]);
  stopped.child.signal("SIGCONT");
  expect(await decided).toMatchObject([{ final: { status: "succeeded", result: { attempt: 2 } } }]);
  expect(race.runsOf(call).map(({ attempt }) => attempt)).toEqual([2]);
  expect(await kindsOf(race, call)).toEqual([
    "confirmation-requested",
    "confirmation-approved",
    "call-unknown",
    "call-released",
    "call-started",
    "call-succeeded",
  ]);
  expect(await race.check()).toEqual([]);
});

test("a process suspended between claim and tool does not start a call that a person settled meanwhile", async () => {
  const { race, stopped, other, call, decided } = await stoppedBeforeBody();
  await other.ask({ do: "settle", call, settlement: { as: "failed", error: "given up" } });
  stopped.child.signal("SIGCONT");
  expect(await decided).toMatchObject([{ final: { status: "failed", result: { error: "given up" } } }]);
  expect(race.runsOf(call)).toEqual([]);
  expect(await race.check()).toEqual([]);
});
