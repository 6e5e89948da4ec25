import { type Durations, mergedDurations, withDuration } from "./durations.ts";

/** What is counted. */
export const COUNTED = [
  "asked",
  "approved",
  "denied",
  "amended",
  "filled",
  "expired",
  "cancelled",
  "unknown",
] as const;
export type CountedThing = (typeof COUNTED)[number];

/** The counts of one tool of one app, by one approver; those of no approver have none. Zeros are left out. */
export interface Cell extends Partial<Readonly<Record<CountedThing, number>>> {
  /** From the question to the decision. */
  readonly times?: Durations;
  /** What asked: ids of rules, and `""` for anything else. */
  readonly askedBy?: readonly string[];
}

/** Everything of one day. */
export interface Day {
  /** Records of the journal up to here are counted, as far as they are of this day. */
  readonly upTo: number;
  readonly cells: Readonly<Record<string, Cell>>;
}

/** One thing that happened, as it is counted. */
export interface Fact {
  readonly app: string;
  readonly tool: string;
  readonly approver?: string;
  readonly what: readonly CountedThing[];
  readonly tookMs?: number;
  readonly askedBy?: readonly string[];
}

export interface CellName {
  readonly app: string;
  readonly tool: string;
  readonly approver: string;
}

/** The most names of apps, tools and people in one day: others choose them, so there must be a limit. */
const MOST_CELLS = 300;
const MOST_SOURCES = 10;
/** Counts whatever has no room. */
const OTHERS: CellName = { app: "", tool: "", approver: "" };

export const NO_DAY: Day = { upTo: 0, cells: {} };

export function withFact(day: Day, fact: Fact): Day {
  const { app, tool, approver = "" } = fact;
  const named = keyOf({ app, tool, approver });
  const hasRoom = named in day.cells || Object.keys(day.cells).length < MOST_CELLS;
  const key = hasRoom ? named : keyOf(OTHERS);
  return { ...day, cells: { ...day.cells, [key]: plus(day.cells[key] ?? {}, fact) } };
}

function plus(cell: Cell, { what, tookMs, askedBy = [] }: Fact): Cell {
  const counts = Object.fromEntries(what.map((thing) => [thing, (cell[thing] ?? 0) + 1]));
  const times = tookMs === undefined ? undefined : withDuration(cell.times ?? {}, tookMs);
  return {
    ...cell,
    ...counts,
    ...(times === undefined ? {} : { times }),
    ...sourcesOf(cell.askedBy ?? [], askedBy),
  };
}

export function mergedCells(a: Cell, b: Cell): Cell {
  const counts = COUNTED.flatMap((thing) => {
    const sum = (a[thing] ?? 0) + (b[thing] ?? 0);
    return sum === 0 ? [] : [[thing, sum]];
  });
  return {
    ...(Object.fromEntries(counts) as Cell),
    times: mergedDurations(a.times ?? {}, b.times ?? {}),
    ...sourcesOf(a.askedBy ?? [], b.askedBy ?? []),
  };
}

function sourcesOf(known: readonly string[], more: readonly string[]): Pick<Cell, "askedBy"> {
  const all = [...new Set([...known, ...more])].slice(0, MOST_SOURCES);
  return all.length === 0 ? {} : { askedBy: all };
}

export function cellsOf({ cells }: Day): readonly (CellName & { readonly cell: Cell })[] {
  return Object.entries(cells).map(([key, cell]) => {
    const [app = "", tool = "", approver = ""] = JSON.parse(key) as string[];
    return { app, tool, approver, cell };
  });
}

function keyOf({ app, tool, approver }: CellName): string {
  return JSON.stringify([app, tool, approver]);
}

/** The day of a time, in UTC, as in `2026-11-16`. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, "2026-11-16".length);
}
