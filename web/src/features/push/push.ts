import { send } from "../../api/client.ts";
import { Store } from "../../ui/store.ts";
import { hasWorkers, registerWorker } from "./worker-registration.ts";

/** Is this device told while the page is closed? Then the page itself does not tell of the same. */
export const pushing: Store<boolean> = new Store(false);

/** Has the device told by push from now on, or renews that. False: this browser, or its push service, cannot. */
export async function startPush(): Promise<boolean> {
  if (!hasWorkers() || !("PushManager" in window)) return false;
  try {
    const registration = await registerWorker();
    const { publicKey } = (await (await send("channels/push/key")).json()) as { readonly publicKey: string };
    const subscription = await subscribe(registration, publicKey);
    const answer = await send("channels/push/subscriptions", { method: "PUT", json: subscription.toJSON() });
    pushing.set(answer.ok);
    return answer.ok;
  } catch {
    return false;
  }
}

/** The browser's subscription. One for another key, as of a ledger that was lost, hears nothing and is replaced. */
async function subscribe(
  { pushManager }: ServiceWorkerRegistration,
  publicKey: string,
): Promise<PushSubscription> {
  const known = await pushManager.getSubscription();
  const key = known?.options.applicationServerKey ?? undefined;
  if (known !== null && key !== undefined && toBase64Url(key) === publicKey) return known;
  await known?.unsubscribe();
  return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey });
}

export async function stopPush(): Promise<void> {
  pushing.set(false);
  if (!hasWorkers()) return;
  const registration = await navigator.serviceWorker.getRegistration();
  const subscription = await registration?.pushManager.getSubscription();
  if (subscription === null || subscription === undefined) return;
  // Whether or not the server hears of it: what the browser no longer has, its service refuses.
  const { endpoint } = subscription;
  await Promise.allSettled([
    send("channels/push/subscriptions", { method: "DELETE", json: { endpoint } }),
    subscription.unsubscribe(),
  ]);
}

function toBase64Url(bytes: ArrayBuffer): string {
  const text = String.fromCharCode(...new Uint8Array(bytes));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
