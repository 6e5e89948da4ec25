import type { CDPSession, Page, Worker } from "playwright-core";
import { expect, test } from "vitest";
import { createInbound, startDeliveries } from "../../src/channels/index.ts";
import { createPushChannel } from "../../src/channels/push/index.ts";
import { useBrowser } from "../support/browser/browser.ts";
import { type InboxPage, openInbox } from "../support/browser/inbox-page.ts";
import { type InboxServer, startInboxServer } from "../support/browser/inbox-server.ts";
import { status, WebhookReceiver } from "../support/http/webhook-receiver.ts";
import { createDevice, type Device } from "../support/push/device.ts";
import { useResources } from "../support/resources.ts";

const newPage = useBrowser("whole");
const resources = useResources();
const LUNCH = { name: "reimburse", args: { amount: 20, purpose: "lunch" } };

interface Scene {
  readonly server: InboxServer;
  readonly inbox: InboxPage;
  readonly receiver: WebhookReceiver;
  readonly device: Device;
  readonly subscriptions: () => Promise<number>;
}

/** An inbox whose browser subscribes with a push service of ours: Chromium's own is not on this machine. */
async function startScene(): Promise<Scene> {
  const receiver = await new WebhookReceiver().listen();
  resources.add(() => receiver.close());
  receiver.answer = status(201);
  const device = createDevice(`${receiver.url}/device`);
  const server = await startInboxServer(resources, {
    mounts: (engine) => {
      const { ledger } = engine;
      const channel = createPushChannel({
        ledger,
        contact: "mailto:ops@example.com",
        services: [receiver.url],
      });
      const deliveries = startDeliveries({ ledger, channels: [channel] });
      resources.add(() => deliveries.stop());
      return [createInbound(engine, [channel])];
    },
  });
  const inbox = await openInbox(resources, {
    newPage,
    url: server.url,
    permissions: ["notifications"],
    mayComplain: /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_NETWORK|Failed to load resource/,
    prepare: (page) => page.addInitScript(subscribing(device)),
  });
  const subscriptions = async (): Promise<number> =>
    (await server.engine.ledger.items.list("push-subscription")).items.length;
  return { server, inbox, receiver, device, subscriptions };
}

/** What a browser does that reaches its push service. */
function subscribing({ subscription }: Device): string {
  return `
    const made = {
      ...${JSON.stringify(subscription)},
      options: {},
      toJSON: () => (${JSON.stringify(subscription)}),
      unsubscribe: async () => localStorage.removeItem("test.subscribed"),
    };
    Object.assign(PushManager.prototype, {
      getSubscription: async () => (localStorage.getItem("test.subscribed") === null ? null : made),
      subscribe: async ({ applicationServerKey }) => {
        localStorage.setItem("test.subscribed", applicationServerKey);
        return made;
      },
    });
  `;
}

/** Delivers messages as the push service would, by Chromium's own protocol. */
async function openPushService(page: Page): Promise<(data: string) => Promise<void>> {
  const cdp: CDPSession = await page.context().newCDPSession(page);
  const { promise, resolve } = Promise.withResolvers<string>();
  cdp.on("ServiceWorker.workerRegistrationUpdated", ({ registrations }) => {
    const [first] = registrations;
    if (first !== undefined) resolve(first.registrationId);
  });
  await cdp.send("ServiceWorker.enable");
  const registrationId = await promise;
  const { origin } = new URL(page.url());
  return async (data) => {
    await cdp.send("ServiceWorker.deliverPushMessage", { origin, registrationId, data });
  };
}

function shown(page: Page): Promise<unknown> {
  return page.evaluate(`(async () => {
    const registration = await navigator.serviceWorker.getRegistration();
    const notifications = (await registration?.getNotifications()) ?? [];
    return notifications.map(({ title, tag }) => title + " [" + tag + "]");
  })()`);
}

async function workerOf(page: Page): Promise<Worker> {
  await expect.poll(() => page.context().serviceWorkers().length).toBe(1);
  const [worker] = page.context().serviceWorkers();
  if (worker === undefined) throw new Error("There is no worker.");
  await worker.evaluate(`
    globalThis.counts = [];
    Object.assign(navigator, {
      setAppBadge: async (count) => void counts.push(count),
      clearAppBadge: async () => void counts.push(0),
    });
  `);
  return worker;
}

