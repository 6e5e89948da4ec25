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
          waiting.oldestSeconds === undefined ? "" : `the oldest for ${span(waiting.oldestSeconds * 1000)}`
        }
      />
      {asked === undefined ? null : <Tile name="Asked" value={asked.toLocaleString()} />}
      <Tile
        name="Approved"
        value={approvalShare(total)}
        note={`${approved.toLocaleString()}${amended === 0 ? "" : `, ${amended.toLocaleString()} with changes`}`}
      />
      <Tile name="Denied" value={share(denied, approved + denied)} note={denied.toLocaleString()} />
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
        value={decisionSeconds === undefined ? "–" : span(decisionSeconds.median * 1000)}
        note={decisionSeconds === undefined ? "" : `median; 95 % within ${span(decisionSeconds.p95 * 1000)}`}
      />
    </dl>
  );
}

function Tile({
  name,
  value,
  note = "",
}: {
  readonly name: string;
  readonly value: string;
  readonly note?: string;
}): ReactNode {
  return (
    <div className="tile">
      <dt>{name}</dt>
      <dd className="tile-value">{value}</dd>
      {note === "" ? null : <dd className="small muted">{note}</dd>}
    </div>
  );
}
