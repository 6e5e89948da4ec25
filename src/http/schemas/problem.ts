import { z } from "@hono/zod-openapi";
import { ERROR_CODES, type ErrorCode } from "../../protocol/index.ts";

const CODES = Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]];

/** An error as `application/problem+json` says it. */
export const problemSchema: z.ZodType = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string().openapi({ description: "What was wrong this time." }),
    code: z.enum(CODES).openapi({ description: "Stable; the sentences are not." }),
    field: z.string().optional().openapi({ description: "The offending member." }),
    hint: z.string().optional().openapi({ description: "What to do about it." }),
    requestId: z.string().optional(),
  })
  .openapi("Problem");
