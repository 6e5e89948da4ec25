import "../features/chat/chat.css";
import "../features/confirmation/card/card.css";
import { type ReactNode, useMemo, useState } from "react";
import { ask, client } from "../api/client.ts";
import type { Confirmation, Status } from "../api/types.ts";
import { Composer } from "../features/chat/composer.tsx";
import { Conversation } from "../features/chat/conversation.tsx";
import { SessionList } from "../features/chat/session-list.tsx";
import { isAtWork, toTalk } from "../features/chat/talk.ts";
import { type SessionName, useSession } from "../features/chat/use-session.ts";
import { board } from "../features/inbox/board.ts";
import { go, to, toChat } from "../router.ts";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { tell } from "../ui/messages.ts";
import { useStore } from "../ui/store.ts";
import { Words } from "../ui/words.tsx";

export interface ChatPageProps {
  readonly app: string | undefined;
  readonly session: string | undefined;
  readonly user: string | undefined;
}

function NobodyToTalkTo(): ReactNode {
  return (
    <main className="page">
      <h1 className="sr-only">Chat</h1>
      <Empty title="No agents here">This server has only the inbox. The agents run elsewhere.</Empty>
    </main>
  );
}

/** Pick an app, talk to it, and decide its questions where they come up. */
export function ChatPage(props: ChatPageProps): ReactNode {
  const { me } = useStore(board);
  const app = props.app ?? me?.apps[0];
  const user = props.user ?? (me?.principal.authenticated === true ? me.principal.id : "user");
  const [pulse, setPulse] = useState(0);
  if (me === undefined) return <main className="page" aria-busy="true" />;
  if (app === undefined) return <NobodyToTalkTo />;
  const addressOf = (id: string): string => toChat({ app, id, user: props.user });
  const begin = (): void => {
    ask(client.sessions.create({ app, user })).then(
      (made) => {
        if (made.ok) window.location.hash = addressOf(made.value.id);
        else tell(made.problem.detail);
      },
      () => undefined,
    );
  };
  return (
    <main className={props.session === undefined ? "chat" : "chat chat-opened"}>
      <h1 className="sr-only">Chat</h1>
      <a className="back" href={to("chat", app)}>
        ‹ Sessions
      </a>
      <section className="chat-side" aria-label="Sessions">
        <select
          className="input"
          aria-label="App"
          value={app}
          onChange={(event) => go("chat", event.target.value)}
        >
          {[...new Set([app, ...me.apps])].map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        <Button onClick={begin}>New chat</Button>
        <SessionList app={app} user={user} open={props.session} pulse={pulse} addressOf={addressOf} />
      </section>
      {props.session === undefined ? (
        <Empty title="Start a chat">
          Ask the agent to do something. What needs your approval is asked here, and in the inbox.
          <span className="empty-action">
            <Button look="ink" onClick={begin}>
              New chat with {app}
            </Button>
          </span>
        </Empty>
      ) : (
        <Talk
          key={`${app} ${user} ${props.session}`}
          app={app}
          user={user}
          id={props.session}
          onSaid={() => setPulse((count) => count + 1)}
        />
      )}
    </main>
  );
}

function Talk({ app, user, id, onSaid }: SessionName & { readonly onSaid: () => void }): ReactNode {
  const state = useStore(board);
  const name = useMemo(() => ({ app, user, id }), [app, user, id]);
  const confirmations = useMemo(() => questionsOf(state.confirmations.values(), name), [state, name]);
  const asked = [...confirmations.values()];
  const session = useSession(name, {
    pulse: asked.map((one) => `${one.id} ${one.status}`).join(),
    isAwaited: asked.some(({ status }) => AWAITED.has(status)),
  });
  const items = useMemo(() => toTalk(session.events), [session.events]);
  const say = async (text: string): Promise<boolean> => {
    // The server has the message with the first event: the list shows it then, and in its place once all is said.
    const isTaken = await session.send(text, onSaid);
    onSaid();
    return isTaken;
  };
  const isPaused = asked.some(({ status }) => status === "requested" || status === "unknown");
  const isWorking = session.isSending || isAtWork(session.events, isPaused);
  return (
    <section className="chat-main" aria-label="Chat">
      <div className="chat-scroll">
        {items.length === 0 && session.isLoaded && session.problem === undefined ? (
          <Empty title={`Send a message to ${app}`}>
            <Prompts prompts={state.me?.examplePrompts[app] ?? []} onPick={say} />
          </Empty>
        ) : null}
        <Conversation
          items={items}
          confirmations={confirmations}
          partial={session.partial}
          isWorking={isWorking}
        />
        {session.problem === undefined ? null : (
          <p className="notice notice-no" role="alert">
            <Words text={session.problem.detail} maxLength={600} />
          </p>
        )}
      </div>
      <Composer
        session={`${app} ${id}`}
        off={session.isSending ? "Wait for the answer." : undefined}
        onSend={say}
      />
    </section>
  );
}

/** What the agent's author proposes to ask. */
function Prompts(props: {
  readonly prompts: readonly string[];
  readonly onPick: (prompt: string) => Promise<unknown>;
}): ReactNode {
  if (props.prompts.length === 0) return null;
  return (
    <span className="prompts">
      {props.prompts.slice(0, MOST_PROMPTS).map((prompt) => (
        <Button key={prompt} onClick={() => props.onPick(prompt)}>
          <Words text={prompt} maxLength={120} />
        </Button>
      ))}
    </span>
  );
}

const MOST_PROMPTS = 6;
const AWAITED: ReadonlySet<Status> = new Set<Status>(["requested", "approved", "executing", "unknown"]);

/** The last question about each call of a session. */
function questionsOf(
  all: Iterable<Confirmation>,
  { app, user, id }: SessionName,
): ReadonlyMap<string, Confirmation> {
  const found = new Map<string, Confirmation>();
  for (const one of all) {
    if (one.session !== id || one.app !== app || one.user !== user) continue;
    const known = found.get(one.callId);
    if (known === undefined || known.round < one.round) found.set(one.callId, one);
  }
  return found;
}
