import { z } from "@hono/zod-openapi";
import { MOST_STATISTICS_DAYS } from "../../engine/index.ts";
import { asOf, maxAge, whole } from "./queries.ts";

export const statisticsQuerySchema: z.ZodType<{
  readonly days?: number | undefined;
  readonly maxAge?: number | undefined;
}> = z.object({
  maxAge,
  days: whole(1, MOST_STATISTICS_DAYS).optional().openapi({
    type: "integer",
    minimum: 1,
    maximum: MOST_STATISTICS_DAYS,
    description: "How many days, today included. Days are in UTC. Default: 30.",
  }),
});

const EVERYBODYS = { description: "Only with everybody's numbers." };
const numbers = {
  asked: z.int().optional().openapi(EVERYBODYS),
  approved: z.int(),
  amended: z.int().openapi({ description: "Those of the approved whose arguments an approver changed." }),
  denied: z.int(),
  expired: z.int().optional().openapi(EVERYBODYS),
  cancelled: z.int().optional().openapi(EVERYBODYS),
  unknown: z.int().optional().openapi({ description: "Calls whose outcome became unknown." }),
  decisionSeconds: z
    .object({ median: z.number(), p95: z.number() })
    .optional()
    .openapi({ description: "From the question to the decision; at most 5 % off." }),
};

/** Numbers about questions and decisions. */
export const statisticsSchema: z.ZodType = z
  .object({
    asOf: asOf.openapi({
      description:
        "Only if what waits was read from a standby: everything that was stored before this time is in it.",
    }),
    of: z.enum(["everybody", "own"]),
    from: z.iso.date(),
    to: z.iso.date(),
    behind: z.boolean().openapi({ description: "Not everything has been counted yet; ask again." }),
    waiting: z.object({
      count: z.int(),
      capped: z.boolean().openapi({ description: "More wait; counted are those whose deadline is nearest." }),
      oldestSeconds: z.int().optional(),
      ages: z.array(z.object({ upTo: z.int().optional(), count: z.int() })),
    }),
    total: z.object(numbers),
    days: z.array(z.object({ day: z.iso.date(), ...numbers })),
    tools: z.array(z.object({ app: z.string(), tool: z.string(), ...numbers })),
    approvers: z.array(z.object({ approver: z.string(), ...numbers })),
    ruleCandidates: z.array(
      z.object({
        app: z.string(),
        tool: z.string(),
        approved: z.int(),
        since: z.iso.date(),
        rules: z.array(z.string()).openapi({ description: "The rules that asked." }),
        yaml: z.string().openapi({ description: "A rule to read and to change. Nothing applies it." }),
      }),
    ),
  })
  .openapi("Statistics");
