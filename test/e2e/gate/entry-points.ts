import { expect } from "vitest";
import { z } from "zod";
import { toConfirmation } from "../../../src/engine/index.ts";
import {
  Agent,
  type Confirmation,
  createEngine,
  type Engine,
  type Policy,
  type PolicySource,
  Runner,
  tool,
} from "../../../src/index.ts";
import { McpGateway } from "../../../src/mcp/index.ts";
import { scripted } from "../../../src/models/scripted/index.ts";
import { connectClient, scriptedPeer } from "../../support/mcp/scripted-peer.ts";
import type { Resources } from "../../support/resources.ts";
import { startA2aServer } from "../a2a/a2a-server.ts";
import { toolNamed } from "../mcp/gateway-process.ts";
import { callingAgent, order } from "../remote/calling-server.ts";

export const ARGS = { path: "a" };
const PARAMETERS = z.object({ path: z.string() });
export const BY = { id: "ana" };

export interface EntryOptions {
  readonly policy: Policy | PolicySource;
  /** Does the author, the gateway's owner or the remote agent ask for a person, too? */
  readonly gated?: boolean | (() => boolean);
  readonly hint?: () => string;
}

/** One way for calls to come in. */
export interface OpenEntry {
  readonly engine: Engine;
  /** The tool that is called. */
  readonly tool: string;
  /** Makes the call; resolves to what the caller is told. */
  call(): Promise<string>;
  /** How often the body was entered. */
  ran(): Promise<number>;
  /** Has a caller that runs its calls itself look at the call again. Others leave that to the engine's worker. */
  again?(): Promise<string>;
}

/** The one question that is open, once it is. */
export async function asked({ engine }: OpenEntry): Promise<Confirmation> {
  const open = async () => (await engine.ledger.confirmations({ state: "open" })).items;
  await expect.poll(open).toHaveLength(1);
  const [item] = await open();
  if (item === undefined) throw new Error("Nothing is open.");
  return toConfirmation(item);
}

export type Open = (resources: Resources, options: EntryOptions) => Promise<OpenEntry>;

/** Makes the one call, and says back what it was answered. */
export const calling = scripted(({ contents }) => {
  const answers = (contents.at(-1)?.parts ?? []).flatMap(({ functionResponse }) => functionResponse ?? []);
  if (answers.length > 0) return answers.map(({ response }) => JSON.stringify(response)).join();
  return [{ functionCall: { name: "erase", args: ARGS } }];
});

const openRunner: Open = async (resources, { policy, gated = false, hint }) => {
  const engine = await createEngine({ ledger: "memory:", policy });
  let entered = 0;
  const erase = tool({
    name: "erase",
    description: "Erases.",
    parameters: PARAMETERS,
    requireConfirmation: gated,
    amendable: true,
    ...(hint === undefined ? {} : { confirmationHint: hint }),
    execute: () => {
      entered += 1;
      return "erased";
    },
  });
  const runner = new Runner({ agent: new Agent({ name: "office", model: calling, tools: [erase] }), engine });
  resources.add(async () => {
    await runner.close();
    await engine.close();
  });
  const call = async (): Promise<string> => (await runner.send("Erase it.", { user: BY.id })).text;
  return { engine, tool: "erase", call, ran: async () => entered };
};

const openGate: Open = async (resources, { policy, gated = false, hint }) => {
  const engine = await createEngine({ ledger: "memory:", policy });
  resources.add(() => engine.close());
  let entered = 0;
  const erase = engine.gate(
    "erase",
    {
      parameters: PARAMETERS,
      requireConfirmation: gated,
      amendable: true,
      ...(hint === undefined ? {} : { confirmationHint: hint }),
    },
    async () => {
      entered += 1;
      return "erased";
    },
  );
  const call = async (): Promise<string> => JSON.stringify(await erase(ARGS, { key: "k", by: BY }));
  return { engine, tool: "erase", call, ran: async () => entered };
};

const openGateway: Open = async (resources, { policy, gated = false }) => {
  const tools = ["erase", "other"].map(toolNamed);
  const { server, calls } = await scriptedPeer(await resources.folder(), tools);
  const engine = await createEngine({ ledger: "memory:", policy });
  const require = [gated === false ? "other" : "erase"];
  const gateway = new McpGateway({ engine, name: "peer", server, by: BY, require });
  resources.add(async () => {
    await gateway.close();
    await engine.close();
  });
  const client = await connectClient(resources, gateway);
  const call = async (): Promise<string> =>
    JSON.stringify(await client.callTool({ name: "erase", arguments: ARGS }));
  const ran = async (): Promise<number> =>
    (await calls()).filter((line) => line.startsWith("call erase")).length;
  return { engine, tool: "erase", call, ran };
};

// A remote agent asks for its own reasons, whatever the test wants: its card here is a gate that is always met.
const openRemote: Open = async (resources, { policy }) => {
  const remote = await startA2aServer(resources);
  const engine = await createEngine({ ledger: "memory:", policy });
  const runner = new Runner({ agent: callingAgent(remote.url), engine });
  resources.add(async () => {
    await runner.close();
    await engine.close();
  });
  const message = order({ id: "call-1", name: "delete_file", args: ARGS });
  const call = async (): Promise<string> => (await runner.send(message, { user: BY.id })).text;
  return { engine, tool: "delete_file", call, ran: async () => remote.ran.length };
};

export const ENTRY_POINTS: readonly (readonly [string, Open])[] = [
  ["a Runner's tool", openRunner],
  ["a gated function", openGate],
  ["an MCP gateway's tool", openGateway],
  ["a remote agent's call", openRemote],
];
