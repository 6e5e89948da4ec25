import { useCallback, useEffect, useRef, useState } from "react";
import { ask, client, type Problem, toProblem } from "../../api/client.ts";
import { newKey } from "../../api/new-key.ts";
import { pages } from "../../api/pages.ts";
import type { Event } from "../../api/types.ts";
import { board } from "../inbox/board.ts";
import { isUnfinished } from "./talk.ts";

export interface SessionName {
  readonly app: string;
  readonly user: string;
  readonly id: string;
}

export interface ChatSession {
  readonly events: readonly Event[];
  /** What is being said right now, before it is whole. */
  readonly partial: string;
  readonly isSending: boolean;
  readonly isLoaded: boolean;
  readonly problem?: Problem;
  readonly send: (text: string) => void;
}

const LOOK_MS = 800;
const LOOKS = 150;

/** A session as the server has it, and what is said in it while we listen. `pulse` changes when a decision was made. */
export function useSession(name: SessionName | undefined, pulse: string): ChatSession {
  const [events, setEvents] = useState<readonly Event[]>([]);
  const [partial, setPartial] = useState("");
  const [isSending, setSending] = useState(false);
  const [isLoaded, setLoaded] = useState(false);
  const [problem, setProblem] = useState<Problem>();
  const current = useRef(name?.id);
  current.current = name?.id;

  const reload = useCallback(async (): Promise<readonly Event[] | undefined> => {
    if (name === undefined) return undefined;
    const found = await ask(client.sessions.get(name));
    if (current.current !== name.id) return undefined;
    setLoaded(true);
    if (!found.ok) {
      setProblem(found.problem);
      return undefined;
    }
    setEvents(found.value.events);
    await loadConfirmations(name);
    return found.value.events;
  }, [name]);

  useEffect(() => {
    setEvents([]);
    setLoaded(name === undefined);
    setProblem(undefined);
  }, [name]);
  useWatch(reload, pulse, isSending);

  const send = (text: string): void => {
    if (name === undefined || isSending) return;
    setSending(true);
    setProblem(undefined);
    const say = async (): Promise<void> => {
      const message = client.runSse(
        { ...name, session: name.id, message: text, streaming: true },
        { idempotencyKey: newKey() },
      );
      setEvents((known) => [...known, spoken(text)]);
      for await (const event of message) {
        if (current.current !== name.id) return;
        if (event.partial === true) setPartial((before) => before + textIn(event));
        else {
          setPartial("");
          setEvents((known) => [...known, event]);
        }
      }
    };
    say()
      .catch((error: unknown) => setProblem(toProblem(error)))
      .then(reload)
      .catch(() => undefined)
      .finally(() => {
        setPartial("");
        setSending(false);
      });
  };
  return { events, partial, isSending, isLoaded, send, ...(problem === undefined ? {} : { problem }) };
}

/** Reads the session when something was decided, and again while a model or a tool is still at work. */
function useWatch(
  reload: () => Promise<readonly Event[] | undefined>,
  pulse: string,
  isSending: boolean,
): void {
  useEffect(() => {
    if (isSending) return undefined;
    let looks = 0;
    let timer: number | undefined;
    const look = (): void => {
      reload().then(
        (events) => {
          looks += 1;
          const goesOn = events !== undefined && isUnfinished(events) && !pulse.includes("requested");
          if (goesOn && looks < LOOKS) timer = window.setTimeout(look, LOOK_MS);
        },
        () => undefined,
      );
    };
    look();
    return () => window.clearTimeout(timer);
  }, [reload, pulse, isSending]);
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
