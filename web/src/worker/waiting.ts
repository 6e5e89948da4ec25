import { worker } from "./worker.ts";

const CACHE = "countersign-waiting";

/** One change after another: each reads what the one before has written. */
let last: Promise<unknown> = Promise.resolve();

/** Adds something that waits for this person, or removes it, and shows how many there are on the app's icon. */
export function changeWaiting(id: string, waits: boolean): Promise<void> {
  return inTurn(async () => {
    const known = new Set(await readWaiting());
    if (waits) known.add(id);
    else known.delete(id);
    await write([...known]);
  });
}

/** What waits, as the open page knows it. */
export function setWaiting(ids: readonly string[]): Promise<void> {
  return inTurn(() => write(ids));
}

function inTurn(work: () => Promise<void>): Promise<void> {
  const done = last.then(work);
  last = done.catch(() => undefined);
  return done;
}

// A worker is stopped between two messages, so its memory is no place for this.
async function readWaiting(): Promise<readonly string[]> {
  const kept = await (await caches.open(CACHE)).match(place());
  return kept === undefined ? [] : ((await kept.json()) as readonly string[]);
}

async function write(ids: readonly string[]): Promise<void> {
  await (await caches.open(CACHE)).put(place(), Response.json(ids));
  const { navigator } = worker;
  // Not every browser has badges.
  if (!("setAppBadge" in navigator)) return;
  await (ids.length === 0 ? navigator.clearAppBadge() : navigator.setAppBadge(ids.length));
}

function place(): string {
  return new URL("./waiting", worker.registration.scope).href;
}
