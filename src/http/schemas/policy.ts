import { z } from "@hono/zod-openapi";

/** The longest policy file that is replayed. */
const LONGEST_POLICY = 500_000;
const MOST_DAYS = 400;

/** A policy to compare with what was decided. */
export interface ReplayBody {
  readonly policy: string;
  readonly days: number;
}

export const replayBodySchema: z.ZodType<ReplayBody> = z
  .strictObject({
    policy: z.string().min(1).max(LONGEST_POLICY).openapi({ description: "The text of a policy file." }),
    days: z.int().min(1).max(MOST_DAYS).default(30).openapi({ description: "How far back." }),
  })
  .openapi("PolicyReplay");

const difference = z.object({
  count: z.int(),
  approved: z.int().openapi({ description: "How many of them people approved." }),
  denied: z.int().openapi({ description: "How many of them people denied." }),
  examples: z
    .array(z.string())
    .openapi({ description: "The first of them; of those that people denied, if there are any." }),
});

export const replayReportSchema: z.ZodType = z
  .object({
    calls: z.int().openapi({ description: "How many calls were judged." }),
    complete: z.boolean().openapi({
      description: "False: there are more calls than are judged at once, and only the newest were judged.",
    }),
    judgedFrom: z.iso.datetime().openapi({ description: "From when on all calls were judged." }),
    stopsAsking: difference,
    newlyAsks: difference,
    newlyDenies: difference,
    stopsDenying: difference,
    suggestions: z.array(
      z.object({
        rule: z.string(),
        tool: z.string(),
        unless: z.string().optional().openapi({ description: "An exception that the rule could have." }),
        grants: z.string().optional().openapi({ description: "Grants that the rule could allow." }),
        approvals: z.int().openapi({ description: "How many questions it would have saved, all approved." }),
      }),
    ),
  })
  .openapi("PolicyReplayReport");
