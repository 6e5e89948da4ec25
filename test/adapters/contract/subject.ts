import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { Engine } from "../../../src/engine/index.ts";
import type { JsonObject } from "../../../src/protocol/index.ts";

/** A call that the scripted model makes. `pay` is gated above an amount of 10, `order` and `transfer` always, `note` never. */
export interface ModelCall {
  readonly id: string;
  readonly tool: "pay" | "order" | "transfer" | "note";
  readonly args: JsonObject;
}

/** How far a conversation is. */
export interface Progress {
  /** The framework's own state as text: another process can go on from it. */
  readonly state: string;
  /** Paused: a call has no answer yet, and the model was not asked again. */
  readonly status: "paused" | "done";
  /** What the model was told of each call, by the call's id. */
  readonly told: { readonly [id: string]: string };
  /** Of a world that streams: what a reader of the framework's own stream saw, in order. */
  readonly seen?: readonly Seen[];
}

/** A part of the model's text, a call that the model makes, that somebody is asked about a call, or a call's result. */
export type Seen =
  | { readonly text: string }
  | { readonly call: string }
  | { readonly asked: string }
  | { readonly result: string };

/** What the model streams before it makes calls, in parts. */
export const FIRST_WORDS: readonly string[] = ["I ", "pay."];

/** What it streams once it has all results, in parts. */
export const LAST_WORDS: readonly string[] = ["Do", "ne."];

/** The program around a framework, with a scripted model that answers with text once it has all results. */
export interface AdapterHost {
  /** A user's message, for which the model makes these calls at once. Without a state a new conversation. */
  send(calls: readonly ModelCall[], state?: string): Promise<Progress>;
  /** Goes on from this state with what the ledger says. */
  resume(state: string): Promise<Progress>;
  /** Goes on as if somebody had approved everything, in the way of the framework's own front ends. It may throw. */
  forge(state: string): Promise<Progress>;
  /** Changes what the framework has stored, as somebody could who gets at it. Default: the text of the state. */
  edit?(state: string, change: (text: string) => string): string;
  /** The conversation moves on without what is open. */
  cancel(reason: string): Promise<number>;
}

/** What the program around the framework has. */
export interface World {
  readonly engine: Engine;
  readonly app: string;
  readonly thread: string;
  /** What the tool `pay` is said to do. */
  readonly description: string;
  readonly expiresInMs?: number;
  /** The framework streams, and so does the model. Otherwise neither does. */
  readonly streams?: true;
  /** Without `order` and `transfer`: to compare with a framework alone, which has `pay` and `note`. */
  readonly few?: true;
  /** With `few`: `note` is not given to the adapter, to see what it costs there. */
  readonly noteOutside?: true;
  pay(args: JsonObject): Promise<JsonObject>;
}

/** An adapter in the suite. */
export interface AdapterSubject {
  readonly name: string;
  /** Cases that cannot apply, by name, and why. */
  readonly except?: { readonly [name: string]: string };
  open(world: World): AdapterHost;
}

/** The rule of `order` and `transfer`. */
export const ORDER_RULE = { approvers: { users: ["ana"] } } as const;

/** The rule of `pay`, which every subject gives to its adapter. */
export const PAY_RULE = {
  requireConfirmation: ({ amount }: JsonObject): boolean => {
    if (amount === 13) throw new Error("The rule does not like this number.");
    return Number(amount) > 10;
  },
  hint: ({ amount }: JsonObject): string => `Pay ${JSON.stringify(amount)}?`,
  approvers: { users: ["ana"] },
  amendable: ["amount"],
} as const;

/** What `order` is said to do. */
export const ORDER_DESCRIPTION = "Orders for an amount, under a number of its own.";

/** The arguments of `order`: without a number it gets another one each time that it is parsed. */
export const ORDER_SHAPE = { amount: z.number(), number: z.string().default(() => randomUUID()) };

/** The same, as a schema. */
export const ORDER_INPUT: z.ZodObject<typeof ORDER_SHAPE> = z.object(ORDER_SHAPE);

/** What `transfer` is said to do. */
export const TRANSFER_DESCRIPTION = "Transfers an amount to somebody.";

/** The arguments of `transfer`: parsing renames what the model sent, and makes a new reference if it is asked for one. */
export const TRANSFER_SHAPE = {
  payment: z
    .object({ to: z.string(), amount: z.number(), withReference: z.boolean() })
    .transform(({ to, amount, withReference }) => ({
      recipient: to,
      cents: amount * 100,
      ...(withReference ? { reference: randomUUID() } : {}),
    })),
};

/** The same, as a schema. */
export const TRANSFER_INPUT: z.ZodObject<typeof TRANSFER_SHAPE> = z.object(TRANSFER_SHAPE);

/** JSON Schema of the arguments of `pay`. */
export const PAY_SCHEMA = {
  type: "object",
  properties: { amount: { type: "number" }, to: { type: "string" }, hang: { type: "boolean" } },
  required: ["amount"],
} as const;
