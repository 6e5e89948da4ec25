import { type AskedCall, type DecisionInput, errorText, type Principal } from "../../engine/index.ts";
import { isJsonObject, type ToolConfirmation } from "../../protocol/index.ts";
import { Agent, type ConfirmationProvider, type ConfirmationRequest } from "../agents/index.ts";
import type { RunContext } from "../run-context.ts";
import { watchDecision } from "./decision-watch.ts";

/**
 * Lets the agent's provider, or `withoutProvider: "run"`, answer a question that is already committed. If somebody else
 * decides first, that wins; if this process dies meanwhile, the question waits for a person.
 */
export function answerInProcess(run: RunContext, asked: AskedCall): void {
  const agent = run.agents.get(asked.call.agent);
  if (!(agent instanceof Agent)) return;
  if (agent.confirmationProvider !== undefined) {
    run.background.add(asked.call.session, askProvider(run, agent.confirmationProvider, asked));
  } else if (agent.withoutProvider === "run" && isAuthorsOwn(asked)) {
    const by = principal("author", agent.name);
    run.background.add(asked.call.session, decide(run, { id: asked.confirmation.id, confirmed: true }, by));
  }
}

// The gates of the tool's own author, and the tool's own questions: the author may approve these.
function isAuthorsOwn({ confirmation }: AskedCall): boolean {
  const { authorOnly, askedByTool } = confirmation.shown;
  return authorOnly === true || askedByTool === true;
}

async function askProvider(run: RunContext, provider: ConfirmationProvider, asked: AskedCall): Promise<void> {
  const { confirmation } = asked;
  const decided = watchDecision(run, confirmation.id);
  try {
    const answer = await Promise.race([
      Promise.resolve(provider(requestOf(asked), { signal: decided.signal })),
      decided.over,
    ]);
    const input = toDecision(confirmation.id, answer);
    if (input !== undefined) await decide(run, input, principal("provider", confirmation.agent));
  } catch (error) {
    const message = errorText(error);
    await run.engine.decisions.cancel(confirmation.id, {
      by: principal("provider", confirmation.agent),
      reason: `the confirmation provider failed: ${message}`,
    });
  } finally {
    decided.forget();
  }
}

function requestOf({ call, confirmation }: AskedCall): ConfirmationRequest {
  const { shown } = confirmation;
  const own = shown.askedByTool === true;
  return {
    toolCallId: call.wireId,
    toolName: call.tool,
    input: JSON.stringify(call.args),
    hint: own ? shown.hint : "",
    ...(own && shown.payload !== undefined ? { payload: shown.payload } : {}),
  };
}

function toDecision(id: string, answer: boolean | ToolConfirmation | undefined): DecisionInput | undefined {
  if (answer === true || answer === false) return { id, confirmed: answer };
  // Only a valid decision counts; anything else leaves the question to people.
  if (!isJsonObject(answer) || typeof answer.confirmed !== "boolean") return undefined;
  const { confirmed, payload } = answer as ToolConfirmation;
  return { id, confirmed, ...(payload === undefined ? {} : { payload }) };
}

async function decide(run: RunContext, input: DecisionInput, by: Principal): Promise<void> {
  await run.engine.decisions.decide(input, { by, via: by.kind });
}

function principal(kind: "provider" | "author", agent: string): Principal {
  return { id: `${kind}:${agent}`, kind, roles: [], scopes: [], authenticated: false };
}
