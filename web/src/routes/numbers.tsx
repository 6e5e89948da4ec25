import "../features/numbers/numbers.css";
import type { Statistics } from "countersign/client";
import { type ReactNode, useState } from "react";
import { AgeChart } from "../features/numbers/age-chart.tsx";
import { Candidates } from "../features/numbers/candidates.tsx";
import { DayChart } from "../features/numbers/day-chart.tsx";
import { RowsTable } from "../features/numbers/rows-table.tsx";
import { Tiles } from "../features/numbers/tiles.tsx";
import { useNumbers } from "../features/numbers/use-numbers.ts";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { AsOf } from "../ui/time.tsx";

const PERIODS = [7, 30, 90] as const;
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeZone: "UTC" });

/** How many, how fast, what waits, and what could be a rule. */
export function NumbersPage(): ReactNode {
  const [days, setDays] = useState<number>(30);
  const { found, problem, asOf } = useNumbers(days);
  return (
    <main className="page">
      <div className="page-head">
        <h1>Numbers</h1>
        <div className="row periods" role="group" aria-label="Period">
          {PERIODS.map((period) => (
            <Button key={period} small pressed={period === days} onClick={() => setDays(period)}>
              {period} days
            </Button>
          ))}
        </div>
      </div>
      {problem !== undefined ? (
        <Empty title="The numbers cannot be loaded">{problem.detail}</Empty>
      ) : found === undefined ? (
        <Empty title="Loading…" />
      ) : (
        <Found found={found} asOf={asOf} />
      )}
    </main>
  );
}

function Found({
  found,
  asOf,
}: {
  readonly found: Statistics;
  readonly asOf: string | undefined;
}): ReactNode {
  const { from, to, of, behind, total, waiting } = found;
  const isEmpty = waiting.count === 0 && total.approved + total.denied + (total.asked ?? 0) === 0;
  return (
    <div className="numbers">
      <p className="muted numbers-about">
        <span>
          {DATE.format(new Date(from))} to {DATE.format(new Date(to))}, days in UTC.
        </span>
        <span>
          {of === "everybody"
            ? "Everybody’s decisions."
            : "Your own decisions, and what you may see of what waits. A login with the scope metrics shows everybody's."}
        </span>
        {behind ? <span role="status">Still counting…</span> : null}
        <AsOf at={asOf} />
      </p>
      {isEmpty ? (
        <Empty title="No numbers yet">
          When people decide, this page shows how many they approve and deny, how long that takes, and what
          waits.
        </Empty>
      ) : (
        <>
          <Tiles found={found} />
          <div className="panels">
            <DayChart days={found.days} />
            <AgeChart waiting={waiting} />
          </div>
          <RowsTable
            title="Time to decision, by tool"
            rows={found.tools.map(({ tool, app, ...numbers }) => ({ name: tool, beneath: app, ...numbers }))}
          />
          <RowsTable
            title="Time to decision, by approver"
            rows={found.approvers.map(({ approver, ...numbers }) => ({ name: approver, ...numbers }))}
          />
          {of === "everybody" ? <Candidates candidates={found.ruleCandidates} /> : null}
        </>
      )}
    </div>
  );
}
