import type { Ledger, Lists } from "../ledger/index.ts";
import { type Principal, viewsAs } from "../people/index.ts";
import { type Counted, countJournal, keptDays } from "./count-journal.ts";
import {
  type Cell,
  COUNTED,
  type CountedThing,
  cellsOf,
  type Day,
  dayOf,
  mergedCells,
  NO_DAY,
} from "./day.ts";
import { quantile } from "./durations.ts";
import { type RuleCandidate, ruleCandidates } from "./rule-candidates.ts";
import { readWaiting, type Sight, type Waiting } from "./waiting.ts";

const DAY_MS = 86_400_000;
/** The longest period that can be asked for. */
export const MOST_DAYS = 90;
const MOST_ROWS = 100;
/** What one look counts; the rest is for the next one, or for a worker. */
const MOST_COUNTED = 1_000;

/** Decisions, and how long they took. */
export interface StatisticsNumbers {
  readonly approved: number;
  /** Those of the approved whose arguments an approver changed. */
  readonly amended: number;
  readonly denied: number;
  /** Questions that were asked. This and the following: only for everybody's numbers. */
  readonly asked?: number;
  readonly expired?: number;
  readonly cancelled?: number;
  /** Calls whose outcome became unknown. */
  readonly unknown?: number;
  /** From the question to the decision, at most 5 % off; absent where nothing was decided. */
  readonly decisionSeconds?: { readonly median: number; readonly p95: number };
}

export interface DayNumbers extends StatisticsNumbers {
  readonly day: string;
}

/** The numbers of one tool. An empty name: tools for which there was no room. */
export interface ToolNumbers extends StatisticsNumbers {
  readonly app: string;
  readonly tool: string;
}

export interface ApproverNumbers extends StatisticsNumbers {
  readonly approver: string;
}

/** Numbers of a period of whole days, in UTC. */
export interface Statistics {
  /** Everybody's, or only of the reader's own decisions. */
  readonly of: "everybody" | "own";
  readonly from: string;
  readonly to: string;
  /** Not everything that happened has been counted yet. */
  readonly behind: boolean;
  /** What waits now, of what the reader may see. */
  readonly waiting: Waiting;
  readonly total: StatisticsNumbers;
  readonly days: readonly DayNumbers[];
  readonly tools: readonly ToolNumbers[];
  readonly approvers: readonly ApproverNumbers[];
  /** Only with everybody's numbers. */
  readonly ruleCandidates: readonly RuleCandidate[];
}

export interface StatisticsRequest {
  /** How many days, today included. */
  readonly days: number;
  /** Whose numbers: everybody's, or those of what this principal decided, and of what waits for them. */
  readonly of: "everybody" | Principal;
  /** What they see of what waits. Default: what is shown to this login. */
  readonly sight?: Sight;
}

/** Counts what is new, on the ledger itself. Resolves to what reads the numbers of the last days, there or on a standby. */
export async function countStatistics(
  ledger: Ledger,
): Promise<
  (lists: Pick<Lists, "confirmations" | "items">, request: StatisticsRequest) => Promise<Statistics>
> {
  const counted = await countJournal(ledger, MOST_COUNTED);
  return (lists, request) => readDays(lists, request, { ...counted, now: ledger.now });
}

/** Counts what is new, and reads the numbers of the last days. */
export async function readStatistics(ledger: Ledger, request: StatisticsRequest): Promise<Statistics> {
  return (await countStatistics(ledger))(ledger, request);
}

async function readDays(
  lists: Pick<Lists, "confirmations" | "items">,
  { days, of, sight }: StatisticsRequest,
  { behind, now }: Counted & { readonly now: number },
): Promise<Statistics> {
  const kept = await keptDays(lists);
  const names = Array.from({ length: days }, (_, i) => dayOf(now - (days - 1 - i) * DAY_MS));
  const found = new Map(kept.map(({ id, day }) => [id, day]));
  const own = of === "everybody" ? undefined : of.id;
  const rows = names.map((day) => ({ day, cells: seenIn(found.get(day) ?? NO_DAY, own) }));
  const all = rows.flatMap(({ cells }) => cells);
  const numbers = (cells: readonly Seen[]): StatisticsNumbers => toNumbers(merged(cells), own === undefined);
  return {
    of: own === undefined ? "everybody" : "own",
    from: names[0] ?? dayOf(now),
    to: dayOf(now),
    behind,
    waiting: await readWaiting(lists, now, of === "everybody" ? undefined : (sight ?? sightOf(of))),
    total: numbers(all),
    days: rows.map(({ day, cells }) => ({ day, ...numbers(cells) })),
    tools: most([...Map.groupBy(all, ({ app, tool }) => JSON.stringify([app, tool])).values()]).map(
      (cells) => ({ app: cells[0]?.app ?? "", tool: cells[0]?.tool ?? "", ...numbers(cells) }),
    ),
    approvers: most([
      ...Map.groupBy(
        all.filter(({ approver }) => approver !== ""),
        ({ approver }) => approver,
      ).values(),
    ]).map((cells) => ({ approver: cells[0]?.approver ?? "", ...decisionsIn(numbers(cells)) })),
    ruleCandidates: own === undefined ? ruleCandidates(kept, now) : [],
  };
}

function sightOf(principal: Principal): Sight {
  return { viewers: viewsAs(principal), isSeen: () => true };
}

type Seen = ReturnType<typeof cellsOf>[number];

/** What somebody may see of a day: their own decisions, if it is not everything. */
function seenIn(day: Day, own: string | undefined): readonly Seen[] {
  return cellsOf(day).filter(({ approver }) => own === undefined || (own !== "" && approver === own));
}

function merged(cells: readonly Seen[]): Cell {
  return cells.reduce<Cell>((sum, { cell }) => mergedCells(sum, cell), {});
}

/** The largest groups. */
function most(groups: readonly (readonly Seen[])[]): readonly (readonly Seen[])[] {
  const weight = (cells: readonly Seen[]): number => {
    const { asked = 0, approved = 0, denied = 0 } = merged(cells);
    return Math.max(asked, approved + denied);
  };
  return groups
    .map((cells) => ({ cells, weight: weight(cells) }))
    .sort((a, b) => b.weight - a.weight)
    .slice(0, MOST_ROWS)
    .map(({ cells }) => cells);
}

const ZEROS = Object.fromEntries(COUNTED.map((thing) => [thing, 0])) as Record<CountedThing, number>;

function toNumbers(cell: Cell, ofEverybody: boolean): StatisticsNumbers {
  const { asked, approved, amended, denied, expired, cancelled, unknown } = { ...ZEROS, ...cell };
  const median = quantile(cell.times ?? {}, 0.5);
  const p95 = quantile(cell.times ?? {}, 0.95);
  return {
    ...(ofEverybody ? { asked } : {}),
    approved,
    amended,
    denied,
    ...(ofEverybody ? { expired, cancelled, unknown } : {}),
    ...(median === undefined || p95 === undefined
      ? {}
      : { decisionSeconds: { median: inSeconds(median), p95: inSeconds(p95) } }),
  };
}

/** An approver asks nothing and lets nothing expire. */
function decisionsIn({ approved, amended, denied, decisionSeconds }: StatisticsNumbers): StatisticsNumbers {
  return { approved, amended, denied, ...(decisionSeconds === undefined ? {} : { decisionSeconds }) };
}

/** To three digits. */
function inSeconds(ms: number): number {
  return Number((ms / 1_000).toPrecision(3));
}