test("a device that was turned on is told by push; the notification opens the card and goes when it is decided", async () => {
  const { server, inbox, receiver, device, subscriptions } = await startScene();
  const { page, button, card } = inbox;
  await page.getByText("Nothing waits for you").waitFor();
  expect(await page.evaluate("navigator.serviceWorker.getRegistrations().then(({ length }) => length)")).toBe(
    0,
  );
  await button("Notify on the desktop").click();
  await expect.poll(subscriptions).toBe(1);
  const deliver = await openPushService(page);
  const worker = await workerOf(page);
  await page.goto("about:blank");

  const [id = ""] = await server.ask("ana", LUNCH);
  const [asked] = await receiver.count(1);
  const text = device.read(asked?.bytes ?? new Uint8Array());
  expect(JSON.parse(text)).toMatchObject({ confirmation: id, is: "requested" });
  await page.goto(server.url);
  await deliver(text);
  await deliver(text);
  await expect.poll(() => shown(page)).toEqual([`A call waits for your decision [${id}]`]);
  await expect.poll(() => worker.evaluate("globalThis.counts.at(-1)")).toBe(1);

  await worker.evaluate(`(async () => {
    const [notification] = await registration.getNotifications();
    dispatchEvent(new NotificationEvent("notificationclick", { notification }));
  })()`);
  await card.getByText("lunch").first().waitFor();
  expect(page.url()).toContain(`#/confirmations/${id}`);

  await deliver(text);
  await expect.poll(() => shown(page)).toHaveLength(1);
  await server.runner.deny(id, { by: { id: "local" }, reason: "No." });
  const [, decided] = await receiver.count(2);
  const over = device.read(decided?.bytes ?? new Uint8Array());
  expect(JSON.parse(over)).toMatchObject({ confirmation: id, is: "over" });
  await deliver(over);
  await expect.poll(() => shown(page)).toEqual([]);
  await expect.poll(() => worker.evaluate("globalThis.counts.at(-1)")).toBe(0);

  await button("Notifying on the desktop").click();
  await expect.poll(subscriptions).toBe(0);
});

test("what cannot be read is still shown, and asks for nothing that it does not know", async () => {
  const { inbox, subscriptions } = await startScene();
  const { page, button } = inbox;
  await button("Notify on the desktop").click();
  await expect.poll(subscriptions).toBe(1);
  const deliver = await openPushService(page);
  await workerOf(page);
  await deliver(`{"notice":"x","confirmation":"<b>","is":"approve"}`);
  await expect.poll(() => shown(page)).toEqual(["A call waits for your decision [unreadable]"]);
});

test("the page can be installed, and without a connection says so", async () => {
  const { server, inbox, subscriptions } = await startScene();
  const { page, button } = inbox;
  const cdp = await page.context().newCDPSession(page);
  const { errors, url, data = "" } = await cdp.send("Page.getAppManifest");
  expect({ errors, url }).toEqual({ errors: [], url: `${server.url}/manifest.webmanifest` });
  const { installabilityErrors } = await cdp.send("Page.getInstallabilityErrors");
  // The profile of a test is a private window; there is no other obstacle.
  expect(installabilityErrors.map(({ errorId }) => errorId)).toEqual(["in-incognito"]);
  const { icons } = JSON.parse(data) as { readonly icons: readonly { readonly src: string }[] };
  for (const { src } of icons) {
    const answer = await fetch(new URL(src, `${server.url}/`));
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "image/png"]);
  }
  await button("Notify on the desktop").click();
  await expect.poll(subscriptions).toBe(1);
  await page.evaluate("navigator.serviceWorker.ready.then(() => undefined)");
  await server.stop();
  await page.goto(`${server.url}/?again`);
  await page.getByRole("heading", { name: "Countersign is not reachable" }).waitFor();
  expect(await page.evaluate("getComputedStyle(document.body).display")).toBe("grid");
  await expect.poll(() => page.evaluate("document.images[0]?.naturalWidth > 0")).toBe(true);
  await server.start();
  await page.getByRole("link", { name: "Try again" }).click();
  await page.getByText("Nothing waits for you").waitFor();
});
