import type { AuditRecord } from "countersign/client";
import { type ReactNode, useEffect, useState } from "react";
import { ask, client } from "../../../api/client.ts";
import type { Confirmation } from "../../../api/types.ts";
import { At } from "../../../ui/time.tsx";
import { Words } from "../../../ui/words.tsx";
import { JournalCheck } from "./journal-check.tsx";
import { eventOf } from "./timeline-events.ts";

const MOST = 100;

/** What happened to the request and its call, as the journal tells it, oldest first. */
export function Timeline({
  confirmation: { id, status },
}: {
  readonly confirmation: Confirmation;
}): ReactNode {
  const [records, setRecords] = useState<readonly AuditRecord[]>([]);
  useEffect(() => {
    let isCurrent = true;
    ask(client.audit({ confirmation: id, limit: MOST })).then(
      (page) => isCurrent && page.ok && setRecords(page.value.items),
      () => undefined,
    );
    return () => {
      isCurrent = false;
    };
  }, [id, status]);
  if (records.length === 0) return null;
  return (
    <section className="card-section">
      <div className="timeline-head">
        <h2>What happened</h2>
        <JournalCheck key={`${id} ${records.length}`} id={id} />
      </div>
      <ol className="timeline">
        {records.map((record) => (
          <TimelineItem key={`${record.seq} ${record.kind}`} record={record} />
        ))}
      </ol>
    </section>
  );
}

function TimelineItem({ record }: { readonly record: AuditRecord }): ReactNode {
  const { text, tone } = eventOf(record);
  return (
    <li className={`timeline-${tone}`}>
      <span>
        <Words text={text} maxLength={300} />
      </span>
      <span className="small muted">
        <At at={record.at} />
        <span title={`Hash of its commit in the journal: ${record.hash}`}>
          {" "}
          · journal {record.n} · <code>{record.hash.slice(0, 8)}</code>
        </span>
      </span>
    </li>
  );
}
