import { type ReactNode, useState } from "react";
import { useKeyFor } from "../../api/new-key.ts";
import type { FailedDelivery } from "../../api/types.ts";
import { to } from "../../router.ts";
import { Button } from "../../ui/button.tsx";
import { tell, tellDone } from "../../ui/messages.ts";
import { Ago } from "../../ui/time.tsx";
import { Words } from "../../ui/words.tsx";
import { sendAgain } from "./failed-delivery.ts";

const KINDS: { readonly [kind: string]: string } = {
  "confirmation-requested": "A request",
  "confirmation-approved": "An approval",
  "confirmation-denied": "A rejection",
  "confirmation-expired": "An expiry",
  "confirmation-cancelled": "A withdrawal",
  "call-unknown": "An unknown outcome",
};

/** One failed delivery: what it was about, to whom, why it failed, and a retry button. */
export function FailedDeliveryItem({ delivery }: { readonly delivery: FailedDelivery }): ReactNode {
  const { channel, sequence, kind, attempts, since, failedAt, reason } = delivery;
  const [isSending, setSending] = useState(false);
  const key = useKeyFor(`${channel} ${sequence} ${failedAt}`);
  const send = async (): Promise<void> => {
    setSending(true);
    const sent = await sendAgain(delivery, key);
    setSending(false);
    if (sent.ok) tellDone("Sending it again. If that fails, it appears here again.");
    else tell(sent.problem.detail);
  };
  return (
    <li className="unknown">
      <h2>
        {KINDS[kind] ?? "An outcome"} <Subject delivery={delivery} />
      </h2>
      <p className="muted">
        To <Words text={channel} maxLength={60} />, <Tried attempts={attempts} since={since} />, given up{" "}
        <Ago at={failedAt} />.
      </p>
      {reason === "" ? null : (
        <p className="failed-delivery-reason">
          <Words text={reason} block maxLength={2000} />
        </p>
      )}
      <div className="row">
        <Button small off={isSending ? "Sending…" : undefined} onClick={send}>
          Send again
        </Button>
      </div>
    </li>
  );
}

function Subject({ delivery: { tool, confirmation } }: { readonly delivery: FailedDelivery }): ReactNode {
  if (confirmation === undefined && tool === undefined) return "of a session that was erased";
  const name = <Words text={tool ?? "one confirmation"} maxLength={120} />;
  return (
    <>about {confirmation === undefined ? name : <a href={to("confirmations", confirmation)}>{name}</a>}</>
  );
}

function Tried({ attempts, since }: Pick<FailedDelivery, "attempts" | "since">): ReactNode {
  if (attempts === 1) return "tried once";
  return (
    <>
      tried {attempts} times since <Ago at={since} />
    </>
  );
}
