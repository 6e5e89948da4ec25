import type { Ledger } from "../../engine/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import { type AllSetAside, changeSetAside, listSetAside, type Place, settledAside } from "./place.ts";

type Items = Ledger["items"];

/** One record that an export has set aside, or all of them, of all exports. */
export type WhichSetAside = { readonly name: string; readonly seq: number } | "all";

/**
 * Has records that were set aside sent once more, by whichever process runs the export. What is refused again stays set
 * aside. Of records so old that only their number is known, none is sent. Resolves to how many. Throws `unknown-delivery`.
 */
export function retrySetAside(items: Items, which: WhichSetAside): Promise<number> {
  return changeAll(items, which, ({ count, newest }, seq) => {
    const isAsked = (record: { readonly seq: number }): boolean => seq === undefined || record.seq === seq;
    const again = newest.map((record) => (isAsked(record) ? { ...record, again: true as const } : record));
    return { left: { setAside: { count, newest: again } }, changed: newest.filter(isAsked).length };
  });
}

/** Forgets records that were set aside; they stay missing at the export's address. Resolves to how many. Throws `unknown-delivery`. */
export function dropSetAside(items: Items, which: WhichSetAside): Promise<number> {
  return changeAll(items, which, (all, seq) =>
    seq === undefined
      ? { left: {}, changed: all.count }
      : {
          left: settledAside({ seq: 0, setAside: all }, { seq }),
          changed: all.newest.filter((record) => record.seq === seq).length,
        },
  );
}

interface Change {
  readonly left: Pick<Place, "setAside">;
  /** How many records. */
  readonly changed: number;
}

async function changeAll(
  items: Items,
  which: WhichSetAside,
  change: (all: AllSetAside, seq: number | undefined) => Change,
): Promise<number> {
  const names = which === "all" ? (await listSetAside(items)).map(({ name }) => name) : [which.name];
  const seq = which === "all" ? undefined : which.seq;
  let sum = 0;
  for (const name of names) {
    const changed = await changeSetAside(items, name, ({ setAside }) => {
      const done = setAside && change(setAside, seq);
      return done === undefined || done.changed === 0
        ? undefined
        : { setAside: done.left, result: done.changed };
    });
    sum += changed ?? 0;
  }
  if (which !== "all" && sum === 0) throw notSetAside(which);
  return sum;
}

function notSetAside({ name, seq }: Exclude<WhichSetAside, "all">): CountersignError {
  return new CountersignError(
    "unknown-delivery",
    `The record ${seq} of the export "${name}" is not set aside. It was sent or dropped, or never set aside. ` +
      "`countersign siem list` shows those that are.",
    { details: { channel: name, sequence: seq } },
  );
}
