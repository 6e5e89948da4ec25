import { type Channel, createInbound, type Inbound, startDeliveries } from "../../../src/channels/index.ts";
import {
  createWebhookChannel,
  newWebhookSecret,
  parseWebhookSecret,
  signWebhook,
  type WebhookPerson,
} from "../../../src/channels/webhook/index.ts";
import { type App, createApp } from "../../../src/http/index.ts";
import {
  type Approvers,
  createEngine,
  type Engine,
  type JsonObject,
  type Policy,
} from "../../../src/index.ts";
import type { Resources } from "../resources.ts";
import { WebhookReceiver } from "./webhook-receiver.ts";

export const PEOPLE: readonly WebhookPerson[] = [
  { id: "bob", webhook: "bob.n8n", roles: ["manager"] },
  { id: "meg", webhook: "meg.n8n", roles: ["manager"] },
  { id: "eve", webhook: "eve.n8n" },
];

/** How a request is signed. */
export interface Signing {
  readonly id?: string;
  /** In milliseconds. */
  readonly at?: number;
  readonly secret?: string;
}

/** A question as the receiver got it. */
export interface Told {
  readonly id: string;
  readonly answerTo?: string;
}

/** What is asked, and of whom: managers, unless something else is given. */
export interface WebhookAsking {
  readonly args?: JsonObject;
  readonly hint?: string;
  readonly approvers?: Approvers;
  readonly schema?: JsonObject;
}

/** A ledger, a server and a webhook whose receiver may answer. */
export interface WebhookScene {
  readonly engine: Engine;
  readonly app: App;
  readonly receiver: WebhookReceiver;
  readonly ran: JsonObject[];
  /** What signs our own messages. */
  readonly ownSecret: string;
  /** The entries of a server that knows other people. */
  entriesFor(people: readonly WebhookPerson[]): Inbound;
  /** The entries of another server, on this ledger or on another one. */
  doorOn(ledger?: string): Promise<Inbound>;
  /** Asks, and gives the question as the receiver was told. */
  ask(asking?: WebhookAsking): Promise<Told>;
  request(body: unknown, signing?: Signing): Request;
  send(body: unknown, signing?: Signing): Promise<{ readonly status: number; readonly json: JsonObject }>;
  status(id: string): Promise<string>;
}

/** An answer of a receiver. */
export function answerOf({ id, answerTo }: Told, over: object = {}): object {
  const data = { confirmation: id, answerTo, person: "bob.n8n", confirmed: true, ...over };
  return { type: "confirmation.answered", timestamp: new Date().toISOString(), data };
}

export interface WebhookSceneOptions {
  readonly people?: readonly WebhookPerson[];
  readonly policy?: Policy;
  /** In memory unless given. */
  readonly ledger?: string;
}

export async function startWebhookScene(
  resources: Resources,
  { people = PEOPLE, policy, ledger: url = "memory:" }: WebhookSceneOptions = {},
): Promise<WebhookScene> {
  const receiver = await new WebhookReceiver().listen();
  resources.add(() => receiver.close());
  const open = async (at: string): Promise<Engine> => {
    const opened = await createEngine({ ledger: at, ...(policy === undefined ? {} : { policy }) });
    resources.add(() => opened.close());
    return opened;
  };
  const engine = await open(url);
  const [ownSecret, secret] = [newWebhookSecret(), newWebhookSecret()];
  const { ledger } = engine;
  const channelFor = (configured: readonly WebhookPerson[], on = ledger): Channel =>
    createWebhookChannel({
      url: receiver.url,
      secrets: [ownSecret],
      answers: { secrets: [secret], people: configured, ledger: on },
    });
  const channel = channelFor(people);
  const app = createApp({
    apps: {},
    engine,
    authenticate: () => undefined,
    limits: { requestsPerMinute: Number.POSITIVE_INFINITY },
    mounts: [createInbound(engine, [channel])],
  });
  resources.add(() => app.drain());
  const deliveries = startDeliveries({ ledger, channels: [channel] });
  resources.add(() => deliveries.stop());
  const ran: JsonObject[] = [];
  let count = 0;
  const request = (body: unknown, signing: Signing = {}): Request => {
    count += 1;
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const { id = `evt_${count}`, at = Date.now(), secret: key = secret } = signing;
    const timestamp = Math.floor(at / 1_000);
    return new Request("http://127.0.0.1/channels/webhook/answers", {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "webhook-id": id,
        "webhook-timestamp": String(timestamp),
        "webhook-signature": signWebhook({ id, timestamp, body: text }, [parseWebhookSecret(key)]),
      },
      body: text,
    });
  };
  return {
    engine,
    app,
    receiver,
    ran,
    ownSecret,
    request,
    entriesFor: (configured) => createInbound(engine, [channelFor(configured)]),
    async doorOn(at = url) {
      const other = await open(at);
      return createInbound(other, [channelFor(people, other.ledger)]);
    },
    async ask({ approvers = { roles: ["manager"] }, schema, hint = "", args: given = { amount: 5 } } = {}) {
      count += 1;
      const options = {
        requireConfirmation: true,
        amendable: true as const,
        confirmationHint: () => hint,
        ...(policy === undefined ? { approvers } : {}),
        ...(schema === undefined ? {} : { confirmationPayload: schema }),
      };
      const pay = engine.gate(`pay${count}`, options, async (args: JsonObject, { toolConfirmation }) => {
        ran.push({ ...args, payload: toolConfirmation?.payload ?? null });
        return 1;
      });
      const asked = await pay(given, { key: `k${count}`, by: { id: "ana" } });
      if (asked.status !== "pending") throw new Error(`It is ${asked.status}.`);
      const { id } = asked.confirmation;
      await receiver.until((received) => received.some(({ body }) => body.includes(id)));
      const message = receiver.received.find(({ body }) => body.includes(id))?.body ?? "";
      return (JSON.parse(message) as { readonly data: Told }).data;
    },
    async send(body, signing) {
      const answer = await app.fetch(request(body, signing));
      return { status: answer.status, json: (await answer.json()) as JsonObject };
    },
    status: async (id) => (await engine.confirmation(id)).status,
  };
}
