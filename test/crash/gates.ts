import {
  type CallContext,
  type Engine,
  type GatedFunction,
  type GateOptions,
  OutcomeUnknown,
  type Policy,
} from "../../src/engine/index.ts";
import type { JsonObject, JsonValue } from "../../src/protocol/index.ts";
import { WATCH } from "../support/ledger/ledger-view.ts";
import { isConversation, KINDS, type Kind, TOOL_FAILURE } from "./life.ts";
import type { World } from "./world.ts";

type Body = (args: JsonObject, context: CallContext) => Promise<JsonValue>;
type GateKind = Exclude<Kind, "turn" | "converse" | "delegate">;

const EXPIRES_IN_MS = 250;

const OPTIONS: { readonly [kind in GateKind]: GateOptions<JsonObject> } = {
  approve: { requireConfirmation: true },
  deny: { requireConfirmation: true },
  expire: { requireConfirmation: true, expiresInMs: EXPIRES_IN_MS },
  withdraw: { requireConfirmation: true },
  idempotent: { requireConfirmation: true, idempotent: true },
  ungated: {},
  lookup: { readOnly: true },
  asks: {},
  adk: {},
  worded: { onDenied: "invoke", expiresInMs: EXPIRES_IN_MS },
  fails: { requireConfirmation: true },
  unsure: { requireConfirmation: true },
  votes: { requireConfirmation: true },
};

/** For `votes`: who votes, and who may fill in for them after a while. */
export const VOTERS: readonly string[] = ["vera", "viktor"];
export const CHIEF = "chief";

/** Two voters must approve `votes`; they are reminded, and then the chief may fill in. */
export const votesPolicy: Policy = ({ tool }) =>
  tool === "votes"
    ? {
        outcome: "confirm",
        reason: "needs two votes",
        requirements: [{ from: { users: VOTERS }, count: 2 }],
        remindAfterMs: [60],
        escalate: [{ afterMs: 120, to: { users: [CHIEF] } }],
      }
    : undefined;

/** Puts one function of each kind behind the engine's gate. */
export function defineGates(
  engine: Engine,
  world: World,
): ReadonlyMap<Kind, GatedFunction<JsonObject, JsonValue>> {
  const gates = new Map<Kind, GatedFunction<JsonObject, JsonValue>>();
  for (const kind of [...KINDS, "votes"] as const) {
    if (isConversation(kind)) continue;
    const gate = kind as GateKind;
    gates.set(kind, engine.gate(kind, OPTIONS[gate], bodyOf(gate, world)));
  }
  return gates;
}

/** Puts the function that does not end behind the gate. Run again by a person's word, it ends at once. */
export function defineWatch(engine: Engine, world: World): GatedFunction<JsonObject, JsonValue> {
  return engine.gate(WATCH, {}, async (args: JsonObject, context) => {
    if (context.attempt === 1) await new Promise(() => {});
    return perform(world, { tool: WATCH, args, approvals: 0 }, context);
  });
}

function bodyOf(kind: GateKind, world: World): Body {
  switch (kind) {
    case "asks":
      return (args, context) => asks(world, args, context);
    case "adk":
    case "worded":
      return (args, context) => asksAsTheAdkDoes(world, { tool: kind, args }, context);
    default: {
      const approvals = OPTIONS[kind].requireConfirmation === true ? 1 : 0;
      return (args, context) => perform(world, { tool: kind, args, approvals }, context);
    }
  }
}

interface Job {
  readonly tool: string;
  readonly args: JsonObject;
  readonly approvals: number;
}

/** The part of a tool that must happen once. The first thing it does can be seen from outside. */
export async function perform(world: World, job: Job, context: CallContext): Promise<JsonValue> {
  world.killer.reach("tool:enter");
  await world.act(context, { ...job, what: "body" });
  world.killer.reach("tool:effect");
  await world.work(context);
  if (job.tool === "fails") throw new Error(TOOL_FAILURE);
  if (job.tool === "unsure") throw new OutcomeUnknown("the line went dead");
  return { did: context.idempotencyKey };
}

async function asks(world: World, args: JsonObject, context: CallContext): Promise<JsonValue> {
  const step = (name: string, approvals: number): Promise<string> =>
    context.step(name, async ({ idempotencyKey: key }) => {
      world.killer.reach("step:enter");
      await world.act(context, { tool: "asks", what: `step:${name}`, args, approvals, key });
      world.killer.reach("step:effect");
      await world.work(context);
      return name;
    });
  await step("charge", 0);
  await context.confirm("manager", { hint: "May it be shipped?" });
  await step("ship", 1);
  await context.confirm("director", { hint: "May it be announced?", payload: { loudly: false } });
  return perform(world, { tool: "asks", args, approvals: 2 }, context);
}

async function asksAsTheAdkDoes(
  world: World,
  { tool, args }: Omit<Job, "approvals">,
  context: CallContext,
): Promise<JsonValue> {
  const { toolConfirmation } = context;
  if (toolConfirmation === undefined) {
    context.requestConfirmation({ hint: "May I?" });
    return "discarded";
  }
  if (!toolConfirmation.confirmed) return { worded: "then not" };
  return perform(world, { tool, args, approvals: 1 }, context);
}
