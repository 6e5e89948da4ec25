import { z } from "@hono/zod-openapi";
import { confirmationSchema } from "./confirmation.ts";
import { problemSchema } from "./problem.ts";

/** The caller, and the apps that are served. */
export const meSchema: z.ZodType = z
  .object({
    principal: z.object({
      id: z.string(),
      kind: z.string(),
      roles: z.array(z.string()),
      scopes: z.array(z.string()),
      authenticated: z.boolean(),
    }),
    auth: z.string(),
    apps: z.array(z.string()),
    channels: z.array(z.string()),
    examplePrompts: z
      .record(z.string(), z.array(z.string()))
      .openapi({ description: "What a person can ask an app to begin with." }),
  })
  .openapi("Me");

/** The results of many decisions, in their order. */
export const decisionResultsSchema: z.ZodType = z
  .object({
    results: z.array(
      z.object({
        id: z.string(),
        status: z.int(),
        confirmation: confirmationSchema.optional(),
        problem: problemSchema.optional(),
      }),
    ),
  })
  .openapi("DecisionResults");
