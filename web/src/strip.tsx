import type { ReactNode } from "react";
import { type Held, held, sendNow, undo } from "./features/confirmation/decide/held.ts";
import type { Route } from "./router.ts";
import { Button } from "./ui/button.tsx";
import { useNow } from "./ui/clock.ts";
import { dismiss, type Message, messages } from "./ui/messages.ts";
import { useStore } from "./ui/store.ts";
import { Words } from "./ui/words.tsx";

/**
 * The last line of the page, always there, so that nothing moves and nothing is covered when it speaks: what is about to
 * be sent and can be undone, and what happened elsewhere.
 */
export function Strip({ page }: { readonly page: Route["page"] }): ReactNode {
  const all = useStore(held);
  const unsent = all.filter(({ state }) => state === "unsent");
  const going = all.filter(({ state }) => state !== "unsent");
  const told = useStore(messages);
  return (
    <section className="strip" aria-label="In progress">
      {unsent.length === 0 ? null : <Unsent acts={unsent} />}
      {going.length === 0 ? null : <Going acts={going} />}
      <Told told={told} />
      {all.length + told.length === 0 ? <KeyHints page={page} /> : null}
    </section>
  );
}

function Told({ told }: { readonly told: readonly Message[] }): ReactNode {
  return (
    <div className="strip-told" role="status" aria-live="polite">
      {told.map(({ id, text, isDone }) => (
        <div className={isDone ? "strip-line strip-done" : "strip-line"} key={id}>
          <Words text={text} />
          <Button look="quiet" small onClick={() => dismiss(id)}>
            Dismiss
          </Button>
        </div>
      ))}
    </div>
  );
}

/** The newest act, which `u` undoes, and how many are under way before it. */
function Going({ acts }: { readonly acts: readonly Held[] }): ReactNode {
  useNow();
  const newest = acts.findLast(({ state }) => state === "held") ?? acts.at(-1);
  if (newest === undefined) return null;
  const { verb, what, state, sendsAt, key } = newest;
  const seconds = Math.max(1, Math.ceil((sendsAt - Date.now()) / 1000));
  return (
    <div className="strip-line held">
      <span role="status">
        {verb} <Words text={what} maxLength={160} />
        {state === "held" ? ` in ${seconds} s` : "…"}
        {acts.length > 1 ? <span className="muted"> and {acts.length - 1} before it</span> : null}
      </span>
      {state === "held" ? (
        <span className="row">
          <Button small look="ink" onClick={() => undo(key)}>
            Undo <kbd aria-hidden="true">u</kbd>
          </Button>
          <Button small look="quiet" onClick={() => sendNow(key)}>
            Send now
          </Button>
        </span>
      ) : null}
    </div>
  );
}

function Unsent({ acts }: { readonly acts: readonly Held[] }): ReactNode {
  return (
    <div className="strip-line held">
      <span role="status">
        Not sent: the server cannot be reached.{" "}
        <span className="muted">
          <Words text={acts.map(({ what }) => what).join(", ")} maxLength={160} />
        </span>
      </span>
      <span className="row">
        <Button small look="ink" onClick={() => acts.forEach(({ key }) => sendNow(key))}>
          Try again
        </Button>
        <Button small onClick={() => acts.forEach(({ key }) => undo(key))}>
          Discard
        </Button>
      </span>
    </div>
  );
}

const EVERYWHERE = [
  ["Ctrl K", "pages and commands"],
  ["?", "all keys"],
] as const;
const IN_THE_INBOX = [
  ["j", "next"],
  ["a", "approve"],
  ["r", "reject"],
  ["h", "not now"],
  ["u", "undo"],
] as const;

function KeyHints({ page }: { readonly page: Route["page"] }): ReactNode {
  const keys = page === "inbox" ? [...IN_THE_INBOX, ...EVERYWHERE] : EVERYWHERE;
  return (
    <p className="strip-line strip-keys muted small" aria-hidden="true">
      {keys.map(([key, what]) => (
        <span key={key}>
          <kbd>{key}</kbd> {what}
        </span>
      ))}
    </p>
  );
}
