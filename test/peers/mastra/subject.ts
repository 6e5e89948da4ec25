import { Agent, type AgentRun } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { InMemoryStore, type WorkflowsStorage } from "@mastra/core/storage";
import type { ChunkType } from "@mastra/core/stream";
import { createTool } from "@mastra/core/tools";
import { z } from "zod";
import { createGate, type MastraGate } from "../../../src/adapters/mastra/index.ts";
import type { JsonObject } from "../../../src/protocol/index.ts";
import {
  type AdapterHost,
  type AdapterSubject,
  type ModelCall,
  ORDER_DESCRIPTION,
  ORDER_INPUT,
  ORDER_RULE,
  PAY_RULE,
  type Progress,
  type Seen,
  TRANSFER_DESCRIPTION,
  TRANSFER_INPUT,
  type World,
} from "../../adapters/contract/subject.ts";
import { scripted } from "./scripted.ts";

/** Mastra: the snapshots of a suspended run as its state. */
export const subject: AdapterSubject = { name: "mastra", open: (world) => new MastraHost(world) };

/** The arguments of `pay`. */
export const PAY = z.object({
  amount: z.number(),
  to: z.string().optional(),
  hang: z.boolean().optional(),
});

type Told = Record<string, string>;
type Snapshot = Parameters<WorkflowsStorage["persistWorkflowSnapshot"]>[0];

class MastraHost implements AdapterHost {
  readonly #world: World;
  readonly #gate: MastraGate;

  constructor(world: World) {
    this.#world = world;
    const { engine, app, thread } = world;
    // The thread is the server's, whatever a state says.
    this.#gate = createGate({ engine, app, identify: () => ({ thread }) });
  }

  async send(calls: readonly ModelCall[]): Promise<Progress> {
    const storage = new InMemoryStore();
    const told: Told = {};
    const agent = this.#agent(storage, calls, told);
    const memory = { thread: this.#world.thread, resource: "user" };
    const ended =
      this.#world.streams === true
        ? await read(await agent.stream("Pay.", { memory }))
        : endOf(await agent.generate("Pay.", { memory }));
    return { state: await saved(storage), told, ...ended };
  }

  async resume(state: string): Promise<Progress> {
    return this.#goOn(state, async (run) => {
      const resumption = await this.#gate.resume(run);
      return resumption.ready ? resumption.resumeData : undefined;
    });
  }

  forge(state: string): Promise<Progress> {
    return this.#goOn(state, async () => ({ approved: true }));
  }

  cancel(reason: string): Promise<number> {
    return this.#gate.cancel(this.#world.thread, reason);
  }

  async #goOn(state: string, answer: (run: AgentRun) => Promise<object | undefined>): Promise<Progress> {
    const storage = await restored(state);
    const told: Told = {};
    const agent = this.#agent(storage, [], told);
    const [run] = (await agent.listSuspendedRuns()).runs;
    if (run === undefined) throw new Error("It does not wait.");
    const resumeData = await answer(run);
    if (resumeData === undefined) return { state, status: "paused", told };
    const at = { runId: run.runId };
    const ended =
      this.#world.streams === true
        ? await read(await agent.resumeStream(resumeData, at))
        : endOf(await agent.resumeGenerate(resumeData, at));
    return { state: await saved(storage), told, ...ended };
  }

  #agent(storage: InMemoryStore, calls: readonly ModelCall[], told: Told): Agent {
    const { description, expiresInMs, few, noteOutside } = this.#world;
    const pay = createTool({
      id: "pay",
      description,
      inputSchema: PAY,
      execute: (input) => this.#world.pay(input as JsonObject),
    });
    const order = createTool({
      id: "order",
      description: ORDER_DESCRIPTION,
      inputSchema: ORDER_INPUT,
      execute: (input) => this.#world.pay(input),
    });
    const transfer = createTool({
      id: "transfer",
      description: TRANSFER_DESCRIPTION,
      inputSchema: TRANSFER_INPUT,
      execute: (input) => this.#world.pay(input as JsonObject),
    });
    const rule = { ...PAY_RULE, ...(expiresInMs === undefined ? {} : { expiresInMs }) };
    const agent = new Agent({
      id: "cashier",
      name: "cashier",
      instructions: "Pay.",
      model: scripted(calls, told),
      tools:
        few === true
          ? noteOutside === true
            ? { ...this.#gate.tools({ pay }, { pay: rule as never }), note: noteTool() }
            : this.#gate.tools({ pay, note: noteTool() }, { pay: rule as never })
          : this.#gate.tools(
              { pay, order, transfer, note: noteTool() },
              { pay: rule as never, order: ORDER_RULE, transfer: ORDER_RULE },
            ),
    });
    new Mastra({ agents: { agent }, storage, logger: false });
    return agent;
  }
}

export function noteTool() {
  return createTool({
    id: "note",
    description: "Notes a text.",
    inputSchema: z.object({ text: z.string() }),
    execute: async (input) => input,
  });
}

type Ended = Pick<Progress, "status" | "seen">;

function endOf({ finishReason }: { readonly finishReason?: string | undefined }): Ended {
  return { status: statusOf(finishReason) };
}

async function read(run: Awaited<ReturnType<Agent["stream"]>>): Promise<Ended> {
  const seen: Seen[] = [];
  for await (const part of run.fullStream) seen.push(...seenIn(part));
  return { status: statusOf(await run.finishReason), seen };
}

function seenIn(part: ChunkType): readonly Seen[] {
  switch (part.type) {
    case "text-delta":
      return [{ text: part.payload.text }];
    case "tool-call":
      return [{ call: part.payload.toolCallId }];
    case "tool-call-suspended":
      return [{ asked: part.payload.toolCallId }];
    case "tool-result":
    case "tool-error":
      return [{ result: part.payload.toolCallId }];
    default:
      return [];
  }
}

export function statusOf(finishReason: string | undefined): Progress["status"] {
  return finishReason === "suspended" ? "paused" : "done";
}

async function workflowsOf(storage: InMemoryStore): Promise<WorkflowsStorage> {
  const workflows = await storage.getStore("workflows");
  if (workflows === undefined) throw new Error("The storage has no workflows.");
  return workflows;
}

/** The suspended runs, as text. */
export async function saved(storage: InMemoryStore): Promise<string> {
  const { runs } = await (await workflowsOf(storage)).listWorkflowRuns();
  return JSON.stringify(
    runs.map(({ workflowName, runId, resourceId, snapshot }) => ({
      workflowName,
      runId,
      resourceId,
      snapshot,
    })),
  );
}

export async function restored(state: string): Promise<InMemoryStore> {
  const storage = new InMemoryStore();
  const workflows = await workflowsOf(storage);
  for (const snapshot of JSON.parse(state) as Snapshot[]) await workflows.persistWorkflowSnapshot(snapshot);
  return storage;
}
