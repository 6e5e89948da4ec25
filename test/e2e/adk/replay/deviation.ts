import { expect } from "vitest";
import { isJsonObject, type JsonObject } from "../../../../src/protocol/index.ts";
import { eventsIn, type Outcome, type Step } from "./recording.ts";

/** One way in which our answers are not the recorded ones, on purpose. */
export interface Deviation {
  readonly name: string;
  /** The defect or difference of the recordings' README, or the guarantee, that it follows from. */
  readonly because: string;
  readonly at: (step: Step) => boolean;
  /** What is expected instead; `before` are the file's steps up to this one. */
  readonly expect: (outcome: Outcome, step: Step, before: readonly Step[]) => Outcome;
}

/** The steps of these names in one file. */
export function named(file: string, ...names: readonly string[]): (step: Step) => boolean {
  return (step) => step.file.startsWith(`${file}-`) && names.includes(step.name);
}

/** Nothing ran, and the client is told why: on `/run` by the status, on `/run_sse` in the stream. */
export function refused(status: number, code: string): (outcome: Outcome, step: Step) => Outcome {
  const body: unknown = expect.objectContaining({ error: expect.any(String) as string, code });
  return ({ cors }, { request }) =>
    request.path === "/run_sse"
      ? { status: 200, kind: "sse", body: [body], cors, modelSaw: [] }
      : { status, kind: "json", body, cors, ...(request.path === "/run" ? { modelSaw: [] } : {}) };
}

/** A model's turn, or a tool's answer, as an event. */
export function event(invocationId: string, content: object): JsonObject {
  return {
    invocationId,
    author: "hitl_demo",
    id: expect.any(String) as string,
    timestamp: 0,
    content: content as JsonObject,
    actions: { stateDelta: {}, artifactDelta: {}, requestedAuthConfigs: {}, requestedToolConfirmations: {} },
    longRunningToolIds: [],
  };
}

/** The last pause before a step: its request, the call that waits and what was said. */
export function pauseBefore(before: readonly Step[]): {
  readonly invocationId: string;
  readonly call: { readonly id: string; readonly name: string; readonly args: JsonObject };
  readonly said: string;
} {
  const step = before.findLast(({ recorded }) =>
    JSON.stringify(recorded.body).includes("originalFunctionCall"),
  );
  const [first] = eventsIn(step?.recorded.body) as readonly JsonObject[] as unknown as readonly {
    readonly invocationId: string;
    readonly content: {
      readonly parts: readonly [{ readonly functionCall: { id: string; name: string; args: JsonObject } }];
    };
  }[];
  const message = step?.request.json?.["newMessage"] as {
    readonly parts: readonly [{ readonly text: string }];
  };
  if (first === undefined) throw new Error("There is no pause before this step.");
  return {
    invocationId: first.invocationId,
    call: first.content.parts[0].functionCall,
    said: message.parts[0].text,
  };
}

/** The answer was taken: the tool ran and gave this, and the model told of it. */
export function resumed(response: { readonly [name: string]: string | number }): Deviation["expect"] {
  return ({ cors }, step, before) => {
    const { invocationId, call, said } = pauseBefore(before);
    const { id, name, args } = call;
    const told = Object.entries(response).map(([key, value]) => `${key}=${value}`);
    const result = { role: "user", parts: [{ functionResponse: { id, name, response } }] };
    const text = `Tool ${name} answered: ${told.join(", ")}`;
    const contents = [
      { role: "user", parts: [{ text: said }] },
      { role: "model", parts: [{ functionCall: { name, args } }] },
      { role: "user", parts: [{ functionResponse: { name, response } }] },
    ];
    return {
      status: 200,
      kind: step.request.path === "/run_sse" ? "sse" : "json",
      body: [event(invocationId, result), event(invocationId, { role: "model", parts: [{ text }] })],
      cors,
      modelSaw: [{ stream: false, contents }],
    };
  };
}

/** Changes every text in what is expected. */
export function rewritten(outcome: Outcome, change: (text: string) => string): Outcome {
  const visit = (value: unknown): unknown => {
    if (typeof value === "string") return change(value);
    if (Array.isArray(value)) return value.map(visit);
    if (!isJsonObject(value) || Object.getPrototypeOf(value) !== Object.prototype) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, visit(member)]));
  };
  return {
    ...outcome,
    body: visit(outcome.body),
    ...("modelSaw" in outcome ? { modelSaw: visit(outcome.modelSaw) } : {}),
  };
}
