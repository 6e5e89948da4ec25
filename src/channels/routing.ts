import {
  type Confirmation,
  type Ledger,
  type NotificationSettings,
  notificationSettings,
  type Principal,
  quietUntil,
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
  /** Others, who are told now of a reminder that came in their quiet hours. */
  readonly late: ReadonlySet<string>;
}

const NOBODY: Muted = { ids: new Set(), late: new Set() };

/**
 * What people's own settings say about a question, by the ledger's clock: whoever turned the channel off is not told,
 * and whoever has quiet hours later, unless it is urgent. What became of a question is not held back.
 */
export async function mutedAmong(
  { ledger, channel }: { readonly ledger: Pick<Ledger, "items" | "now">; readonly channel: string },
  notice: Notice,
  people: readonly Principal[],
): Promise<Muted> {
  const { about } = notice;
  if (!("id" in about) || !asks(notice)) return NOBODY;
  const ids = new Set<string>();
  const late = new Set<string>();
  const ends: number[] = [];
  for (const person of new Map(people.map((one) => [one.id, one])).values()) {
    const settings = await notificationSettings(ledger.items, personIdOf(person.id, notice));
    const until = isUrgent(notice, about, person) ? undefined : quietEnd(settings, about, ledger.now);
    const isOff = settings.off.includes(channel);
    if (isOff || until !== undefined) ids.add(person.id);
    if (!isOff && until !== undefined) ends.push(until);
    if (isLate(notice, settings)) late.add(person.id);
  }
  if (ends.length === 0) return { ids, late };
  const waitMs = Math.max(Math.min(...ends) - ledger.now, 1);
  const held = {
    ok: false,
    reason: "Held back during the quiet hours of a recipient.",
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

function isLate({ type, at }: Notice, { quiet }: NotificationSettings): boolean {
  return type === "confirmation.reminded" && quiet !== undefined && quietUntil(at, quiet) !== undefined;
}

/** An escalation is urgent for those whom only the escalation asks. */
function isUrgent({ type, known }: Notice, about: Confirmation, person: Principal): boolean {
  if (type !== "confirmation.escalated") return false;
  const { escalations: _escalations, ...before } = about;
  return !isAsked(before, person, known);
}

/** When the quiet hours end; undefined if the question would be over by then. */
function quietEnd(
  { quiet }: NotificationSettings,
  { expiresAt }: Confirmation,
  now: number,
): number | undefined {
  const until = quiet === undefined ? undefined : quietUntil(now, quiet);
  const isTooLate = until !== undefined && expiresAt !== undefined && Date.parse(expiresAt) <= until;
  return isTooLate ? undefined : until;
}

/** What became of a notice of which some recipients are told later. */
export function withHeld(failures: readonly Failure[], held: Failure | undefined): Told {
  if (held === undefined) return combinedFailures(failures);
  // A recipient who cannot be reached at all must not end what others are still to be told.
  if (failures.every(({ final }) => final === true)) return held;
  return combinedFailures([...failures, { ok: false, reason: held.reason }]);
}
