import { expect } from "vitest";
import { isJsonArray, isJsonObject, type JsonObject } from "../../../../src/protocol/index.ts";
import { type Deviation, event, named, refused } from "./deviation.ts";
import { eventsIn, type Outcome, type Step } from "./recording.ts";

const isHtml = ({ recorded }: Step): boolean => String(recorded.body).startsWith("<!DOCTYPE html>");

function listOf(step: Step): readonly JsonObject[] | undefined {
  const { body } = step.recorded;
  const sessions = isJsonObject(body) ? body["sessions"] : undefined;
  return isJsonArray(sessions) ? sessions.filter(isJsonObject) : undefined;
}

function withBody(outcome: Outcome, body: unknown, kind: Outcome["kind"] = "json"): Outcome {
  return { ...outcome, kind, body };
}

const problem = (code: string): unknown => expect.objectContaining({ code });

/** A turn of small talk, as the model is shown it. */
const HI = [
  { role: "user", parts: [{ text: "hi" }] },
  { role: "model", parts: [{ text: "You said: hi" }] },
] as const;

/** Where the addresses, statuses and bodies of our routes are not the reference's. */
export const ROUTE_DEVIATIONS: readonly Deviation[] = [
  {
    name: "the root is the inbox",
    because: "DESIGN section 9",
    at: named("01", "root"),
    expect: (outcome) => ({
      ...outcome,
      status: expect.any(Number) as number,
      kind: expect.any(String) as Outcome["kind"],
      body: expect.anything(),
    }),
  },
  {
    name: "the version is ours",
    because: "it names the server",
    at: ({ request }) => request.path === "/version",
    expect: (outcome) => withBody(outcome, { version: expect.stringMatching(/^\d+\.\d+\.\d+/) as string }),
  },
  {
    name: "what is not served is told as a problem",
    because: "errors are JSON everywhere, never HTML",
    at: (step) => step.recorded.status === 404 && isHtml(step),
    expect: (outcome) => withBody(outcome, problem("unknown-route")),
  },
  {
    name: "a body that is not JSON is told as an error",
    because: "errors are JSON everywhere, and without a stack trace",
    at: (step) => step.recorded.status === 400 && isHtml(step),
    expect: (outcome) => withBody(outcome, { error: expect.any(String) as string, code: "malformed-json" }),
  },
  {
    name: "errors carry a code",
    because: "difference 4",
    at: ({ recorded }) => isJsonObject(recorded.body) && "error" in recorded.body,
    expect: (outcome) => {
      const { error } = outcome.body as { readonly error: string };
      return withBody(outcome, expect.objectContaining({ error, code: expect.any(String) as string }));
    },
  },
  {
    name: "pages of other origins get nothing unless they are allowed",
    because: "DESIGN section 10: CORS is closed",
    at: named("01", "preflight without allow_origins"),
    expect: (outcome) => withBody({ ...outcome, status: 403, modelSaw: [] }, problem("foreign-origin")),
  },
  {
    name: "allowed origins may read the version too",
    because: "there is one rule for all routes",
    at: named("17", "/version with an Origin (registered before the CORS middleware: no header)"),
    expect: (outcome) => ({ ...outcome, cors: { "access-control-allow-origin": "*" } }),
  },
  {
    name: "state of the user and of the app is every session's",
    because: "it is kept in one place, as the ADK's state prefixes mean it",
    at: named(
      "02",
      "create with sessionId in the body (adk-python style)",
      "create with session_id in the body",
      "create with events in the body",
    ),
    expect: (outcome) => {
      const session = outcome.body as JsonObject;
      return withBody(outcome, {
        ...session,
        state: { ...(session["state"] as JsonObject), "user:lang": "de", "app:v": 1 },
      });
    },
  },
  {
    name: "the id in the body is the session's",
    because: "adk-python's clients send it so",
    at: named(
      "02",
      "create with sessionId in the body (adk-python style)",
      "create with session_id in the body",
    ),
    expect: (outcome, { request }) =>
      withBody(outcome, {
        ...(outcome.body as JsonObject),
        id: Object.values(request.json ?? {})[0] as string,
      }),
  },
  {
    name: "a session begins with the events that it is given",
    because: "the ADK's web UI imports sessions so; they are marked as imported",
    at: named("02", "create with events in the body"),
    expect: (outcome) => {
      const said = event("x", { role: "user", parts: [{ text: "hi" }] });
      const customMetadata = { countersign: { imported: { by: "local" } } };
      const events = [{ ...said, author: "user", customMetadata }];
      return withBody(outcome, { ...(outcome.body as JsonObject), events });
    },
  },
  {
    name: "session lists are bare arrays, and carry each session's state",
    because: "defect 4",
    at: (step) => listOf(step) !== undefined,
    expect: (outcome, step) => {
      const ids = ["sess-c", "sess-d"];
      const sessions = listOf(step)?.map((session, index) => ({
        ...session,
        // The ones that were made with an id in the body.
        ...(index === 4 || index === 5 ? { id: ids[index - 4] } : {}),
        state: expect.any(Object) as object,
      }));
      return withBody(outcome, sessions);
    },
  },
  {
    name: "a session's state can be changed",
    because: "adk-python and the ADK's web UI do that by PATCH",
    at: named("02", "patch state (adk-python has it)"),
    expect: (outcome, _, before) => {
      const session = before.findLast(({ name }) => name === "get")?.recorded.body as JsonObject;
      const state = { ...(session["state"] as JsonObject), plan: "silver" };
      return withBody({ ...outcome, status: 200 }, { ...session, state });
    },
  },
  {
    name: "there are no sessions in apps that do not exist",
    because: "defect 7",
    at: (step) =>
      named("02", "create in an app that does not exist")(step) ||
      step.name.startsWith("session exists for an app that does not"),
    expect: ({ cors }, { request }) => ({
      status: 404,
      kind: "json",
      body: problem("unknown-app"),
      cors,
      ...(request.path.startsWith("/run") ? { modelSaw: [] } : {}),
    }),
  },
  {
    name: "a body of another type than JSON is not read",
    because: "DESIGN section 10: writes need application/json",
    at: named("04", "not JSON content type"),
    expect: (outcome) => withBody({ ...outcome, status: 415 }, problem("unsupported-media-type")),
  },
  {
    name: "a client's mistake is not a fault of the server",
    because: "no 5xx for a request that cannot be served",
    at: (step) => step.file.startsWith("04-") && /^(?:empty parts|client sends)/.test(step.name),
    expect: (outcome, step) =>
      refused(422, step.name.startsWith("empty") ? "malformed-request" : "reserved-name")(outcome, step),
  },
  {
    name: "bodies may be spelled in snake_case",
    because: "difference 7, as adk-python takes them",
    at: (step) => step.file.startsWith("04-") && step.name.startsWith("snake_case request body"),
    expect: ({ cors }, { request }) => {
      const isStream = request.path === "/run_sse";
      const [said, answered] = HI;
      const first = { parts: [{ text: "no role" }], role: "user" };
      const second = { role: "model", parts: [{ text: "You said: no role" }] };
      const contents = [first, second, ...(isStream ? HI : []), said];
      return {
        status: 200,
        kind: isStream ? "sse" : "json",
        body: [event(expect.any(String) as string, answered)],
        cors,
        modelSaw: [{ stream: false, contents }],
      };
    },
  },
  {
    name: "the two messages in snake_case are in the conversation, the refused answer is not",
    because: "differences 6 and 7",
    at: named("04", "model failure, /run", "model failure, /run_sse", "session afterwards"),
    expect: (outcome) => {
      const calls = (outcome.modelSaw ?? []) as readonly { readonly contents: readonly unknown[] }[];
      const saw = calls.map((call) => ({
        ...call,
        contents: [...call.contents.slice(0, 2), ...HI, ...HI, ...call.contents.slice(4)],
      }));
      if (calls.length > 0) return { ...outcome, modelSaw: saw };
      const events = eventsIn(outcome.body);
      const turn = HI.map((content) => expect.objectContaining({ content }) as unknown);
      return withBody(outcome, {
        ...(outcome.body as JsonObject),
        events: [...events.slice(0, 2), ...turn, ...turn, ...events.slice(4)],
      });
    },
  },
  {
    name: "drawings are ours",
    because: "the same agents and tools, in another hand",
    at: ({ recorded }) => JSON.stringify(recorded.body).includes('"dotSrc"'),
    expect: (outcome) => {
      const drawn = expect.stringMatching(
        /"hitl_demo"[^]*"reimburse"[^]*"request_time_off"[^]*"request_sabbatical"[^]*"greet"[^]*"hitl_demo" -> "greet"/,
      ) as string;
      const whole = "" in (outcome.body as JsonObject) ? { "": { dotSrc: drawn } } : {};
      return withBody(outcome, { ...whole, dotSrc: drawn });
    },
  },
  {
    name: "no traces are kept",
    because: "what happened is in the journal",
    at: named("15", "trace of an event"),
    expect: (outcome) => withBody({ ...outcome, status: 404 }, problem("unknown-route")),
  },
  {
    name: "there are no evaluations, which is no error",
    because: "the ADK's web UI asks for them on every page",
    at: named("15", "dev eval sets"),
    expect: (outcome) => withBody({ ...outcome, status: 200 }, []),
  },
];
