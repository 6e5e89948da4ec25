import { type ReactNode, useState } from "react";
import { ask, client } from "../../api/client.ts";
import type { Delegation } from "../../api/types.ts";
import { Button } from "../../ui/button.tsx";
import { tell, tellDone } from "../../ui/messages.ts";
import { At } from "../../ui/time.tsx";
import { Words } from "../../ui/words.tsx";
import { scopeSentence } from "./delegation-words.ts";

/** One delegation: who votes for whom, on what, until when, and a button that ends it. */
export function DelegationItem({
  delegation,
  onEnded,
}: {
  readonly delegation: Delegation;
  readonly onEnded: () => void;
}): ReactNode {
  const { id, from, to, until } = delegation;
  const [isSending, setSending] = useState(false);
  const end = async (): Promise<void> => {
    setSending(true);
    const ended = await ask(client.delegations.revoke(id));
    setSending(false);
    if (ended.ok) tellDone("Ended. Votes given through it no longer count.");
    else tell(ended.problem.detail);
    onEnded();
  };
  return (
    <li className="unknown">
      <h2>
        <Words text={to} maxLength={120} /> votes for <Words text={from} maxLength={120} />
      </h2>
      <p>
        On <Words text={scopeSentence(delegation)} maxLength={600} />, until <At at={until} />.
      </p>
      <div className="row">
        <Button small look="reject" off={isSending ? "Sending…" : undefined} onClick={end}>
          End
        </Button>
      </div>
    </li>
  );
}
