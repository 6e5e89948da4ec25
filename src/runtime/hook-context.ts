import type { FrameRecord } from "../engine/index.ts";
import type { AnyAgent } from "./agent.ts";
import type { HookContext } from "./hooks.ts";
import type { RunContext } from "./run-context.ts";
import { State } from "./state.ts";

/** What the hooks of one step of an agent look at; undefined if the session is gone. */
export async function hookContextFor(
  run: RunContext,
  agent: AnyAgent,
  frame: FrameRecord,
): Promise<HookContext | undefined> {
  const session = await run.names.of(frame.session);
  if (session === undefined) return undefined;
  return {
    agentName: agent.name,
    userId: session.user,
    sessionId: session.id,
    invocationId: frame.invocation,
    state: new State(await run.engine.ledger.state(frame.session)),
  };
}
