import type { Statistics } from "countersign/client";
import type { ReactNode } from "react";
import { span } from "../../ui/times.ts";
import { approvalShare, share } from "./shares.ts";

/** The period in a few figures. */
export function Tiles({ found: { waiting, total } }: { readonly found: Statistics }): ReactNode {
  const { asked, approved, amended, denied, expired, cancelled, unknown, decisionSeconds } = total;
  return (
    <dl className="tiles">
      <Tile
        name="Waiting now"
        value={`${waiting.count.toLocaleString()}${waiting.capped ? "+" : ""}`}
        note={
          waiting.oldestSeconds === undefined ? undefined : (
            <>
              the oldest for <Time seconds={waiting.oldestSeconds} />
            </>
          )
        }
      />
      {asked === undefined ? null : <Tile name="Asked" value={asked.toLocaleString()} />}
      <Tile
        name="Approved"
        value={approvalShare(total)}
        note={`${decided(approved)}${amended === 0 ? "" : `, ${amended.toLocaleString()} with changes`}`}
      />
      <Tile name="Denied" value={share(denied, approved + denied)} note={decided(denied)} />
      {expired === undefined ? null : (
        <Tile
          name="Expired"
          value={expired.toLocaleString()}
          note={`${share(expired, asked ?? 0)} of asked`}
        />
      )}
      {cancelled === undefined ? null : <Tile name="Cancelled" value={cancelled.toLocaleString()} />}
      {unknown === undefined ? null : <Tile name="Unknown" value={unknown.toLocaleString()} />}
      <Tile
        name="Time to decision"
        value={decisionSeconds === undefined ? "–" : unbroken(span(decisionSeconds.median * 1000))}
        note={
          decisionSeconds === undefined ? undefined : (
            <>
              median; 95 % within <Time seconds={decisionSeconds.p95} />
            </>
          )
        }
      />
    </dl>
  );
}

function decided(count: number): string {
  return `${count.toLocaleString()} ${count === 1 ? "decision" : "decisions"}`;
}

/** A number and its unit stay together: `1 min 28 s` has one place to break. */
function unbroken(text: string): string {
  return text.replace(/(\d) /g, "$1\u00A0");
}

/** Kept on one line. */
function Time({ seconds }: { readonly seconds: number }): ReactNode {
  return <span className="tile-time">{span(seconds * 1000)}</span>;
}

function Tile({
  name,
  value,
  note,
}: {
  readonly name: string;
  readonly value: string;
  readonly note?: ReactNode;
}): ReactNode {
  return (
    <div className="tile">
      <dt>{name}</dt>
      <dd className="tile-value">{value}</dd>
      {note === undefined ? null : <dd className="small muted">{note}</dd>}
    </div>
  );
}
