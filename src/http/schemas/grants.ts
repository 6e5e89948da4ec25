import { z } from "@hono/zod-openapi";
import { grantLimitsSchema } from "./confirmation.ts";

/** A grant as those see it who may revoke it. */
export const grantSchema: z.ZodType = z
  .object({
    id: z.string(),
    status: z.enum(["active", "used-up", "ended", "revoked"]),
    app: z.string(),
    agent: z.string(),
    tool: z.string(),
    session: z.string(),
    user: z.string(),
    confirmation: z.string().openapi({ description: "The confirmation whose approval gave it." }),
    by: z.array(z.string()).openapi({ description: "Who gave it." }),
    limits: grantLimitsSchema,
    uses: z.int(),
    spent: z
      .record(z.string(), z.string())
      .openapi({ description: "The sums so far, as decimals, by argument." }),
    refunds: z
      .int()
      .optional()
      .openapi({ description: "How many uses were given back, because their calls did not happen." }),
    mintedAt: z.iso.datetime(),
    endsAt: z.iso.datetime(),
    revoked: z
      .object({ at: z.iso.datetime(), by: z.string().optional(), reason: z.string().optional() })
      .optional(),
  })
  .openapi("Grant");

export const grantPageSchema: z.ZodType = z
  .object({ items: z.array(grantSchema), next: z.string().optional() })
  .openapi("GrantPage");
