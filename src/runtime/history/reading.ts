import type { Content, JsonObject, StoredEvent } from "../../protocol/index.ts";
import { type CallIds, CallIdsInWork } from "./call-ids.ts";
import { Conversation, type HistoryView } from "./history.ts";

/** Shorter histories are read anew at each step: to keep what was read would take more than that. */
const LONG = 16;

/** Readings of long histories, by their first events: they go when the events go. */
const readings = new WeakMap<StoredEvent, Reading>();

/** What these events of a session tell. At a later step only what was said since is read. */
export function readHistory(events: readonly StoredEvent[]): Reading {
  const [first] = events;
  if (first === undefined || events.length < LONG) return new Reading().readOn(events);
  const known = readings.get(first);
  if (known?.isOf(events) === true) return known.readOn(events);
  const reading = new Reading().readOn(events);
  readings.set(first, reading);
  return reading;
}

/** How far a conversation has read. */
interface Place {
  readonly conversation: Conversation;
  at: number;
}

export class Reading {
  readonly #ids = new CallIdsInWork();
  readonly #conversations = new Map<string, Place>();
  #events: readonly StoredEvent[] = [];

  get ids(): CallIds {
    return this.#ids;
  }

  /** Do these events begin with those that were read? The cache that they come from only appends to them. */
  isOf(events: readonly StoredEvent[]): boolean {
    const { length } = this.#events;
    return events.length >= length && events[length - 1] === this.#events[length - 1];
  }

  readOn(events: readonly StoredEvent[]): this {
    for (let at = this.#events.length; at < events.length; at += 1) this.#ids.add(events[at] as StoredEvent);
    this.#events = events;
    return this;
  }

  /** What the model of an agent gets; with placeholders for open calls. */
  contentsFor(view: HistoryView, openAnswer: (callId: string) => JsonObject): Content[] {
    const name = `${view.agent}\n${view.branch ?? ""}`;
    let place = this.#conversations.get(name) ?? { conversation: new Conversation(view), at: 0 };
    if (!this.#catchUp(place)) {
      place = { conversation: new Conversation(view), at: 0 };
      this.#catchUp(place);
    }
    this.#conversations.set(name, place);
    return place.conversation.contents(openAnswer);
  }

  #catchUp(place: Place): boolean {
    for (; place.at < this.#events.length; place.at += 1)
      if (!place.conversation.add(this.#events[place.at] as StoredEvent)) return false;
    return true;
  }
}
