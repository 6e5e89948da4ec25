import { Store } from "../../ui/store.ts";

type Snoozed = { readonly [id: string]: number };

const PLACE = "countersign.snoozed";

/** What this person put off, in this browser only. Nobody else sees it, and nothing is decided by it. */
export const snoozed: Store<Snoozed> = new Store<Snoozed>(recall());

export function snooze(id: string, untilMs: number): void {
  keep({ ...snoozed.value, [id]: untilMs });
}

export function wake(id: string): void {
  const { [id]: _woken, ...rest } = snoozed.value;
  keep(rest);
}

function keep(value: Snoozed): void {
  const still = Object.fromEntries(Object.entries(value).filter(([, until]) => until > Date.now()));
  snoozed.set(still);
  try {
    window.localStorage.setItem(PLACE, JSON.stringify(still));
  } catch {
    // A browser that keeps nothing forgets it on reload; the card is then back, which is the safe side.
  }
}

function recall(): Snoozed {
  try {
    const kept: unknown = JSON.parse(window.localStorage.getItem(PLACE) ?? "{}");
    return typeof kept === "object" && kept !== null ? (kept as Snoozed) : {};
  } catch {
    return {};
  }
}
