import type { ReactNode } from "react";
import type { Confirmation, Me } from "../../api/types.ts";
import { to } from "../../router.ts";
import { Ago } from "../../ui/time.tsx";
import { Words } from "../../ui/words.tsx";
import { whoMay } from "./who-may.ts";

export interface CardFactsProps {
  readonly confirmation: Confirmation;
  readonly me: Me | undefined;
}

/** Who asked, by which way, and why a person is asked at all. */
export function CardFacts({ confirmation, me }: CardFactsProps): ReactNode {
  const { path, tool, source, why, requestedAt, app, session, user } = confirmation;
  return (
    <section className="card-section" aria-label="Where it comes from">
      <dl className="facts">
        <Fact name="Requested by">
          <Words text={user} maxLength={120} />
          <span className="muted"> · {authentication(confirmation, me)}</span>
        </Fact>
        <Fact name="Asked">
          <Ago at={requestedAt} />
        </Fact>
        <Fact name="Agent">
          <AgentPath path={path} tool={tool} />
        </Fact>
        {source === undefined ? null : (
          <Fact name="Tool’s server">
            <Words text={source} maxLength={200} />
          </Fact>
        )}
        <Fact name="Why you are asked">
          <Words text={why.join("; ")} maxLength={600} />
        </Fact>
        <Fact name="Who may decide">
          <Words text={whoMay(confirmation)} maxLength={400} />
        </Fact>
        <Fact name="Session">
          <a href={`${to("chat", app, session)}?${new URLSearchParams({ user })}`}>
            <Words text={`${app} / ${session}`} maxLength={120} />
          </a>
        </Fact>
      </dl>
    </section>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <div className="facts-row">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** From the outermost agent to the inner tool. */
export function AgentPath({
  path,
  tool,
}: {
  readonly path: readonly string[];
  readonly tool: string;
}): ReactNode {
  return (
    <span className="path">
      {path.map((agent, index) => (
        <span key={`${index} ${agent}`}>
          <Words text={agent} maxLength={80} /> <span aria-hidden="true">›</span>{" "}
        </span>
      ))}
      <strong>
        <Words text={tool} maxLength={120} />
      </strong>
    </span>
  );
}

function authentication({ requesters, user }: Confirmation, me: Me | undefined): string {
  if (me?.auth === "none") return "not authenticated: this server asks nobody who they are";
  const others = requesters.filter((id) => id !== user);
  return others.length === 0
    ? "authenticated as the session’s user"
    : `sent by ${others.join(", ")} on their behalf`;
}
