import { useCallback, useEffect, useRef, useState } from "react";
import { ask, client, type Problem, toProblem } from "../../api/client.ts";
import { newKey } from "../../api/new-key.ts";
import { pages } from "../../api/pages.ts";
import type { Event } from "../../api/types.ts";
import { board } from "../inbox/board.ts";
import { isAtWork } from "./talk.ts";

export interface SessionName {
  readonly app: string;
  readonly user: string;
  readonly id: string;
}

/** What the live stream has sent about a session. */
export interface Told {
  /** Another one whenever a confirmation has changed. */
  readonly pulse: string;
  /** More changes will come: a question is open, or an approved call has not ended. */
  readonly isAwaited: boolean;
}

export interface ChatSession {
  readonly events: readonly Event[];
  /** The text being streamed. */
  readonly partial: string;
  readonly isSending: boolean;
  readonly isLoaded: boolean;
  readonly problem?: Problem;
  /** Gives whether the message has arrived, which it tells as soon as that is known; never rejects. */
  readonly send: (text: string, onTaken: () => void) => Promise<boolean>;
}

const FIRST_LOOK_MS = 300;
const LONGEST_LOOK_MS = 5_000;

/** A session as the server has it, and what is said in it while we listen. */
export function useSession(name: SessionName, told: Told): ChatSession {
  const [events, setEvents] = useState<readonly Event[]>([]);
  const [partial, setPartial] = useState("");
  const [isSending, setSending] = useState(false);
  const [isLoaded, setLoaded] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const isGone = useGone();
  const isKnown = useRef(false);

  const reload = useCallback(async (): Promise<readonly Event[] | undefined> => {
    const found = await ask(client.sessions.get(name));
    if (isGone.current) return undefined;
    setLoaded(true);
    if (!found.ok) {
      setProblem(found.problem);
      return undefined;
    }
    setEvents(found.value.events);
    // Changes of confirmations come by the stream; without confirmations the session must be polled.
    if (!isKnown.current || board.value.connection !== "live") await loadConfirmations(name);
    isKnown.current = true;
    return found.value.events;
  }, [name, isGone]);
  useWatch(reload, told, isSending);
  useFollow(name, isLoaded && !isSending && (told.isAwaited || isAtWork(events, false)), {
    setPartial,
    setEvents,
  });

  const send = async (text: string, onTaken: () => void): Promise<boolean> => {
    if (isSending) return false;
    setSending(true);
    setProblem(undefined);
    let isTaken = false;
    try {
      const message = client.runSse(
        { ...name, session: name.id, message: text, streaming: true },
        { idempotencyKey: newKey() },
      );
      setEvents((known) => [...known, spoken(text)]);
      for await (const event of message) {
        if (!isTaken) onTaken();
        isTaken = true;
        if (isGone.current) return true;
        if (event.partial === true) setPartial((before) => before + textIn(event));
        else {
          setPartial("");
          setEvents((known) => [...known, event]);
        }
      }
      return true;
    } catch (error) {
      setProblem(toProblem(error));
      return isTaken;
    } finally {
      setPartial("");
      setSending(false);
    }
  };
  return { events, partial, isSending, isLoaded, send, ...(problem === undefined ? {} : { problem }) };
}

/** Says whether the page has left the session. */
function useGone(): { readonly current: boolean } {
  const isGone = useRef(false);
  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
    };
  }, []);
  return isGone;
}

interface Shown {
  readonly setPartial: (change: string | ((before: string) => string)) => void;
  readonly setEvents: (change: (known: readonly Event[]) => readonly Event[]) => void;
}

function useFollow(name: SessionName, isOn: boolean, { setPartial, setEvents }: Shown): void {
  useEffect(() => {
    if (!isOn) return undefined;
    const gone = new AbortController();
    follow(name, gone.signal, { setPartial, setEvents }).catch(() => undefined);
    return () => {
      gone.abort();
      setPartial("");
    };
  }, [name, isOn, setPartial, setEvents]);
}

/** Shows what agents write after a decision, as they write it. Whatever is missed here is read with the session. */
async function follow(
  name: SessionName,
  signal: AbortSignal,
  { setPartial, setEvents }: Shown,
): Promise<void> {
  for await (const event of client.sessions.follow(name, { signal })) {
    if (signal.aborted) return;
    if (event.partial === true) setPartial((before) => before + textIn(event));
    else {
      setPartial("");
      setEvents((known) => (known.some(({ id }) => id === event.id) ? known : [...known, event]));
    }
  }
}

/**
 * Reads the session once for each change in the stream. A model's text without a question is on no stream, so the
 * session is polled at growing intervals while the model works.
 */
function useWatch(
  reload: () => Promise<readonly Event[] | undefined>,
  { pulse, isAwaited }: Told,
  isSending: boolean,
): void {
  useEffect(() => {
    if (isSending) return undefined;
    let isCurrent = true;
    let timer: number | undefined;
    const look = (pauseMs: number): void => {
      reload().then(
        (events) => {
          if (!isCurrent || events === undefined || !isAtWork(events, isAwaited)) return;
          timer = window.setTimeout(() => look(Math.min(pauseMs * 1.5, LONGEST_LOOK_MS)), pauseMs);
        },
        () => undefined,
      );
    };
    look(FIRST_LOOK_MS);
    return () => {
      isCurrent = false;
      window.clearTimeout(timer);
    };
  }, [reload, pulse, isAwaited, isSending]);
}

async function loadConfirmations({ app, user, id }: SessionName): Promise<void> {
  const mark = board.mark();
  for await (const page of pages({ app, user, session: id, status: "all", limit: 200 })) {
    if (!page.ok) return;
    for (const confirmation of page.value.items) board.put(confirmation, mark);
  }
}

function spoken(text: string): Event {
  const id = newKey();
  return {
    id,
    invocationId: id,
    author: "user",
    timestamp: 0,
    actions: {},
    content: { role: "user", parts: [{ text }] },
  };
}

function textIn(event: Event): string {
  return (event.content?.parts ?? [])
    .map((part) => (part.thought === true ? "" : (part.text ?? "")))
    .join("");
}
