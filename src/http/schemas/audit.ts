import { z } from "@hono/zod-openapi";
import { asOf } from "./queries.ts";

/** A page of the journal, oldest first. */
export const auditPageSchema: z.ZodType = z
  .object({
    items: z.array(
      z
        .object({
          seq: z.int(),
          at: z.iso.datetime(),
          kind: z.string(),
          session: z.string().openapi({ description: "The key of its session." }),
          n: z.int(),
          body: z.record(z.string(), z.unknown()).nullable().openapi({ description: "Null after erasure." }),
          hash: z.string(),
        })
        .openapi("JournalRecord"),
    ),
    next: z
      .string()
      .optional()
      .openapi({ description: "The cursor of the next page. Valid only with the same filters and user." }),
    asOf,
  })
  .openapi("AuditPage");

/** What checking one session's journal found. */
export const sessionVerificationSchema: z.ZodType = z
  .object({ ok: z.boolean(), cannotDetect: z.array(z.string()) })
  .openapi("SessionVerification");

/** What checking the journal found. */
export const verificationSchema: z.ZodType = z
  .object({
    ok: z.boolean(),
    records: z.int(),
    erased: z.int().openapi({ description: "How many of them were erased with their sessions." }),
    unsealed: z.int().openapi({ description: "How many of them are newer than the last checkpoint." }),
    streams: z.int(),
    checkpoints: z.int(),
    faults: z.array(z.object({ where: z.string(), what: z.string() })),
    cannotDetect: z.array(z.string()),
  })
  .openapi("Verification");
