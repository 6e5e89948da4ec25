import type { ReactNode } from "react";
import type { Confirmation, ConfirmationContext } from "../../../api/types.ts";
import { to, toChat } from "../../../router.ts";
import { useStore } from "../../../ui/store.ts";
import { Ago } from "../../../ui/time.tsx";
import { Words } from "../../../ui/words.tsx";
import { shortLimits } from "../../grants/grant-words.ts";
import { board } from "../../inbox/board.ts";
import { whoMay } from "../decide/who-may.ts";

export interface CardFactsProps {
  readonly confirmation: Confirmation;
  /** Who sent the message that led to it; undefined as long as that is not known, or where nobody sent one. */
  readonly asker: ConfirmationContext["asker"];
}

/** Who asked, by which way, and who may decide. */
export function CardFacts({ confirmation, asker }: CardFactsProps): ReactNode {
  const { path, tool, source, requestedAt, app, session, user } = confirmation;
  const { me } = useStore(board);
  // Where nobody logs in, nobody can be told from the requester.
  const isAnyones =
    me?.principal.authenticated === false &&
    confirmation.requirements.some(({ from }) => from === "requester");
  const granted = confirmation.votes.find(({ grant }) => grant !== undefined)?.grant;
  return (
    <section className="card-section" aria-label="Where it comes from">
      <dl className="facts">
        <Fact name="Requested by">
          <Words text={user} maxLength={120} />
          <span className="muted">{sentBy(confirmation, asker)}</span>
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
        <Fact name="Who may decide">
          <Words text={whoMay(confirmation)} maxLength={400} />
          {isAnyones ? ", or anyone at this machine" : null}
        </Fact>
        {granted === undefined ? null : (
          <Fact name="Granted with it">
            <a href={to("grants")}>
              <Words text={shortLimits(granted)} maxLength={300} />
            </a>
          </Fact>
        )}
        <Fact name="Session">
          <a href={toChat({ app, id: session, user })}>
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

const PROOFS: { readonly [kind: string]: string } = {
  token: "with a token",
  oidc: "with their organisation’s login",
  local: "with a login link",
};

/** The actual sender, if different from the user, and how they were authenticated. */
function sentBy({ requesters, user }: Confirmation, asker: CardFactsProps["asker"]): ReactNode {
  const others = requesters.filter((id) => id !== user);
  return (
    <>
      {others.length === 0 ? null : (
        <>
          {" "}
          · sent by <Words text={others.join(", ")} maxLength={200} /> on their behalf
        </>
      )}
      {asker === undefined ? null : ` · ${proofOf(asker)}`}
    </>
  );
}

function proofOf({ authenticated, kind }: NonNullable<CardFactsProps["asker"]>): string {
  if (!authenticated) return "not authenticated";
  return `authenticated ${PROOFS[kind] ?? `(${kind})`}`;
}
