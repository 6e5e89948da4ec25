import { z } from "@hono/zod-openapi";
import { NOTICE_KINDS } from "../../engine/index.ts";

/** A loss that a process detected in the ledger. */
export const noticeSchema: z.ZodType = z
  .object({
    id: z.string(),
    kind: z.enum(NOTICE_KINDS),
    at: z.iso.datetime(),
    message: z.string(),
    count: z.int().openapi({ description: "How many of this kind were found at the same time." }),
    host: z.string().optional().openapi({ description: "Only for administrators, like the fields below." }),
    pid: z.int().optional(),
    details: z
      .array(z.record(z.string(), z.unknown()))
      .optional()
      .openapi({ description: "The sessions, calls and tools. If there are many, only the first." }),
    acknowledged: z.object({ by: z.string(), at: z.iso.datetime() }).optional(),
  })
  .openapi("Notice");

/** All notices that nobody has acknowledged. */
export const noticeListSchema: z.ZodType = z.object({ items: z.array(noticeSchema) }).openapi("NoticeList");
