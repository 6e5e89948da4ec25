import { type ReactNode, useEffect, useRef } from "react";
import { Button } from "../../../ui/button.tsx";
import { useNow } from "../../../ui/clock.ts";
import { type Held, sendNow, toldInPlace, undo } from "./held.ts";

/** The same on its card. Several that were decided together have one notice below. */
export function HeldInPlace({ held }: { readonly held: Held }): ReactNode {
  const { key, decisions } = held;
  const isAlone = decisions.length === 1;
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // The pressed button is gone, so the keyboard focus moves here.
    if (document.activeElement === document.body) place.current?.focus();
  }, []);
  useEffect(() => {
    if (!isAlone) return undefined;
    toldInPlace.set(new Set(toldInPlace.value).add(key));
    return () => toldInPlace.set(new Set([...toldInPlace.value].filter((other) => other !== key)));
  }, [key, isAlone]);
  return (
    <div ref={place} tabIndex={-1}>
      {isAlone ? (
        <HeldNotice held={held} />
      ) : (
        <p className="held">Decided together with {decisions.length - 1} more.</p>
      )}
    </div>
  );
}

/** A decision that is about to be sent, with an undo button. */
export function HeldNotice({ held }: { readonly held: Held }): ReactNode {
  useNow();
  const { decisions, state, sendsAt, key } = held;
  const verb = decisions.every(({ confirmed }) => confirmed) ? "Approving" : "Rejecting";
  const what = decisions.length === 1 ? "" : ` ${decisions.length}`;
  if (state === "sending") return <p className="held">{verb + what}…</p>;
  if (state === "unsent") {
    return (
      <div className="held">
        <span>Not sent: the server cannot be reached.</span>
        <span className="row">
          <Button small look="ink" onClick={() => sendNow(key)}>
            Try again
          </Button>
          <Button small onClick={() => undo(key)}>
            Give up
          </Button>
        </span>
      </div>
    );
  }
  const seconds = Math.max(1, Math.ceil((sendsAt - Date.now()) / 1000));
  return (
    <div className="held" role="status">
      <span>
        {verb + what} in {seconds} s
      </span>
      <span className="row">
        <Button small look="ink" onClick={() => undo(key)}>
          Undo
        </Button>
        <Button small look="quiet" onClick={() => sendNow(key)}>
          Send now
        </Button>
      </span>
    </div>
  );
}
