import { z } from "@hono/zod-openapi";
import type { JsonValue } from "../../protocol/index.ts";

const LONGEST_RUN_ID = 200;
const LONGEST_REASON = 4_000;

/** What somebody answers to one question. */
interface ResumeAnswer {
  readonly approved: boolean;
  readonly reason?: string | undefined;
  readonly payload?: JsonValue | undefined;
}

/** An answer to one interrupt, or that there is none yet. */
export type ResumeEntry =
  | { readonly interruptId: string; readonly status: "resolved"; readonly payload: ResumeAnswer }
  | { readonly interruptId: string; readonly status: "cancelled" };

/** The members of a `RunAgentInput` that are read here. */
export interface AguiInput {
  readonly threadId: string;
  readonly runId: string;
  readonly messages: readonly AguiInputMessage[];
  readonly resume?: readonly ResumeEntry[] | null | undefined;
}

/** A message in the client's history. */
export interface AguiInputMessage {
  readonly id: string;
  readonly role: string;
  readonly content?: unknown;
}

const interruptId = z.string().min(1);

// Other members are refused: somebody who sends changed arguments must not approve the unchanged ones.
const answer = z
  .strictObject({
    approved: z.boolean(),
    reason: z.string().max(LONGEST_REASON).optional().openapi({ description: "Why it is denied." }),
    payload: z
      .unknown()
      .optional()
      .openapi({ description: "What the question asks for, if it has a schema." }),
  })
  .openapi({ description: "Only `approved: true` approves." }) as z.ZodType<ResumeAnswer>;

const resumeEntry: z.ZodType<ResumeEntry> = z.discriminatedUnion("status", [
  z.looseObject({ interruptId, status: z.literal("resolved"), payload: answer }),
  z
    .looseObject({ interruptId, status: z.literal("cancelled") })
    .openapi({ description: "Decides nothing: the question stays open." }),
]);

export const aguiInputSchema: z.ZodType<AguiInput> = z
  .looseObject({
    threadId: z.string().min(1).openapi({ description: "The caller's session. Created if there is none." }),
    runId: z
      .string()
      .min(1)
      .max(LONGEST_RUN_ID)
      .openapi({ description: "The same run again within a day has the outcome of the first." }),
    messages: z
      .array(z.looseObject({ id: z.string(), role: z.string(), content: z.unknown().optional() }))
      .openapi({
        description:
          "Only the last one is read, and only if it is a user's text that the server does not have yet. The server's own history counts, not this one.",
      }),
    resume: z.array(resumeEntry).nullish().openapi({ description: "Answers to open interrupts." }),
  })
  .openapi("AguiRunInput", {
    description: "AG-UI's RunAgentInput. `tools`, `context`, `state` and `forwardedProps` are ignored.",
  });

export const aguiEventSchema: z.ZodType = z
  .looseObject({ type: z.string() })
  .openapi("AguiEvent", { description: "An event of AG-UI 1.0." });

export const aguiPathSchema: z.ZodType<{ readonly app: string }> = z.object({ app: z.string() });
