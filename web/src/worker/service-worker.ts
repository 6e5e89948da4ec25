import { keepOffline, offlineAnswer } from "./offline.ts";
import { type PushMessage, readMessage, type Waiting, withoutOne } from "./push-message.ts";
import { changeWaiting, setWaiting } from "./waiting.ts";
import { type NotificationEvent, worker } from "./worker.ts";

// Nothing of the API is stored here: without a connection there is a page that says so, and no more.
worker.addEventListener("install", (event) => {
  event.waitUntil(keepOffline().then(() => worker.skipWaiting()));
});

worker.addEventListener("fetch", (event) => {
  const answer = offlineAnswer(event.request);
  if (answer !== undefined) event.respondWith(answer);
});

worker.addEventListener("push", (event) => {
  event.waitUntil(takePush(readMessage(event.data?.text() ?? "")));
});

worker.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(openCard(event));
});

// The page knows what waits whenever it is open.
worker.addEventListener("message", (event) => {
  const { waiting } = event.data as { readonly waiting?: unknown };
  if (Array.isArray(waiting)) event.waitUntil(setWaiting(waiting.map(String)));
});

const WORDS = {
  requested: { title: "A call waits for your decision", body: "Open it to read and decide." },
  unknown: { title: "The outcome of a call is unknown", body: "Find out what happened, and settle it." },
  test: { title: "This is a test", body: "Nothing waits for you, and there is nothing to decide." },
  over: { title: "Answered", body: "There is nothing more to do." },
} as const;

function wordsOf({ is, waiting }: PushMessage): { readonly title: string; readonly body: string } {
  return is === "digest" ? digestWords(waiting?.count ?? 1) : WORDS[is];
}

function digestWords(count: number): { readonly title: string; readonly body: string } {
  const title = count === 1 ? WORDS.requested.title : `${count} calls wait for your decision`;
  return { title, body: "Open the inbox to read and decide." };
}

/** Shows it, or takes away what is over. Browsers want every message shown, so that is shown too, for a moment. */
async function takePush(message: PushMessage | undefined): Promise<void> {
  const { registration } = worker;
  const { is, about: tag, notice, place, waiting } = message ?? NO_MESSAGE;
  const before = await registration.getNotifications({ tag });
  const isKnown = before.some(({ data }) => (data as { readonly notice?: unknown }).notice === notice);
  const { title, body } = wordsOf(message ?? NO_MESSAGE);
  const isQuiet = is === "over" || isKnown;
  const data = { notice, place, ...(waiting === undefined ? {} : { waiting }) };
  const options = { ...look(body, tag), silent: isQuiet, renotify: !isQuiet, data };
  await registration.showNotification(title, options);
  if (is === "over") await takeAway(tag);
  if (message !== undefined) await countWaiting(message);
}

/** Shows on the app's icon how many wait. */
async function countWaiting({ is, about, waiting }: PushMessage): Promise<void> {
  if (is === "test") return;
  for (const id of waiting?.ids ?? [about]) await changeWaiting(id, is === "requested" || is === "digest");
}

async function takeAway(tag: string): Promise<void> {
  for (const shown of await worker.registration.getNotifications({ tag })) shown.close();
  await takeFromDigests(tag);
}

/** A digest that is shown counts only what still waits, and goes with the last of it. */
async function takeFromDigests(confirmation: string): Promise<void> {
  const { registration } = worker;
  for (const shown of await registration.getNotifications()) {
    const data = shown.data as {
      readonly notice: string;
      readonly place: string;
      readonly waiting?: Waiting;
    };
    const waiting = withoutOne(data, confirmation);
    if (waiting === undefined) continue;
    if (waiting.count === 0) {
      shown.close();
      continue;
    }
    const { title, body } = digestWords(waiting.count);
    const options = { ...look(body, shown.tag), silent: true, renotify: false, data: { ...data, waiting } };
    await registration.showNotification(title, options);
  }
}

function look(
  body: string,
  tag: string,
): { readonly body: string; readonly tag: string; readonly icon: string } {
  return { body, tag, icon: new URL("./assets/icon-192.png", worker.registration.scope).href };
}

/** What cannot be read is shown as what it most likely is. */
const NO_MESSAGE: PushMessage = { is: "requested", about: "unreadable", notice: "", place: "#/" };

/** Opens the card, in a window that is there if there is one: what is typed in it stays. */
async function openCard({ notification }: NotificationEvent): Promise<void> {
  const { place } = notification.data as { readonly place: string };
  const windows = await worker.clients.matchAll({ type: "window", includeUncontrolled: true });
  const [open] = windows.filter(({ url }) => url.startsWith(worker.registration.scope));
  if (open === undefined) {
    await worker.clients.openWindow(new URL(`./${place}`, worker.registration.scope).href);
    return;
  }
  open.postMessage({ place }, []);
  await open.focus();
}
