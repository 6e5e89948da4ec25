import {
  type Asker,
  type Confirmation,
  type ConfirmationWithCall,
  type Counting,
  isRequester,
  mayDecide,
  type Principal,
  type Ruled,
  turnOf,
} from "../../engine/index.ts";
import { hasScope } from "../scopes.ts";
import { type CallOwner, ownerOf } from "./calls.ts";
import { conversationBefore, type Message } from "./conversation.ts";
import type { Reading } from "./list.ts";
import { find, show, viewersFor } from "./visibility.ts";

const MOST_OF_TURN = 50;
const MOST_EARLIER = 10;

/** What a person sees before deciding, besides the question. */
export interface ConfirmationContext {
  /** The other confirmations of the same turn. */
  readonly turn: readonly Confirmation[];
  /** The newest decisions on this tool for the same user. */
  readonly earlier: readonly Confirmation[];
  /** The conversation before the call, if the principal may read it. */
  readonly conversation?: readonly Message[];
  /** Who sent the message that led to it, and how they were authenticated at that time. */
  readonly asker?: Asker;
  /** Who holds, or last held, the claim on the call. */
  readonly owner?: CallOwner;
}

/** Reads the context of a confirmation that the principal may see. */
export async function contextOf({ site, principal }: Reading, id: string): Promise<ConfirmationContext> {
  const { confirmation, call } = await find(site, id, principal);
  const ledger = await site.ledger();
  const counting = await site.counting(confirmation.app);
  const told = (items: readonly ConfirmationWithCall[]): readonly Confirmation[] =>
    items.filter((item) => item.confirmation.id !== id).map((item) => show(item, principal, counting));
  const { tool, user, app } = confirmation;
  const turn = { session: confirmation.session, turn: turnOf(call), ...viewersFor(principal, counting) };
  const few = { preview: true, limit: MOST_OF_TURN } as const;
  const open = await ledger.confirmations({ state: "open", ...turn }, few);
  const closed = await ledger.confirmations({ state: "closed", ...turn }, few);
  const earlier = await ledger.confirmations(
    { state: "closed", app, tool, user, ...viewersFor(principal, counting) },
    { preview: true, limit: MOST_EARLIER + 1 },
  );
  const { frame } = (await ledger.load({ confirmation: id })) ?? {};
  const asker = frame?.asker && askerShown(frame.asker);
  return {
    turn: told([...open.items, ...closed.items].toSorted((a, b) => a.call.ord - b.call.ord)),
    earlier: told(earlier.items).slice(0, MOST_EARLIER),
    ...(mayRead(confirmation, principal, counting)
      ? { conversation: await conversationBefore(ledger, call, frame) }
      : {}),
    ...(asker === undefined ? {} : { asker }),
    ...(await ownerOf(ledger, call)),
  };
}

// Roles are for rules, not for readers.
function askerShown({ id, kind, authenticated }: Asker): Asker {
  return { id, kind, authenticated };
}

// The person who decides needs the context; the requester was there.
function mayRead(rule: Ruled, principal: Principal, counting: Partial<Counting>): boolean {
  if (hasScope(principal, "admin", "act-as") || isRequester(rule, principal, counting.directory)) return true;
  return mayDecide(rule, principal, counting);
}
