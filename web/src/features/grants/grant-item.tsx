import { type ReactNode, useState } from "react";
import { ask, client } from "../../api/client.ts";
import type { Grant } from "../../api/types.ts";
import { to } from "../../router.ts";
import { Button } from "../../ui/button.tsx";
import { tell, tellDone } from "../../ui/messages.ts";
import { At } from "../../ui/time.tsx";
import { Words } from "../../ui/words.tsx";
import { shortLimits } from "./grant-words.ts";

/** One grant: what it lets run, what of it is used, who gave it, and a button that ends it. */
export function GrantItem({
  grant,
  onRevoked,
}: {
  readonly grant: Grant;
  readonly onRevoked: () => void;
}): ReactNode {
  const { id, tool, agent, app, session, user, by, limits, uses, spent, endsAt, confirmation } = grant;
  const { refunds } = grant;
  const [isSending, setSending] = useState(false);
  const revoke = async (): Promise<void> => {
    setSending(true);
    const revoked = await ask(client.grants.revoke(id));
    setSending(false);
    if (revoked.ok) tellDone("Revoked. People are asked again.");
    else tell(revoked.problem.detail);
    onRevoked();
  };
  return (
    <li className="unknown">
      <h2>
        <a href={to("confirmations", confirmation)}>
          <Words text={tool} maxLength={120} />
        </a>{" "}
        <span className="muted">
          <Words text={shortLimits(limits)} maxLength={300} />
        </span>
      </h2>
      <p className="muted">
        Agent <Words text={agent} maxLength={80} />,{" "}
        {limits.scope === "user" ? "all sessions, given in" : "session"}{" "}
        <Words text={`${app} / ${session}`} maxLength={120} />, for <Words text={user} maxLength={80} />.
        Given by <Words text={by.join(", ")} maxLength={200} />.
      </p>
      <p>
        {uses} of {limits.count} calls used
        {Object.entries(limits.sum ?? {}).map(([name, most]) => (
          <span key={name}>
            {" "}
            · <Words text={name} maxLength={60} /> {Object.hasOwn(spent, name) ? spent[name] : "0"} of {most}
          </span>
        ))}
        {refunds === undefined ? null : ` · ${refunds} given back, because they did not happen`}
        {" · ends "}
        <At at={endsAt} />
      </p>
      <div className="row">
        <Button small look="reject" off={isSending ? "Sending…" : undefined} onClick={revoke}>
          Revoke
        </Button>
      </div>
    </li>
  );
}
