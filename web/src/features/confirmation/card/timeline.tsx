import type { AuditRecord, ToldPerson } from "countersign/client";
import { type ReactNode, useEffect, useState } from "react";
import { ask, client } from "../../../api/client.ts";
import type { Confirmation } from "../../../api/types.ts";
import { At } from "../../../ui/time.tsx";
import { Words } from "../../../ui/words.tsx";
import { JournalCheck } from "./journal-check.tsx";
import { eventOf, type TimelineEvent } from "./timeline-events.ts";
import { toldEvent } from "./told-events.ts";

const MOST = 100;

/** What happened to the request and its call, as the journal tells it, and who was told, oldest first. */
export function Timeline({ confirmation }: { readonly confirmation: Confirmation }): ReactNode {
  const { id, status, votes, seen = [] } = confirmation;
  const [records, setRecords] = useState<readonly AuditRecord[]>([]);
  const [told, setTold] = useState<readonly ToldPerson[]>([]);
  useEffect(() => {
    let isCurrent = true;
    ask(client.audit({ confirmation: id, limit: MOST })).then(
      (page) => isCurrent && page.ok && setRecords(page.value.items),
      () => undefined,
    );
    ask(client.confirmations.deliveries(id)).then(
      (answer) => isCurrent && answer.ok && setTold(answer.value.items),
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [id, status, votes.length, seen.length]);
  if (records.length === 0) return null;
  return (
    <section className="card-section">
      <div className="timeline-head">
        <h2>What happened</h2>
        <JournalCheck key={`${id} ${records.length}`} id={id} />
      </div>
      <ol className="timeline">
        {inOrder(records, told).map(({ key, ...line }) => (
          <TimelineItem key={key} {...line} />
        ))}
      </ol>
    </section>
  );
}

interface Line {
  readonly event: TimelineEvent;
  readonly at: string;
  /** Of the journal; a message has none. */
  readonly record?: AuditRecord;
}

function inOrder(
  records: readonly AuditRecord[],
  told: readonly ToldPerson[],
): readonly (Line & { readonly key: string })[] {
  const lines = [
    ...records.map((record) => ({
      key: `${record.seq} ${record.kind}`,
      event: eventOf(record),
      at: record.at,
      record,
    })),
    ...told.map((one, place) => ({ key: `told ${place}`, event: toldEvent(one), at: one.at })),
  ];
  return lines.toSorted((one, other) => Date.parse(one.at) - Date.parse(other.at));
}

function TimelineItem({ event: { text, tone }, at, record }: Line): ReactNode {
  return (
    <li className={`timeline-${tone}`}>
      <span>
        <Words text={text} maxLength={300} />
      </span>
      <span className="small muted">
        <At at={at} />
        {record !== undefined && (
          <span title={`Hash of its commit in the journal: ${record.hash}`}>
            {" "}
            · journal {record.n} · <code>{record.hash.slice(0, 8)}</code>
          </span>
        )}
      </span>
    </li>
  );
}
