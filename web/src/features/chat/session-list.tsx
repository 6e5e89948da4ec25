import { type ReactNode, useEffect, useState } from "react";
import { ask, client } from "../../api/client.ts";
import type { Session } from "../../api/types.ts";
import { Ago } from "../../ui/time.tsx";
import { Words } from "../../ui/words.tsx";

export interface SessionListProps {
  readonly app: string;
  readonly user: string;
  readonly open: string | undefined;
  /** Read again when this changes. */
  readonly pulse: number;
  readonly addressOf: (id: string) => string;
}

/** Longer than those that the server makes. */
const LONGEST_TITLE = 120;

/** One's sessions with an app, the latest first. */
export function SessionList({ app, user, open, pulse, addressOf }: SessionListProps): ReactNode {
  const [sessions, setSessions] = useState<readonly Session[]>([]);
  useEffect(() => {
    ask(client.sessions.list({ app, user })).then(
      (found) => found.ok && setSessions(found.value.toSorted((a, b) => b.lastUpdateTime - a.lastUpdateTime)),
      () => undefined,
    );
  }, [app, user, open, pulse]);
  return (
    <ul className="sessions">
      {sessions.map(({ id, title = "Nothing said yet", lastUpdateTime }) => (
        <li key={id}>
          <a href={addressOf(id)} aria-current={id === open ? "page" : undefined}>
            <Words text={title} maxLength={LONGEST_TITLE} />
            <span className="small muted">
              <Ago at={new Date(lastUpdateTime * 1000).toISOString()} />
            </span>
          </a>
        </li>
      ))}
    </ul>
  );
}
