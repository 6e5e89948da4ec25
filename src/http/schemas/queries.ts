import { z } from "@hono/zod-openapi";
import { MOST_AGE_SECONDS } from "../lists/list-reads.ts";

const LARGEST_PAGE = 200;
const LARGEST_RECORD = 999_999_999_999_999;
const MAX_WAIT = 60;

/** The longest name that a ledger can store, and the longest session key of three names. */
const LONGEST_NAME = 768;
const LONGEST_NAMES = 2_400;

/** No name contains a NUL, and not every store can search for one. */
function named(longest: number): z.ZodString {
  return z
    .string()
    .min(1)
    .max(longest)
    .refine((value) => !value.includes("\0"), "must not contain a NUL character");
}

const text = named(LONGEST_NAME);
const cursor = z.string().min(1).max(2_000).optional();

/** A number in a URL, within bounds. */
export function whole(least: number, most: number): z.ZodType<number, string> {
  return z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((value) => value >= least && value <= most, `must be a whole number from ${least} to ${most}`);
}

const time = z.iso.datetime({ offset: true });

/** How old a list may be. */
export const maxAge: z.ZodOptional<z.ZodType<number, string>> = whole(0, MOST_AGE_SECONDS)
  .optional()
  .openapi({
    type: "integer",
    minimum: 0,
    maximum: MOST_AGE_SECONDS,
    description:
      "How many seconds old the answer may be, where a standby of the database can give it. Default: 0, nothing is " +
      "missing that was stored before the request.",
  });

/** In the answer. */
export const asOf: z.ZodOptional<z.ZodISODateTime> = z.iso.datetime().optional().openapi({
  description: "Only if it was read from a standby: everything that was stored before this time is in it.",
});

const limit = whole(1, LARGEST_PAGE)
  .optional()
  .openapi({ type: "integer", minimum: 1, maximum: LARGEST_PAGE });

/** The query parameters of a list of confirmations. */
export interface ListQuery {
  readonly status?: string | readonly string[] | undefined;
  readonly tool?: string | undefined;
  readonly agent?: string | undefined;
  readonly app?: string | undefined;
  readonly user?: string | undefined;
  readonly session?: string | undefined;
  readonly turn?: string | undefined;
  readonly q?: string | undefined;
  readonly mine?: "true" | "false" | "decidable" | undefined;
  readonly decidedBy?: string | undefined;
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
  readonly maxAge?: number | undefined;
}

export const listQuerySchema: z.ZodType<ListQuery> = z.object({
  status: z
    .union([z.string().max(300), z.array(z.string().max(300)).max(20)])
    .optional()
    .openapi({
      description: "Statuses, repeated or separated by commas, or `all`. Default: open confirmations.",
    }),
  tool: text.optional(),
  agent: text.optional(),
  app: text.optional(),
  user: text.optional(),
  session: text.optional(),
  turn: text.optional(),
  q: z.string().max(500).optional().openapi({ description: "Words in tool, agent and arguments." }),
  mine: z.enum(["true", "false", "decidable"]).optional().openapi({
    description: "`true`: those that you requested. `decidable`: those that you may decide now.",
  }),
  decidedBy: text.optional().openapi({ description: "Only those that this person decided." }),
  since: time.optional().openapi({ description: "Only those that were requested at this time or later." }),
  until: time.optional().openapi({ description: "Only those that were requested before this time." }),
  cursor,
  limit,
  maxAge,
});

export const pageQuerySchema: z.ZodType<{
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
}> = z.object({ cursor, limit });

export const waitQuerySchema: z.ZodType<{ readonly wait?: number | undefined }> = z.object({
  wait: whole(0, MAX_WAIT).optional().openapi({
    type: "integer",
    minimum: 0,
    maximum: MAX_WAIT,
    description: "Seconds to wait for the call to end.",
  }),
});

/** An id in a URL. */
export const idParamsSchema: z.ZodType<{ readonly id: string }> = z.object({
  // A call's id is the key of its session and a name.
  id: named(LONGEST_NAME + 32),
});

const SEQUENCE = { type: "integer", minimum: 0 } as const;

/** A delivery in a URL. */
export const deliveryParamsSchema: z.ZodType<{ readonly channel: string; readonly sequence: number }> =
  z.object({ channel: text, sequence: whole(0, LARGEST_RECORD).openapi(SEQUENCE) });

export const streamQuerySchema: z.ZodType<{ readonly lastEventId?: string | undefined }> = z.object({
  lastEventId: z.string().max(300).optional().openapi({
    description: "Same as the header Last-Event-ID, for clients that cannot set headers.",
  }),
});

/** The query parameters of the journal. */
export interface AuditQuery {
  readonly after?: number | undefined;
  readonly cursor?: string | undefined;
  readonly limit?: number | undefined;
  readonly session?: string | undefined;
  readonly confirmation?: string | undefined;
  readonly q?: string | undefined;
  readonly maxAge?: number | undefined;
}

export const auditQuerySchema: z.ZodType<AuditQuery> = z.object({
  after: whole(0, LARGEST_RECORD)
    .optional()
    .openapi({ type: "integer", minimum: 0, description: "Start after the record with this `seq`." }),
  cursor,
  limit,
  session: named(LONGEST_NAMES).optional().openapi({ description: "A session's key, or app/user/id." }),
  confirmation: text.optional(),
  q: z.string().max(500).optional().openapi({ description: "Words in the record's kind and body." }),
  maxAge,
});

export const verifyQuerySchema: z.ZodType<{ readonly head?: string | undefined }> = z.object({
  head: z
    .string()
    .max(300)
    .optional()
    .openapi({ description: "A head that `countersign audit head` printed." }),
});
