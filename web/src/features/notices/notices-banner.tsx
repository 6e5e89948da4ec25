import "./notices.css";
import { type ReactNode, useState } from "react";
import type { Notice } from "../../api/types.ts";
import { to } from "../../router.ts";
import { Button } from "../../ui/button.tsx";
import { tell } from "../../ui/messages.ts";
import { At } from "../../ui/time.tsx";
import { Words } from "../../ui/words.tsx";
import { acknowledge, useNotices } from "./notices.ts";

const TITLES: Readonly<Record<Notice["kind"], string>> = {
  "new-history": "The database server was replaced",
  "lost-commits": "The database lost stored records",
  "lost-claim": "The database lost the record that a call started",
};

/** At the top of every page, while nobody has acknowledged it: the ledger went back. */
export function NoticesBanner(): ReactNode {
  const { items, mayAcknowledge } = useNotices();
  const [newest] = items;
  if (newest === undefined) return null;
  return (
    <section className="ledger-notice" role="alert" aria-label="Notice">
      <div className="ledger-notice-words">
        <strong>
          {[...new Set(items.map(({ kind }) => TITLES[kind]))].join(". ")} (<At at={newest.at} />
          ).
        </strong>
        <p>
          Decisions or results may be missing, and you may be asked again. Before you approve, check that it
          was not already done. <a href={to("unknown")}>Calls whose outcome is unknown</a>
        </p>
      </div>
      {mayAcknowledge ? <HideButton items={items} /> : null}
      {mayAcknowledge ? <Details items={items} /> : null}
    </section>
  );
}

function Details({ items }: { readonly items: readonly Notice[] }): ReactNode {
  return (
    <details className="ledger-notice-more">
      <summary>Details (in a terminal: countersign notices list)</summary>
      <ul className="ledger-notice-details">
        {items.map(({ id, at, kind, count, message, host = "", pid, details = [] }) => (
          <li key={id}>
            <At at={at} />, {kind}
            {count === 1 ? "" : ` (${count} times)`}: <Words text={message} maxLength={300} /> (process {pid}{" "}
            of <Words text={host} maxLength={80} />)
            {details.map((one) => (
              <div key={JSON.stringify(one)}>
                <Words text={JSON.stringify(one)} maxLength={1000} />
              </div>
            ))}
          </li>
        ))}
      </ul>
    </details>
  );
}

function HideButton({ items }: { readonly items: readonly Notice[] }): ReactNode {
  const [isSending, setSending] = useState(false);
  const hide = async (): Promise<void> => {
    setSending(true);
    for (const notice of items) {
      const done = await acknowledge(notice);
      if (!done.ok && done.problem.status !== 404) tell(done.problem.detail);
    }
    setSending(false);
  };
  return (
    <Button small off={isSending ? "Hiding…" : undefined} onClick={hide}>
      I have checked this: hide it for everyone
    </Button>
  );
}
