import { z } from "@hono/zod-openapi";
import { isJsonObject } from "../../protocol/index.ts";

type Members = Record<string, unknown>;

// Not copied, so that a member called `__proto__` stays an ordinary member.
const object = z
  .custom<Members>(isJsonObject, "must be an object")
  .openapi({ type: "object", additionalProperties: true });

/** The path parameters of the session routes. */
type UserPath = { readonly app: z.ZodString; readonly user: z.ZodString };

export const userPath: z.ZodObject<UserPath> = z.object({ app: z.string(), user: z.string() });
export const sessionPath: z.ZodObject<UserPath & { readonly session: z.ZodString }> = userPath.extend({
  session: z.string(),
});

export const eventSchema: z.ZodType = z
  .looseObject({
    id: z.string(),
    invocationId: z.string(),
    author: z.string(),
    timestamp: z.number().describe("Seconds since the epoch."),
    content: z.looseObject({ role: z.string().optional(), parts: z.array(object) }).optional(),
    actions: object,
    longRunningToolIds: z.array(z.string()).optional(),
    partial: z.boolean().optional(),
    errorCode: z.string().optional(),
    errorMessage: z.string().optional(),
  })
  .openapi("AdkEvent");

const session = z.object({
  id: z.string(),
  appName: z.string(),
  userId: z.string(),
  state: object,
  events: z.array(eventSchema),
  lastUpdateTime: z.number().describe("Seconds since the epoch."),
});

export const sessionSchema: z.ZodType = session.openapi("AdkSession");

export const listQuery: z.ZodObject<{
  readonly titles: z.ZodOptional<z.ZodEnum<{ readonly true: "true" }>>;
}> = z.object({
  titles: z
    .enum(["true"])
    .optional()
    .describe("Also the titles of the 100 sessions that changed last. The ADK has none."),
});

export const listedSessionSchema: z.ZodType = session
  .extend({
    title: z.string().optional().describe("The first words that the user said in it, without secrets."),
  })
  .openapi("AdkListedSession");

export const errorSchema: z.ZodType = z
  .looseObject({
    error: z.string(),
    code: z.string().describe("A stable code. The text may change."),
    link: z.string().optional().describe("The page where an approver can decide this confirmation."),
  })
  .openapi("AdkError");

interface NewSessionBody {
  readonly sessionId?: string | null | undefined;
  readonly state?: Members | null | undefined;
  readonly events?: readonly Members[] | null | undefined;
}

/** The initial content of a session. Members may be spelled in snake_case. */
export const newSessionSchema: z.ZodType<NewSessionBody> = z
  .looseObject({
    sessionId: z
      .string()
      .min(1)
      .nullish()
      .describe("Generated if omitted. An id in the path takes precedence."),
    state: object.nullish(),
    events: z.array(object).nullish().describe("An earlier conversation to continue."),
  })
  .openapi("AdkNewSession");

export const sessionChangeSchema: z.ZodType<{ readonly stateDelta?: Members | null | undefined }> = z
  .looseObject({ stateDelta: object.nullish().describe("Merged into the session's state.") })
  .openapi("AdkSessionChange");

/** A message to an agent, checked. */
export interface RunBody {
  readonly appName?: string | undefined;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly newMessage?: unknown;
  readonly streaming?: boolean | null | undefined;
  readonly stateDelta?: Members | null | undefined;
  readonly invocationId?: string | null | undefined;
  readonly wire?: "adk" | "adk-rs" | null | undefined;
}

/** A message to an agent. Members may be spelled in snake_case; unknown ones are ignored. */
export const runSchema: z.ZodType<RunBody> = z
  .looseObject({
    appName: z.string().optional(),
    userId: z.string().optional(),
    sessionId: z.string().optional(),
    newMessage: z
      .unknown()
      .optional()
      .describe("A Content: the user's message, answers to confirmations, or both. Without it nothing runs."),
    streaming: z.boolean().nullish().describe("Stream text in pieces; only on /run_sse."),
    stateDelta: object.nullish(),
    invocationId: z
      .string()
      .nullish()
      .describe("If given with an answer, it must match the confirmation request."),
    wire: z.enum(["adk", "adk-rs"]).nullish().describe("The format of confirmation requests."),
  })
  .openapi("AdkRun");

export const reasoningSchema: z.ZodType<{ readonly input: Members }> = z
  .looseObject({ input: object })
  .openapi("AdkReasoningEngineQuery");
