import { type Cell, cellsOf, type Day, dayOf, mergedCells } from "./day.ts";

const DAY_MS = 86_400_000;
/** The period that is looked at, and how many approvals it must have. */
const LEAST_DAYS = 30;
const LEAST_APPROVED = 10;
const MOST = 20;
/** What a rule reads as a pattern, or refuses. */
const NOT_A_NAME = /[*?[\]{}\\!]/;

/** A tool that people have only ever approved, as it was asked, for a month. */
export interface RuleCandidate {
  readonly app: string;
  readonly tool: string;
  /** How often since then. */
  readonly approved: number;
  /** The first day, in UTC. */
  readonly since: string;
  /** The rules that asked. Empty: the tool or its host asked, and no rule. */
  readonly rules: readonly string[];
  /** A rule for a policy, as YAML. For somebody to read and to change: nothing applies it. */
  readonly yaml: string;
}

interface Streak {
  readonly app: string;
  readonly tool: string;
  readonly since: string;
  readonly cell: Cell;
}

/** Tools that were approved without change for a month; those asked most often first. */
export function ruleCandidates(
  days: readonly { readonly id: string; readonly day: Day }[],
  now: number,
): readonly RuleCandidate[] {
  const streaks = new Map<string, Streak>();
  for (const { id, day } of days) {
    for (const [key, { app, tool, cell }] of toolsOf(day)) {
      const before = streaks.get(key);
      if (!isClean(cell)) streaks.delete(key);
      else if (before !== undefined) streaks.set(key, { ...before, cell: mergedCells(before.cell, cell) });
      else streaks.set(key, { app, tool, since: id, cell });
    }
  }
  const latest = dayOf(now - (LEAST_DAYS - 1) * DAY_MS);
  return [...streaks.values()]
    .filter(({ since, cell }) => since <= latest && (cell.approved ?? 0) >= LEAST_APPROVED)
    .filter(({ app, tool }) => tool !== "" && !NOT_A_NAME.test(`${app}${tool}`))
    .sort((a, b) => (b.cell.approved ?? 0) - (a.cell.approved ?? 0))
    .slice(0, MOST)
    .map(toCandidate);
}

function toolsOf(
  day: Day,
): ReadonlyMap<string, { readonly app: string; readonly tool: string; readonly cell: Cell }> {
  const tools = new Map<string, { app: string; tool: string; cell: Cell }>();
  for (const { app, tool, cell } of cellsOf(day)) {
    const key = JSON.stringify([app, tool]);
    tools.set(key, { app, tool, cell: mergedCells(tools.get(key)?.cell ?? {}, cell) });
  }
  return tools;
}

/** Nobody said no, changed or added anything, let it pass, or has to find out what it did. */
function isClean({ denied = 0, amended = 0, filled = 0, expired = 0, unknown = 0 }: Cell): boolean {
  return denied + amended + filled + expired + unknown === 0;
}

function toCandidate({ app, tool, since, cell }: Streak): RuleCandidate {
  const { approved = 0, askedBy = [] } = cell;
  const rules = askedBy.filter((rule) => rule !== "");
  return { app, tool, approved, since, rules, yaml: yamlFor({ app, tool }) };
}

/** Texts in quotes are the same in YAML and in JSON. */
function yamlFor({ app, tool }: Pick<RuleCandidate, "app" | "tool">): string {
  return [
    `- id: ${JSON.stringify(`allow-${tool}`)}`,
    `  match: { tool: ${JSON.stringify(tool)}, app: ${JSON.stringify(app)} }`,
    "  then: allow",
    "",
  ].join("\n");
}
