import { join } from "node:path";
import { createEmailChannel, type EmailPerson } from "../../../src/channels/email/index.ts";
import { createInbound, type Inbound, startDeliveries } from "../../../src/channels/index.ts";
import type { ManualClock } from "../../../src/engine/index.ts";
import { type App, createApp } from "../../../src/http/index.ts";
import { serve } from "../../../src/http/node/index.ts";
import {
  createEngine,
  type Engine,
  type JsonObject,
  type Policy,
  type PolicyVerdict,
} from "../../../src/index.ts";
import type { Resources } from "../resources.ts";
import { MailServer } from "./mail-server.ts";

export const PEOPLE: readonly EmailPerson[] = [
  { id: "ana", email: "ana@example.com" },
  { id: "bob", email: "bob@example.com", roles: ["manager"] },
  { id: "meg", email: "meg@example.com", roles: ["manager"] },
];
const MANAGER = { roles: ["manager"] };
const TICK_MS = 100;
const HERE = "http://127.0.0.1";

/** What a rule says; undefined takes away what it would say otherwise. */
export type Said = { readonly [name in keyof PolicyVerdict]?: PolicyVerdict[name] | undefined };

/** An answer of the server to a link. */
export interface Answer {
  readonly status: number;
  readonly json: { readonly title?: string; readonly rows?: unknown; readonly detail?: string };
}

/** A ledger, a server and a mail channel, with a mail server that is ours. */
export interface MailScene {
  readonly mail: MailServer;
  readonly engine: Engine;
  readonly app: App;
  /** What ran. */
  readonly ran: JsonObject[];
  /** Asks by rules, for ana, and gives the confirmation's id. */
  ask(verdict?: Said, args?: JsonObject): Promise<string>;
  /** The secret of the newest link that decides in a mail to this address; undefined if its newest mail has none. */
  link(email: string, id: string): Promise<string | undefined>;
  /** Sends to an entry of the server, from this address. */
  post(entry: "card" | "decision", body: unknown, remoteAddress?: string): Promise<Answer>;
  status(id: string): Promise<string>;
  /** The entries of a server that knows other people, or has another engine on the same ledger. */
  entriesFor(people: readonly EmailPerson[], by?: Engine): Inbound;
  /** The entries of another server, on this ledger or on another one. */
  doorOn(ledger?: string): Promise<Inbound>;
}

export interface MailSceneOptions {
  readonly people?: readonly EmailPerson[];
  readonly ledger?: string;
  /** Moves while a mail is waited for. */
  readonly clock?: ManualClock;
  /** It listens on a port. */
  readonly isServed?: boolean;
  readonly failedLoginsPerMinute?: number;
}

/** The links behind # in the texts of a mail. */
export function secretsIn(text: string): readonly string[] {
  return [...text.matchAll(/\/channels\/email\/link#(\S+)/g)].map(([, secret = ""]) => secret);
}

async function listen(resources: Resources, app: App): Promise<string> {
  const server = await serve({ app, port: 0 });
  resources.add(() => server.close({ graceMs: 0 }));
  return server.url;
}

export async function startMailScene(
  resources: Resources,
  { people = PEOPLE, ledger, clock, isServed = false, failedLoginsPerMinute = 1e9 }: MailSceneOptions = {},
): Promise<MailScene> {
  const mail = await new MailServer().listen();
  resources.add(() => mail.close());
  let said: Said = {};
  const rules: Policy = () => {
    const verdict: Said = {
      outcome: "confirm",
      reason: "payments",
      approvers: MANAGER,
      byMail: true,
      ...said,
    };
    return Object.fromEntries(
      Object.entries(verdict).filter(([, value]) => value !== undefined),
    ) as unknown as PolicyVerdict;
  };
  const ledgerUrl = ledger ?? `sqlite:${join(await resources.folder(), "ledger.db")}`;
  const open = async (at: string): Promise<Engine> => {
    const opened = await createEngine({
      ledger: at,
      policy: rules,
      ...(clock === undefined ? {} : { clock }),
    });
    resources.add(() => opened.close());
    return opened;
  };
  const engine = await open(ledgerUrl);
  const inbound: Inbound[] = [];
  const here = (): Inbound => inbound[0] ?? createInbound(engine, []);
  const app = createApp({
    apps: {},
    engine,
    authenticate: () => undefined,
    limits: { requestsPerMinute: Number.POSITIVE_INFINITY, failedLoginsPerMinute },
    // The channel's links name the server's port, so it is made later.
    mounts: [
      {
        path: "/channels",
        fetch: (request) => here().fetch(request),
        isOpen: (path) => here().isOpen(path),
        takesRaw: (path) => here().takesRaw(path),
      },
    ],
  });
  resources.add(() => app.drain());
  const url = isServed ? await listen(resources, app) : HERE;
  const configure = (known: readonly EmailPerson[], on = engine) =>
    createEmailChannel({
      ledger: on.ledger,
      smtp: mail.url,
      from: "approvals@example.com",
      people: known,
      publicUrl: url,
    });
  const channel = configure(people);
  inbound.push(createInbound(engine, [channel]));
  const link = (id: string): string => `${url}/#/confirmations/${id}`;
  const deliveries = startDeliveries({
    ledger: engine.ledger,
    channels: [channel],
    link,
    ...(clock === undefined ? {} : { clock }),
  });
  resources.add(() => deliveries.stop());
  const ran: JsonObject[] = [];
  const pay = engine.gate("pay", { amendable: true }, async (args: JsonObject) => {
    ran.push(args);
    return 1;
  });
  let asked = 0;
  return {
    mail,
    engine,
    app,
    ran,
    async ask(verdict = {}, args = { to: "zoe", amount: 5 }) {
      said = verdict;
      asked += 1;
      const result = await pay(args, { key: `k${asked}`, by: { id: "ana" } });
      if (result.status !== "pending") throw new Error(`It is ${result.status}.`);
      return result.confirmation.id;
    },
    async link(email, id) {
      const isIt = ({ to, parts }: MailServer["received"][number]): boolean =>
        to.includes(email) && parts.join().includes(id);
      while (!mail.received.some(isIt)) {
        await clock?.advance(TICK_MS);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      return secretsIn(mail.received.findLast(isIt)?.parts[0] ?? "").at(-1);
    },
    async post(entry, body, remoteAddress) {
      const request = new Request(`${url}/channels/email/${entry}`, {
        method: "POST",
        headers: { "content-type": "application/json", origin: url },
        body: typeof body === "string" ? body : JSON.stringify(body),
      });
      const answer = await app.fetch(request, remoteAddress === undefined ? {} : { remoteAddress });
      return { status: answer.status, json: (await answer.json()) as Answer["json"] };
    },
    status: async (id) => (await engine.confirmation(id)).status,
    entriesFor: (known, by = engine) => createInbound(by, [configure(known)]),
    async doorOn(at = ledgerUrl) {
      const other = await open(at);
      return createInbound(other, [configure(people, other)]);
    },
  };
}
