import { z } from "@hono/zod-openapi";
import type { ShownStatus } from "../../engine/index.ts";
import { asOf } from "./queries.ts";

/** All values of a confirmation's `status`. */
export const STATUSES: readonly ShownStatus[] = [
  "requested",
  "approved",
  "executing",
  "succeeded",
  "failed",
  "unknown",
  "denied",
  "expired",
  "cancelled",
];

const json = z.unknown().openapi({ description: "Any JSON." });
const jsonObject = z.record(z.string(), z.unknown());
const time = z.iso.datetime().openapi({ description: "ISO 8601." });

const approvers = z.union([
  z.literal("requester"),
  z.object({
    roles: z.array(z.string()).optional(),
    users: z.array(z.string()).optional(),
    notRequester: z.boolean().optional(),
  }),
]);

const requirement = z.object({
  from: approvers,
  count: z.int().openapi({ description: "How many different persons must approve." }),
  group: z.string().optional(),
  approved: z.int().openapi({ description: "How many have approved." }),
});

/** Which grant let a call run, and who gave it. */
export const grantUseSchema: z.ZodType = z.object({ id: z.string(), by: z.array(z.string()) });

/** How far a grant goes, or may go at most. */
export const grantLimitsSchema: z.ZodType = z
  .object({
    scope: z.enum(["session", "user"]).optional().openapi({
      description:
        "Where the calls may be: in the question's session, or in all sessions of the same requesters with the same agent. Default: `session`.",
    }),
    forMs: z.int().openapi({ description: "How long it lasts, in milliseconds." }),
    count: z.int().openapi({ description: "How many calls it lets run." }),
    sum: z
      .record(z.string(), z.number())
      .optional()
      .openapi({ description: "The most that these arguments may add up to, by their names." }),
    where: z
      .array(z.string())
      .optional()
      .openapi({ description: "Conditions over `args`, in CEL, that each of the calls must meet." }),
  })
  .openapi("GrantLimits");

const vote = z.object({
  confirmed: z.boolean(),
  by: z.object({
    id: z.string(),
    kind: z.string(),
    authenticated: z.boolean(),
    onBehalfOf: z.string().optional(),
  }),
  person: z
    .string()
    .optional()
    .openapi({ description: "The person behind the login, where that is another name." }),
  for: z
    .string()
    .optional()
    .openapi({ description: "For whom they voted, if somebody had delegated their votes to them." }),
  requirement: z.int().optional().openapi({
    description: "Which of the requirements an approval counts for: its place in the list, from 0.",
  }),
  via: z.string(),
  at: time,
  reason: z.string().optional(),
  payload: json.optional(),
  args: jsonObject.optional(),
  grant: grantLimitsSchema.optional().openapi({ description: "What was granted with the approval." }),
});

const sighting = z.object({
  by: z.object({ id: z.string(), kind: z.string(), authenticated: z.boolean() }),
  person: z
    .string()
    .optional()
    .openapi({ description: "The person behind the login, where that is another name." }),
  via: z.string(),
  at: time,
});

const settlement = z
  .object({
    as: z.enum(["succeeded", "failed", "retry"]),
    happened: z.literal(false).optional().openapi({ description: "It did not happen, not even in part." }),
    refunded: z
      .literal(true)
      .optional()
      .openapi({ description: "What it took of its grant was given back." }),
    by: z.object({ id: z.string(), kind: z.string(), authenticated: z.boolean() }),
    via: z.string(),
    at: time,
  })
  .openapi({
    description: "The last settlement: what a person recorded about a call whose outcome was unknown.",
  });

