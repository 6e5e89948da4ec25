import { newKey } from "../../../api/new-key.ts";
import { serverNow } from "../../../ui/clock.ts";
import { tell } from "../../../ui/messages.ts";
import { Store } from "../../../ui/store.ts";
import { board } from "../../inbox/board.ts";
import { forgetDrafts } from "../forms/drafts.ts";
import { decisionSentence } from "../status-words.ts";

/** What a person wants to have done. */
export interface Act {
  /** Ids of what it is about. */
  readonly about: readonly string[];
  /** As in "Approving…". */
  readonly verb: string;
  /** What it is done to, in a few words: "reimburse 2,233 EUR · user9". */
  readonly what: string;
  /** Does it, for what is still open of it. False where the server was not reached. */
  readonly send: (key: string, about: readonly string[]) => Promise<boolean>;
}

/** An act that has not been sent yet, or has no answer yet. */
export interface Held extends Act {
  /** Also its Idempotency-Key: however often it is sent, it counts once. */
  readonly key: string;
  readonly state: "held" | "sending" | "unsent";
  /** When it will be sent, by this machine's clock. */
  readonly sendsAt: number;
}

/** How long an act can be undone. */
const HOLD_MS = 4000;
/** With less time left than this, nothing is held: it would expire on the way. */
const NEAR_MS = 10_000;

export const held: Store<readonly Held[]> = new Store<readonly Held[]>([]);
const timers = new Map<string, number>();

/** Holds an act for a moment, then sends it; near a deadline at once. A second one about the same is ignored. */
export function hold(act: Act): void {
  const about = act.about.filter((id) => heldFor(held.value, id) === undefined);
  if (about.length === 0) return;
  const key = newKey();
  held.set([...held.value, { ...act, about, key, state: "held", sendsAt: Date.now() + HOLD_MS }]);
  if (about.some(isNearDeadline)) return sendNow(key);
  timers.set(
    key,
    window.setTimeout(() => sendNow(key), HOLD_MS),
  );
}

function isNearDeadline(id: string): boolean {
  const expiresAt = board.value.confirmations.get(id)?.expiresAt;
  return expiresAt !== undefined && Date.parse(expiresAt) - serverNow() < NEAR_MS;
}

/** Undoes an act; no effect once it is being sent. */
export function undo(key: string): void {
  if (held.value.find((one) => one.key === key)?.state === "sending") return;
  drop(key);
}

/** Undoes the last act that can still be undone. */
export function undoLast(): void {
  const last = held.value.findLast(({ state }) => state !== "sending");
  if (last !== undefined) undo(last.key);
}

/** Sends at once what is held, or again what did not arrive. */
export function sendNow(key: string): void {
  const one = held.value.find((each) => each.key === key);
  if (one === undefined || one.state === "sending") return;
  window.clearTimeout(timers.get(key));
  replace({ ...one, state: "sending" });
  one.send(key, one.about).then(
    (isAnswered) => (isAnswered ? finish(one) : replace({ ...one, state: "unsent" })),
    () => replace({ ...one, state: "unsent" }),
  );
}

export function heldFor(all: readonly Held[], id: string): Held | undefined {
  return all.find(({ about }) => about.includes(id));
}

/** Undoes every unanswered act: after a change of login it would be sent as another person. */
export function dropAll(): void {
  for (const { key } of held.value) drop(key);
}

function finish({ key, about }: Held): void {
  forgetDrafts(about);
  drop(key);
}

function drop(key: string): void {
  window.clearTimeout(timers.get(key));
  timers.delete(key);
  held.set(held.value.filter((one) => one.key !== key));
}

function replace(one: Held): void {
  held.set(held.value.map((each) => (each.key === one.key ? one : each)));
}

/** Somebody else was faster: there is nothing to wait for any more. */
function endOvertaken(): void {
  for (const one of held.value) {
    if (one.state !== "held") continue;
    const gone = one.about.filter((id) => isDecided(id));
    if (gone.length === 0) continue;
    for (const id of gone) tellOvertaken(id);
    const about = one.about.filter((id) => !gone.includes(id));
    if (about.length === 0) drop(one.key);
    else replace({ ...one, about });
  }
}

function isDecided(id: string): boolean {
  const status = board.value.confirmations.get(id)?.status;
  return status !== undefined && status !== "requested" && status !== "unknown";
}

function tellOvertaken(id: string): void {
  const now = board.value.confirmations.get(id);
  const told = now === undefined ? undefined : decisionSentence(now);
  tell(`Your answer was not sent. ${told ?? "It has been decided."}`);
}

board.subscribe(endOvertaken);

// Leaving now would lose the click; nothing has been decided yet, and the browser says so.
window.addEventListener("beforeunload", (event) => {
  if (held.value.length > 0) event.preventDefault();
});
