import { z } from "@hono/zod-openapi";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";
import { confirmationSchema, grantUseSchema } from "./confirmation.ts";

// Unknown members are refused: a misspelt `approvers` must not ask somebody else.

const LONGEST_NAME = 768;
const LONGEST_TEXT = 4_000;
const LONGEST_NONCE = 100;
const MOST_LEASE_SECONDS = 3_600;
// Each of these is looked for in all arguments, or stored for each person, whenever the call is stored or shown.
const MOST_SECRETS = 100;
const MOST_NAMES = 1_000;

const name = z.string().min(1).max(LONGEST_NAME);
const text = z.string().min(1).max(LONGEST_TEXT);
// Not copied, so that a member called `__proto__` stays an ordinary member.
const jsonObject = z
  .custom<JsonObject>(isJsonObject, "must be an object")
  .openapi({ type: "object", additionalProperties: true });
const jsonValue = z
  .unknown()
  .refine((value) => value !== undefined, "is missing") as z.ZodType as z.ZodType<JsonValue>;

/** A call that a program asks for. */
export interface ProposalBody {
  readonly key: string;
  readonly app: string;
  readonly tool: string;
  readonly args: JsonObject;
  readonly agent?: string | undefined;
  readonly user?: string | undefined;
  readonly thread?: string | undefined;
  readonly description?: string | undefined;
  readonly schema?: JsonObject | undefined;
  readonly requireConfirmation?: boolean | undefined;
  readonly requirePolicy?: boolean | undefined;
  readonly hint?: string | undefined;
  readonly approvers?:
    | "requester"
    | {
        readonly roles?: readonly string[] | undefined;
        readonly users?: readonly string[] | undefined;
        readonly notRequester?: boolean | undefined;
      }
    | undefined;
  readonly deadline?: string | undefined;
  readonly amendable?: true | readonly string[] | undefined;
  readonly secrets?: readonly string[] | undefined;
  readonly idempotent?: boolean | undefined;
}

export const proposalBodySchema: z.ZodType<ProposalBody> = z
  .strictObject({
    key: name.openapi({ description: "Names the call. The same key always means the same call." }),
    app: name,
    tool: name,
    args: jsonObject,
    agent: name.optional().openapi({ description: "Default: the app." }),
    user: name.optional().openapi({ description: "Whom it is for; needs the scope act-as. Default: you." }),
    thread: name.optional().openapi({ description: "The conversation it belongs to. Default: the key." }),
    description: text.optional().openapi({ description: "What the tool does." }),
    schema: jsonObject.optional(),
    requireConfirmation: z.boolean().optional().openapi({
      description: "False: a person is asked only if a policy says so. Default: true.",
    }),
    requirePolicy: z.boolean().optional().openapi({
      description: "True: refuse the call if the server has no policy. Default: false.",
    }),
    hint: text.optional().openapi({ description: "The question to the approver." }),
    approvers: z
      .union([
        z.literal("requester"),
        z.strictObject({
          roles: z.array(name).max(MOST_NAMES).optional(),
          users: z.array(name).max(MOST_NAMES).optional(),
          notRequester: z.boolean().optional(),
        }),
      ])
      .optional()
      .openapi({
        description:
          "Default: the people whom a policy requires; else the requester, and if that is an agent, any other logged-in user.",
      }),
    deadline: z.iso.datetime({ offset: true }).optional().openapi({
      description: "After this time it can no longer be approved. ISO 8601.",
    }),
    amendable: z.union([z.literal(true), z.array(name).max(MOST_NAMES)]).optional(),
    secrets: z.array(text).max(MOST_SECRETS).optional().openapi({
      description: "JSON pointers to arguments that only you may see.",
    }),
    idempotent: z.boolean().optional().openapi({
      description: "Safe to run again with the same key: after a lost claim it may be claimed again.",
    }),
  })
  .openapi("Proposal");

const leaseSeconds = z.int().min(5).max(MOST_LEASE_SECONDS).optional().openapi({
  description: "How long the claim lasts without a heartbeat. Default: 60.",
});

/** A caller that wants to run its call. */
export interface ClaimBody {
  readonly nonce?: string | undefined;
  readonly leaseSeconds?: number | undefined;
}

export const claimBodySchema: z.ZodType<ClaimBody> = z
  .strictObject({
    nonce: z
      .string()
      .regex(/^[\w-]+$/, "may contain only letters, digits, - and _")
      .min(16)
      .max(LONGEST_NONCE)
      .optional()
      .openapi({
        description:
          "A random value of yours. The same value again gets the same claim, if the first answer was lost. Never share it between processes.",
      }),
    leaseSeconds,
  })
  .openapi("ClaimRequest");

/** Proves a claim. */
export interface ProofBody {
  readonly token: string;
  readonly attempt: number;
}

const proof = { token: z.string().min(1).max(300), attempt: z.int().min(1) };

export const heartbeatBodySchema: z.ZodType<ProofBody & { readonly leaseSeconds?: number | undefined }> = z
  .strictObject({ ...proof, leaseSeconds })
  .openapi("Heartbeat");

export const resultBodySchema: z.ZodType<ProofBody & { readonly result: JsonValue }> = z
  .strictObject({ ...proof, result: jsonValue })
  .openapi("CallResult");

export const failureBodySchema: z.ZodType<ProofBody & { readonly error: string }> = z
  .strictObject({ ...proof, error: text })
  .openapi("CallFailure");

const claim = z
  .object({
    token: z.string().openapi({ description: "Secret. Proves the claim in every report." }),
    attempt: z.int(),
    args: jsonObject.openapi({ description: "What to run, with its secrets." }),
    payload: z.unknown().optional().openapi({ description: "What the approver filled in." }),
    leaseSeconds: z.int(),
  })
  .openapi("Claim");

const outcome = {
  id: z.string(),
  key: z.string(),
  status: z
    .enum([
      "pending",
      "allowed",
      "executing",
      "succeeded",
      "failed",
      "unknown",
      "denied",
      "expired",
      "cancelled",
    ])
    .openapi({ description: "`allowed`: claim it before you run it." }),
  app: z.string(),
  tool: z.string(),
  args: jsonObject.openapi({ description: "With declared secrets redacted." }),
  amended: z.literal(true).optional().openapi({ description: "An approver changed the arguments." }),
  attempt: z.int(),
  confirmation: confirmationSchema.optional(),
  grant: grantUseSchema.optional().openapi({ description: "The grant that let it run without a question." }),
  result: z.unknown().optional(),
  error: z.string().optional(),
  reason: z.string().optional(),
  message: z.string().openapi({ description: "What to tell a model about it." }),
};

/** A call as its caller sees it. */
export const callerCallSchema: z.ZodType = z.object(outcome).openapi("CallerCall");

/** A call that its caller may run now. */
export const claimedCallSchema: z.ZodType = z.object({ ...outcome, claim }).openapi("ClaimedCall");

export const keyParamsSchema: z.ZodType<{ readonly key: string }> = z.object({ key: name });
