import { randomUUID } from "node:crypto";
import type { AdkEvent, AdkToolContext } from "./host-types.ts";

interface Answer {
  readonly tool: string;
  readonly answer: unknown;
  readonly context: AdkToolContext;
}

interface Step {
  paused: boolean;
  readonly answers: Answer[];
}

/**
 * The answers of calls beside one that waits. When a call waits, the ADK stores the request for confirmation and drops
 * the answers of the model's other calls: resumed, the model would not know that they ran. So they are stored as
 * events of their own.
 */
export class KeptAnswers {
  // An answer of the model has one queue; what belongs to it goes with it.
  readonly #steps = new WeakMap<object, Step>();

  /** A call of this step waits. */
  paused(context: AdkToolContext): void {
    const { eventQueue } = context.invocationContext;
    const step = this.#stepOf(context);
    if (step === undefined) return;
    step.paused = true;
    for (const answer of step.answers.splice(0)) eventQueue?.push(toEvent(answer));
  }

  /** A call of this step has its answer. */
  answered(tool: string, answer: unknown, context: AdkToolContext): void {
    const step = this.#stepOf(context);
    if (step === undefined || answer === undefined) return;
    const given = { tool, answer, context };
    if (step.paused) context.invocationContext.eventQueue?.push(toEvent(given));
    else step.answers.push(given);
  }

  #stepOf({ invocationContext: { eventQueue } }: AdkToolContext): Step | undefined {
    if (eventQueue === undefined) return undefined;
    const step = this.#steps.get(eventQueue) ?? { paused: false, answers: [] };
    this.#steps.set(eventQueue, step);
    return step;
  }
}

/** The event in which the ADK would have told the answer. */
function toEvent({ tool, answer, context }: Answer): AdkEvent {
  const { functionCallId = "", agentName, invocationContext } = context;
  const { invocationId, branch } = invocationContext;
  const content = {
    role: "user",
    parts: [{ functionResponse: { id: functionCallId, name: tool, response: asResponse(answer) } }],
  };
  const event = {
    [Symbol.for("google.adk.event")]: true,
    id: randomUUID(),
    invocationId,
    author: agentName,
    content,
    actions: { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} },
    longRunningToolIds: [],
    ...(branch === undefined ? {} : { branch }),
    timestamp: Date.now(),
  };
  return event;
}

// As the ADK does it.
function asResponse(answer: unknown): { readonly [name: string]: unknown } {
  if (typeof answer !== "object" || answer === null) return { result: answer };
  return Array.isArray(answer) ? { results: answer } : (answer as { readonly [name: string]: unknown });
}
