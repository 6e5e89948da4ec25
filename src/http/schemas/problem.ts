import { z } from "@hono/zod-openapi";
import { ERROR_CODES, type ErrorCode } from "../../protocol/index.ts";

const CODES = Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]];

/** An error as `application/problem+json`. */
export const problemSchema: z.ZodType = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string().openapi({ description: "What was wrong with this request." }),
    code: z.enum(CODES).openapi({ description: "Stable. The texts may change." }),
    field: z.string().optional().openapi({ description: "The invalid field." }),
    hint: z.string().optional().openapi({ description: "How to fix it." }),
    requestId: z.string().optional(),
  })
  .openapi("Problem");