/** A confirmation as its reader sees it. */
export const confirmationSchema: z.ZodType = z
  .object({
    id: z.string(),
    callId: z.string(),
    turn: z.string().openapi({ description: "Shared by all calls of one model response." }),
    status: z.enum(STATUSES),
    app: z.string(),
    agent: z.string(),
    path: z.array(z.string()),
    user: z.string(),
    requesters: z.array(z.string()),
    session: z.string(),
    invocation: z.string(),
    tool: z.string(),
    source: z.string().optional(),
    args: jsonObject.openapi({ description: "What runs. With declared secrets redacted." }),
    originalArgs: jsonObject.optional().openapi({
      description: "What the model asked for, if an approver changed it. With declared secrets redacted.",
    }),
    digest: z.string(),
    hint: z.string(),
    payload: json.optional(),
    schema: jsonObject.optional(),
    amendable: z.union([z.literal(true), z.array(z.string())]).optional(),
    argsSchema: jsonObject.optional(),
    layout: jsonObject.optional(),
    repeatable: z.boolean(),
    askedByTool: z.boolean().optional(),
    onDenied: z.literal("invoke").optional(),
    round: z.int(),
    question: z.string().optional(),
    why: z.array(z.string()),
    requirements: z.array(requirement).openapi({ description: "Every one must be met." }),
    denials: z.int().openapi({ description: "How many denials are needed to deny." }),
    grants: grantLimitsSchema.optional().openapi({
      description: "The most that an approval may grant for further calls; absent if nothing.",
    }),
    byMail: z.literal(true).optional().openapi({
      description: "A link in a mail may decide it without a login.",
    }),
    notify: z.array(z.string()).optional().openapi({
      description: "The channels that are told of it; all if absent.",
    }),
    reminders: z.array(time).optional(),
    escalations: z
      .array(
        z.object({
          at: time,
          to: approvers,
          group: z.string().optional(),
          fills: z.array(z.int()),
          reached: z.boolean(),
        }),
      )
      .optional()
      .openapi({
        description:
          "Who may fill in from `at` on, for the requirements with the indexes in `fills`. `reached`: people were told.",
      }),
    votes: z.array(vote).openapi({ description: "The votes so far, or those that decided." }),
    seen: z
      .array(sighting)
      .optional()
      .openapi({ description: "Who has opened it while it was open, each person once, oldest first." }),
    requestedAt: time,
    expiresAt: time.optional(),
    decision: vote.optional(),
    execution: z.object({ startedAt: time, endedAt: time.optional(), attempt: z.int() }).optional(),
    settlement: settlement.optional(),
    result: json.optional(),
    truncated: z.literal(true).optional().openapi({
      description:
        "Long values are shortened in lists and in the stream. GET the confirmation by its id before you decide.",
    }),
    withdrawal: z.string().optional(),
    can: z
      .object({
        decide: z.boolean(),
        amend: z.boolean(),
        cancel: z.boolean(),
        onlyDeny: z.literal(true).optional(),
        for: z.string().optional(),
      })
      .openapi({
        description:
          "What the current user may do now. `for`: whom they decide for, if somebody delegated their votes to them. `onlyDeny`: they may not approve, because a delegation makes them count as one person with the requester.",
      }),
    version: z.int(),
  })
  .openapi("Confirmation");

/** A page of confirmations. */
export const confirmationPageSchema: z.ZodType = z
  .object({
    items: z.array(confirmationSchema),
    next: z
      .string()
      .optional()
      .openapi({
        description:
          "The cursor of the next page. Valid only for this list, these filters and this user. A page may be short, or " +
          "empty, and still have a next page.",
      }),
    asOf,
  })
  .openapi("ConfirmationPage");

/** What a person sees before deciding, besides the question. */
export const contextSchema: z.ZodType = z
  .object({
    turn: z.array(confirmationSchema),
    earlier: z.array(confirmationSchema),
    conversation: z
      .array(
        z.object({
          author: z.string(),
          at: time,
          text: z.string(),
          imported: z.object({ by: z.string() }).optional().openapi({
            description:
              "The user who imported it; the author is not verified. Absent for messages that were sent here.",
          }),
        }),
      )
      .optional(),
    asker: z
      .object({ id: z.string(), kind: z.string(), authenticated: z.boolean() })
      .optional()
      .openapi({ description: "The user who sent the message that led to it." }),
    owner: z
      .object({ host: z.string(), pid: z.int(), lastBeatAt: time, alive: z.boolean() })
      .optional()
      .openapi({ description: "The process that holds, or last held, the claim on the call." }),
  })
  .openapi("ConfirmationContext");

/** A call without a confirmation whose outcome is or was unknown. */
export const callSchema: z.ZodType = z
  .object({
    id: z.string(),
    callId: z.string(),
    status: z.string(),
    app: z.string(),
    agent: z.string(),
    user: z.string(),
    session: z.string(),
    tool: z.string(),
    args: jsonObject,
    grant: grantUseSchema
      .optional()
      .openapi({ description: "The grant that let it run without a question." }),
    attempt: z.int(),
    startedAt: time.optional(),
    endedAt: time.optional(),
    result: json.optional(),
    truncated: z.literal(true).optional().openapi({ description: "Long values are shortened." }),
    owner: z.object({ host: z.string(), pid: z.int(), lastBeatAt: time, alive: z.boolean() }).optional(),
  })
  .openapi("Call");

export const callPageSchema: z.ZodType = z
  .object({ items: z.array(callSchema), next: z.string().optional() })
  .openapi("CallPage");
