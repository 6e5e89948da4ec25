import { z } from "@hono/zod-openapi";
import type { GrantTerms } from "../../engine/index.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/index.ts";

// Unknown members are refused: a misspelt `args` must not approve the unchanged arguments.

/** The longest accepted reason. */
const REASON = 4_000;
const MOST_DECISIONS = 100;

// Not copied, so that a member called `__proto__` stays an ordinary member.
const jsonValue = z
  .unknown()
  .refine((value) => value !== undefined, "is missing") as z.ZodType as z.ZodType<JsonValue>;
const jsonObject = z
  .custom<JsonObject>(isJsonObject, "must be an object")
  .openapi({ type: "object", additionalProperties: true });
const reason = z.string().max(REASON).optional();
const version = z.int().min(1).optional();

/** A decision about a confirmation. */
export interface DecisionBody {
  readonly confirmed: boolean;
  readonly payload?: JsonValue | undefined;
  readonly reason?: string | undefined;
  readonly args?: JsonObject | undefined;
  readonly grant?: GrantTerms | undefined;
  readonly version?: number | undefined;
}

// Checked by the engine, against what the rules allow.
const grantTerms = z.custom<GrantTerms>(isJsonObject, "must be an object").openapi({
  type: "object",
  properties: {
    scope: { enum: ["session", "user"], default: "session" },
    forMs: { type: "integer", minimum: 1 },
    count: { type: "integer", minimum: 1 },
    sum: { type: "object", additionalProperties: { type: "number" } },
    where: { type: "array", items: { type: "string" } },
  },
  description:
    "Further calls like this one run without asking, within these limits. What is left out is as far as the confirmation's `grants` go; without `scope`, only in this session.",
});

const decisionShape = {
  confirmed: z.boolean(),
  payload: jsonValue.optional(),
  reason,
  args: jsonObject.optional(),
  grant: grantTerms.optional(),
  version,
};

export const decisionBodySchema: z.ZodType<DecisionBody> = z.strictObject(decisionShape).openapi("Decision");

/** Many decisions at once. */
export interface DecisionsBody {
  readonly decisions: readonly (DecisionBody & { readonly id: string })[];
}

// Two decisions about one confirmation are ambiguous; the order must not decide.
function namesEachOnce(decisions: readonly { readonly id: string }[]): boolean {
  return new Set(decisions.map(({ id }) => id)).size === decisions.length;
}

export const decisionsBodySchema: z.ZodType<DecisionsBody> = z
  .strictObject({
    decisions: z
      .array(z.strictObject({ id: z.string().min(1).max(300), ...decisionShape }))
      .min(1)
      .max(MOST_DECISIONS)
      .refine(namesEachOnce, "contains a confirmation twice"),
  })
  .openapi("Decisions");

export const cancellationBodySchema: z.ZodType<{ readonly reason?: string | undefined }> = z
  .strictObject({ reason })
  .openapi("Cancellation");

/** For requests without a body. */
export const emptyBodySchema: z.ZodType<object> = z.strictObject({}).openapi("Nothing");

/**
 * A person's word on a call whose outcome is not known, and on which attempt. A retry must always name the attempt: if
 * it is sent twice, or by somebody who saw an earlier loss, it must not run the call another time.
 */
export type SettlementBody =
  | { readonly as: "succeeded"; readonly result: JsonValue; readonly attempt?: number | undefined }
  | {
      readonly as: "failed";
      readonly error: string;
      readonly happened?: false | undefined;
      readonly attempt?: number | undefined;
    }
  | { readonly as: "retry"; readonly attempt: number };

const attempt = z.int().min(0).openapi({
  description: "The attempt whose outcome is unknown: `execution.attempt`, or 0 if it never started.",
});

export const settlementBodySchema: z.ZodType<SettlementBody> = z
  .discriminatedUnion("as", [
    z.strictObject({ as: z.literal("succeeded"), result: jsonValue, attempt: attempt.optional() }),
    z.strictObject({
      as: z.literal("failed"),
      error: z.string().min(1).max(REASON),
      happened: z.literal(false).optional().openapi({
        description:
          "False: it did not happen, not even in part. What the call used of a grant is given back.",
      }),
      attempt: attempt.optional(),
    }),
    z.strictObject({ as: z.literal("retry"), attempt }),
  ])
  .openapi("Settlement");
