import { createA2aApp, RemoteAgent, type RemoteAgentOptions } from "../../../src/a2a/index.ts";
import { createApp } from "../../../src/http/index.ts";
import { serve } from "../../../src/http/node/index.ts";
import { Agent, agentTool, createEngine, type Engine, type Policy, Runner } from "../../../src/index.ts";
import { scripted } from "../../../src/models/scripted/index.ts";
import type { Resources } from "../../support/resources.ts";
import type { WantedCall } from "../a2a/a2a-server.ts";

/** Asks its remote agent for what the message says, and says back what it was answered. */
export const asking = scripted(({ contents }) => {
  const parts = contents.at(-1)?.parts ?? [];
  const answers = parts.flatMap(({ functionResponse }) => functionResponse ?? []);
  if (answers.length > 0) return answers.map(({ response }) => JSON.stringify(response)).join("; ");
  const request = parts.map((part) => part.text ?? "").join("");
  return [{ functionCall: { name: "desk", args: { request } } }];
});

/** Hands over to its remote agent. */
const handing = scripted(() => [
  { functionCall: { name: "transfer_to_agent", args: { agent_name: "desk" } } },
]);

export interface CallingServerOptions extends Partial<Omit<RemoteAgentOptions, "name" | "card">> {
  readonly ledger?: string;
  readonly by?: "tool" | "transfer";
  readonly policy?: Policy;
  /** Takes up nothing by itself: only what is decided in this process goes on. */
  readonly idle?: boolean;
}

/** A server with an agent that calls a remote agent; itself served over A2A. */
export interface CallingServer {
  readonly url: string;
  readonly engine: Engine;
  readonly runner: Runner;
  close(): Promise<void>;
}

export function callingAgent(remoteUrl: string, options: CallingServerOptions = {}): Agent {
  const { ledger: _ledger, by = "tool", policy: _policy, idle: _idle, ...more } = options;
  const card = new URL(`${remoteUrl}/.well-known/agent-card.json`);
  const a2aServer = new RemoteAgent({ name: "desk", description: "Manages files.", card, ...more });
  return by === "tool"
    ? new Agent({ name: "office", model: asking, tools: [agentTool(a2aServer)] })
    : new Agent({ name: "office", model: handing, subAgents: [a2aServer] });
}

export async function startCallingServer(
  resources: Resources,
  remoteUrl: string,
  options: CallingServerOptions = {},
): Promise<CallingServer> {
  const { ledger = "memory:", policy, idle = false } = options;
  const engine = await createEngine({ ledger, leaseMs: 2_000, heartbeatMs: 500 });
  const agent = callingAgent(remoteUrl, options);
  const runner = new Runner({ agent, engine, ...(policy === undefined ? {} : { policy }) });
  const worker = idle ? undefined : runner.work({ sweepMs: 200 });
  const app = createApp({ apps: { office: runner }, mounts: [createA2aApp({ apps: { office: runner } })] });
  const server = await serve({ app, port: 0 });
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await server.close({ graceMs: 0 });
    await worker?.stop();
    await runner.close();
    await engine.close();
  };
  const closeOnce = (): Promise<void> => (closed ??= close());
  resources.add(closeOnce);
  return { url: `${server.url}/a2a/office`, engine, runner, close: closeOnce };
}

/** The message by which the desk makes these calls. */
export function order(...calls: readonly WantedCall[]): string {
  return JSON.stringify(calls);
}
