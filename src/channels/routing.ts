import {
  type Confirmation,
  heldUntil,
  holdEnd,
  type Ledger,
  type NotificationSettings,
  notificationSettings,
  type Principal,
} from "../engine/index.ts";
import { asks } from "./asks.ts";
import type { Notice, Told } from "./channel.ts";
import { combinedFailures, type Failure } from "./failures.ts";
import { isAsked } from "./people.ts";

// A person who ends their quiet hours early hears within this time.
const LONGEST_HOLD_MS = 3_600_000;

/** Who is not to be told now. */
export interface Muted {
  /** Their ids. */
  readonly ids: ReadonlySet<string>;
  /** Some of them are told later: then the notice is to be tried again. */
  readonly held?: Failure;
  /** Others, who are told now of what was held back for them, and when that was due. */
  readonly late: ReadonlyMap<string, number>;
}

const NOBODY: Muted = { ids: new Set(), late: new Map() };

/**
 * What people's own settings say about a question, by the ledger's clock: whoever turned the channel off is not told,
 * and whoever has quiet hours or wants to be told once a day later, unless it is urgent. What became of a question is not held back.
 */
export async function mutedAmong(
  { ledger, channel }: { readonly ledger: Pick<Ledger, "items" | "now">; readonly channel: string },
  notice: Notice,
  people: readonly Principal[],
): Promise<Muted> {
  const { about } = notice;
  if (!("id" in about) || !asks(notice)) return NOBODY;
  const ids = new Set<string>();
  const late = new Map<string, number>();
  const ends: number[] = [];
  for (const person of new Map(people.map((one) => [one.id, one])).values()) {
    const settings = await notificationSettings(ledger.items, personIdOf(person.id, notice));
    const { until, due } = isUrgent(notice, about, person)
      ? {}
      : timesOf(settings, about, { at: notice.at, now: ledger.now });
    const isOff = settings.off.includes(channel);
    if (isOff || until !== undefined) ids.add(person.id);
    if (!isOff && until !== undefined) ends.push(until);
    if (due !== undefined) late.set(person.id, due);
  }
  if (ends.length === 0) return { ids, late };
  const waitMs = Math.max(Math.min(...ends) - ledger.now, 1);
  const held = {
    ok: false,
    reason: "Held back by a recipient's settings.",
    retryAfterMs: Math.min(waitMs, LONGEST_HOLD_MS),
    isolated: true,
    isHeld: true,
  } as const;
  return { ids, held, late };
}

/** Settings are a person's, whichever login they used. */
function personIdOf(id: string, { known }: Notice): string {
  return known?.directory?.person(id) ?? id;
}

/** An escalation is urgent for those whom only the escalation asks. */
function isUrgent({ type, known }: Notice, about: Confirmation, person: Principal): boolean {
  if (type !== "confirmation.escalated") return false;
  const { escalations: _escalations, ...before } = about;
  return !isAsked(before, person, known);
}

/** When it is told, by somebody's settings. */
interface Times {
  /** Until when it is held back; absent if the question would be over by then. */
  readonly until?: number;
  /** Since when it is told, if it was held back before. */
  readonly due?: number;
}

function timesOf(
  settings: NotificationSettings,
  { expiresAt }: Confirmation,
  { at, now }: { readonly at: number; readonly now: number },
): Times {
  const until = heldUntil({ at, now }, settings);
  if (until !== undefined) return expiresAt !== undefined && Date.parse(expiresAt) <= until ? {} : { until };
  const due = holdEnd(at, settings);
  return due === undefined ? {} : { due };
}

/** What became of a notice of which some recipients are told later. */
export function withHeld(failures: readonly Failure[], held: Failure | undefined): Told {
  if (held === undefined) return combinedFailures(failures);
  // A recipient who cannot be reached at all must not end what others are still to be told.
  if (failures.every(({ final }) => final === true)) return held;
  return combinedFailures([...failures, { ok: false, reason: held.reason, isolated: true }]);
}
