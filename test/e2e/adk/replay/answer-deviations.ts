import { isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import type { JsonObject, JsonValue } from "../../../../src/protocol/index.ts";
import { type Deviation, event, named, refused, resumed, rewritten } from "./deviation.ts";
import { eventsIn, type Outcome, type RecordedEvent, type Step } from "./recording.ts";

const PAID = { status: "ok", purpose: "hotel", amount: 1500 };
const WAITING = { status: "pending", message: "awaiting a person's decision; it has not run" };
const NEWS =
  "(The results of the earlier calls to reimburse have arrived; they are shown above, after those calls.)";

interface Seen {
  readonly stream: boolean;
  readonly contents: readonly JsonObject[];
}

function seenIn({ modelSaw = [] }: Outcome): readonly Seen[] {
  return modelSaw as readonly Seen[];
}

function nothing({ cors }: Outcome): Outcome {
  return { status: 200, kind: "json", body: [], cors, modelSaw: [] };
}

function answered(name: string, response: JsonValue): JsonObject {
  return { role: "user", parts: [{ functionResponse: { name, response } }] };
}

const isSessionOf = (session: string) => (step: Step) =>
  step.request.path.endsWith(`/sessions/${session}`) && step.request.method === "GET";

/** Where answers to confirmations, and what the model is told of them, are not the reference's. */
export const ANSWER_DEVIATIONS: readonly Deviation[] = [
  {
    name: "a denial is worded as ours",
    because: "difference 1",
    at: ({ recorded }) => JSON.stringify(recorded).includes("This tool call is rejected."),
    expect: (outcome) =>
      rewritten(outcome, (text) =>
        text.replaceAll("This tool call is rejected.", "tool call was rejected by the user"),
      ),
  },
  {
    name: "an answer without an id is dropped, and starts nothing",
    because: "difference 6",
    at: named("09", "ANSWER no id"),
    expect: nothing,
  },
  {
    name: "an answer that cannot be read is refused, and stays pending",
    because: "differences 6 and 8",
    at: named(
      "09",
      "ANSWER {response: not JSON}",
      'ANSWER {confirmed:"true"} (string)',
      "ANSWER {confirmed:1}",
      "ANSWER no response member",
    ),
    expect: refused(422, "malformed-decision"),
  },
  {
    name: "a client's result for a tool is refused",
    because: "defect 3, difference 4",
    at: named(
      "09",
      "ANSWER no name",
      "ANSWER wrong name",
      "ANSWER functionResponse for the gated tool itself (forged result)",
    ),
    expect: refused(422, "forged-result"),
  },
  {
    name: "answers in other forms count",
    because: "difference 7",
    at: named(
      "09",
      "ANSWER {response: object}",
      "ANSWER snake_case function_response part",
      "ANSWER id of the gated call itself, name adk_request_confirmation",
    ),
    expect: resumed(PAID),
  },
  {
    name: "words beside an answer are said after the results",
    because: "difference 9",
    at: named("09", "ANSWER text part beside the answer"),
    expect: (outcome) => {
      const [seen] = seenIn(outcome);
      const events = eventsIn(outcome.body);
      const reply = { role: "model", parts: [{ text: "You said: go on" }] };
      const told = (events.at(-1)?.["content"] ?? {}) as JsonObject;
      const words = { role: "user", parts: [{ text: "go on" }] };
      return {
        ...outcome,
        body: [...events, event(expect.any(String) as string, reply)],
        modelSaw: [seen, { stream: false, contents: [...(seen?.contents ?? []), told, words] }],
      };
    },
  },
  {
    name: "an unknown id, or one of another session, is refused and starts nothing",
    because: "differences 4 and 6",
    at: (step) =>
      named("04", "camelCase envelope, snake_case function_response part")(step) ||
      named("12", "answer sent to another session")(step) ||
      named(
        "11",
        "answer with an id that was never asked, nothing pending",
        "answer with an unknown id while one is pending",
      )(step),
    expect: refused(404, "unknown-confirmation"),
  },
  {
    name: "the opposite answer is refused",
    because: "difference 4",
    at: (step) =>
      named("11", "the opposite answer afterwards")(step) || named("12", "approve after the denial")(step),
    expect: refused(409, "already-decided"),
  },
  {
    name: "the same answer again gives the same events, and asks no model",
    because: "difference 5",
    at: named("11", "the same answer again"),
    expect: (_, __, before) => {
      const first = before.findLast(({ name }) => name === "the right answer after the unknown one");
      if (first === undefined) throw new Error("The first answer is missing.");
      return { ...first.recorded, modelSaw: [] };
    },
  },
  {
    name: "turns that refused answers would have started are not in the conversation",
    because: "differences 5 and 6",
    at: named("11", "pause", "the right answer after the unknown one", "session afterwards"),
    expect: (outcome) => {
      const calls = seenIn(outcome);
      if (calls.length > 0) {
        return { ...outcome, modelSaw: calls.map((call) => ({ ...call, contents: call.contents.slice(1) })) };
      }
      const events = eventsIn(outcome.body);
      return {
        ...outcome,
        body: { ...(outcome.body as JsonObject), events: [2, 3, 4, 7, 8, 9].map((index) => events[index]) },
      };
    },
  },
  {
    name: "a model that is asked while a call waits is told that it has not run",
    because: "G5: the model waits",
    at: (step) =>
      named("09", "ANSWER plain text yes", "ANSWER plain text approve")(step) ||
      named(
        "12",
        "the user goes on talking instead of answering",
        "another gated call before the answer",
      )(step),
    expect: (outcome) => ({
      ...outcome,
      modelSaw: seenIn(outcome).map((call) => ({
        ...call,
        contents: [...call.contents.slice(0, 2), answered("reimburse", WAITING), ...call.contents.slice(2)],
      })),
    }),
  },
  {
    name: "a late result stands in its call's place, and the model is told that it came",
    because: "G5, DESIGN section 3",
    at: named("12", "late answer", "answer the first one"),
    expect: (outcome, step) => {
      const [result] = eventsIn(outcome.body);
      const [seen] = seenIn(outcome);
      const flight = { functionCall: { name: "reimburse", args: { purpose: "flight", amount: 2500 } } };
      const meanwhile =
        step.name === "late answer"
          ? [
              { role: "user", parts: [{ text: "hello" }] },
              { role: "model", parts: [{ text: "You said: hello" }] },
            ]
          : [
              { role: "user", parts: [{ text: "reimburse 2500 for flight" }] },
              { role: "model", parts: [flight] },
              answered("reimburse", WAITING),
            ];
      const news = { role: "user", parts: [{ text: NEWS }] };
      const reply = { role: "model", parts: [{ text: `You said: ${NEWS}` }] };
      return {
        ...outcome,
        body: [result, event(result?.invocationId ?? "", reply)],
        modelSaw: [{ stream: false, contents: [...(seen?.contents ?? []), ...meanwhile, news] }],
      };
    },
  },
  {
    name: "a tool that asks by itself can be answered",
    because: "defect 1",
    at: named(
      "13",
      "approve: refused by 2.0.0 (confirmation_not_required)",
      "approve (sse): refused by 2.0.0",
    ),
    expect: resumed({ status: "ok", approved_days: 3 }),
  },
  {
    name: "each answer is decided on its own, and each result is told as it comes",
    because: "DESIGN section 3: an approved call runs as soon as it is approved",
    at: (step) => named("14", "answer both in one message")(step) || isSessionOf("rec-45")(step),
    expect: (outcome) => ({ ...outcome, body: apart(outcome.body) }),
  },
  {
    name: "the model waits for every answer of its turn",
    because: "G5",
    at: (step) => named("14", "answer only the first")(step) || isSessionOf("rec-46")(step),
    expect: (outcome) => {
      const events = eventsIn(outcome.body);
      if (Array.isArray(outcome.body)) return { ...outcome, body: events.slice(0, 1), modelSaw: [] };
      return {
        ...outcome,
        body: { ...(outcome.body as JsonObject), events: events.filter((_, index) => index !== 5) },
      };
    },
  },
  {
    name: "the answer of an ungated call is told, and reaches the model",
    because: "defect 2",
    at: (step) =>
      named(
        "14",
        "a gated and an ungated call in one turn: pause",
        "an ungated then a gated call in one turn: pause",
        "approve",
        "deny",
      )(step) || isSessionOf("rec-47")(step),
    expect: withGreeting,
  },
];

/** Several responses in one event, as one event each. A result may come before or after what others were answered. */
function apart(body: unknown): unknown {
  const split = eventsIn(body).flatMap((one) => {
    const { parts } = one["content"] as { readonly parts: readonly JsonObject[] };
    const isMerged = parts.length > 1 && parts.every((part) => "functionResponse" in part);
    return isMerged ? parts.map((part) => ({ ...one, content: { role: "user", parts: [part] } })) : [one];
  });
  const events: unknown = expect.toSatisfy((ours) => isSameInAnyOrder(ours, split));
  return Array.isArray(body) ? events : { ...(body as JsonObject), events };
}

function isSameInAnyOrder(ours: unknown, expected: readonly JsonObject[]): boolean {
  if (!Array.isArray(ours)) return false;
  return isDeepStrictEqual((ours as JsonObject[]).map(gistOf).toSorted(), expected.map(gistOf).toSorted());
}

/** Who says what, without ids. */
function gistOf({ author, content }: JsonObject): string {
  const { parts } = content as { readonly parts: readonly JsonObject[] };
  const gists = parts.map(({ text, functionCall, functionResponse }) => {
    const { name, response } = (functionCall ?? functionResponse ?? {}) as JsonObject;
    return [text, name, JSON.stringify(response, Object.keys((response ?? {}) as JsonObject).toSorted())];
  });
  return JSON.stringify([author, gists]);
}

const GREETING = { greeting: "Hello Ada" };

function withGreeting(outcome: Outcome, { name, request }: Step, before: readonly Step[]): Outcome {
  const events = eventsIn(outcome.body);
  const greetFirst =
    before.findLast((step) => step.name.includes("ungated"))?.name.startsWith("an ungated") === true;
  const result = greetingEvent([...before.flatMap(({ recorded }) => eventsIn(recorded.body)), ...events]);
  if (request.method === "GET") {
    const told = [...events.slice(0, 3), result, ...events.slice(3)].map((one) =>
      mentioning(one, greetFirst),
    );
    return { ...outcome, body: { ...(outcome.body as JsonObject), events: told } };
  }
  if (name.endsWith("pause")) return { ...outcome, body: [...events, result] };
  return {
    ...outcome,
    body: events.map((one) => mentioning(one, greetFirst)),
    modelSaw: seenIn(outcome).map((call) => ({
      ...call,
      contents: call.contents.map((one) => greeted(one, greetFirst)),
    })),
  };
}

function greetingEvent(events: readonly RecordedEvent[]): JsonObject {
  const calling = events.findLast((one) => JSON.stringify(one).includes('"name":"greet","args"'));
  if (calling === undefined) throw new Error("Nobody is greeted before this step.");
  const { parts } = calling["content"] as {
    readonly parts: readonly { readonly functionCall: JsonObject }[];
  };
  const id = parts.find(({ functionCall }) => functionCall["name"] === "greet")?.functionCall["id"] ?? "";
  const part = { functionResponse: { id, name: "greet", response: GREETING } };
  return event(calling.invocationId, { role: "user", parts: [part] });
}

/** What the model said of its tools, with the greeting in its place. */
function mentioning(one: JsonObject, first: boolean): JsonObject {
  const content = one["content"] as JsonObject;
  const [part] = content["parts"] as readonly JsonObject[];
  const text = part?.["text"];
  if (typeof text !== "string" || !text.startsWith("Tool reimburse answered")) return one;
  const greeting = "Tool greet answered: greeting=Hello Ada";
  const whole = first ? `${greeting}; ${text}` : `${text}; ${greeting}`;
  return { ...one, content: { ...content, parts: [{ text: whole }] } };
}

function greeted(content: JsonObject, first: boolean): JsonObject {
  const parts = content["parts"] as readonly JsonObject[];
  if (!parts.some((part) => "functionResponse" in part)) return content;
  const greeting = { functionResponse: { name: "greet", response: GREETING } };
  return { ...content, parts: first ? [greeting, ...parts] : [...parts, greeting] };
}
