import type { StatisticsNumbers } from "countersign/client";
import type { ReactNode } from "react";
import { span } from "../../ui/times.ts";
import { Words } from "../../ui/words.tsx";
import { approvalShare, placeOf } from "./shares.ts";

export interface NumbersRow extends StatisticsNumbers {
  readonly name: string;
  /** The app of a tool. */
  readonly beneath?: string;
}

/** One line for each tool or approver: how many, how often yes, and how long it took. */
export function RowsTable({
  title,
  rows,
}: {
  readonly title: string;
  readonly rows: readonly NumbersRow[];
}): ReactNode {
  const hasAsked = rows.some(({ expired }) => expired !== undefined);
  return (
    <section className="panel">
      <h2>{title}</h2>
      {rows.length === 0 ? <p className="muted">Nothing was decided in this time.</p> : null}
      {rows.length === 0 ? null : (
        <table className="numbers-table">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Approved</th>
              <th scope="col">Denied</th>
              <th scope="col">Approval rate</th>
              {hasAsked ? <th scope="col">Expired</th> : null}
              {hasAsked ? <th scope="col">Unknown</th> : null}
              <th scope="col">Median</th>
              <th scope="col">95 % within</th>
              <th scope="col" className="times-head">
                <span>1 s</span>
                <span>1 min</span>
                <span>1 h</span>
                <span>1 day</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <Row key={`${row.beneath} ${row.name}`} row={row} hasAsked={hasAsked} />
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function Row({ row, hasAsked }: { readonly row: NumbersRow; readonly hasAsked: boolean }): ReactNode {
  const { name, beneath, approved, denied, expired, unknown, decisionSeconds } = row;
  return (
    <tr>
      <th scope="row">
        {name === "" ? "Others" : <Words text={name} maxLength={80} />}
        {beneath === undefined || beneath === "" ? null : (
          <span className="small muted numbers-beneath">
            <Words text={beneath} maxLength={80} />
          </span>
        )}
      </th>
      <td data-name="Approved">{approved.toLocaleString()}</td>
      <td data-name="Denied">{denied.toLocaleString()}</td>
      <td data-name="Approval rate">{approvalShare(row)}</td>
      {hasAsked ? <td data-name="Expired">{(expired ?? 0).toLocaleString()}</td> : null}
      {hasAsked ? <td data-name="Unknown">{(unknown ?? 0).toLocaleString()}</td> : null}
      <td data-name="Median">{decisionSeconds === undefined ? "–" : span(decisionSeconds.median * 1000)}</td>
      <td data-name="95 % within">
        {decisionSeconds === undefined ? "–" : span(decisionSeconds.p95 * 1000)}
      </td>
      <td className="times">{decisionSeconds === undefined ? null : <Times {...decisionSeconds} />}</td>
    </tr>
  );
}

/** From the median to the p95, on a scale from a second to a week. */
function Times({ median, p95 }: { readonly median: number; readonly p95: number }): ReactNode {
  const [from, upTo] = [placeOf(median), placeOf(p95)];
  return (
    <svg viewBox="-4 0 108 12" preserveAspectRatio="none" aria-hidden="true">
      <line className="times-ground" x1={0} x2={100} y1={6} y2={6} />
      <line className="times-range" x1={from} x2={upTo} y1={6} y2={6} />
      <line className="times-median" x1={from} x2={from} y1={1} y2={11} vectorEffect="non-scaling-stroke" />
    </svg>
  );
}
