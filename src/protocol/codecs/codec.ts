import type { Event, StoredEvent } from "../event.ts";
import { encodeAdkEvent } from "./adk/request.ts";
import { encodeAdkRsEvent } from "./adk-rs/request.ts";

/** The wire formats of events: Google's ADKs (Python, TypeScript, Go, Java), or adk-rs. */
export type Wire = "adk" | "adk-rs";

const ENCODERS: { readonly [wire in Wire]: (stored: StoredEvent) => Event } = {
  adk: encodeAdkEvent,
  "adk-rs": encodeAdkRsEvent,
};

/** Whether this is the name of a wire; for options and request bodies. */
export function isWire(value: unknown): value is Wire {
  return typeof value === "string" && Object.hasOwn(ENCODERS, value);
}

/** The stored event in the form that this wire's clients read. */
export function encodeEvent(stored: StoredEvent, wire: Wire): Event {
  return ENCODERS[wire](stored);
}
