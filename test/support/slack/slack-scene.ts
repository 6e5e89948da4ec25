import { join } from "node:path";
import { type Channel, createInbound, type Inbound, startDeliveries } from "../../../src/channels/index.ts";
import { createSlackChannel, type SlackPerson } from "../../../src/channels/slack/index.ts";
import { type App, createApp } from "../../../src/http/index.ts";
import {
  type Approvers,
  createEngine,
  type Engine,
  type JsonObject,
  type Policy,
} from "../../../src/index.ts";
import type { Resources } from "../resources.ts";
import {
  type Json,
  type Pressing,
  pressPayload,
  type Signing,
  type SlackMessage,
  SlackStandIn,
  signedRequest,
  submitPayload,
  WORKSPACE,
} from "./slack-stand-in.ts";

export const PEOPLE: readonly SlackPerson[] = [
  { id: "ana", slack: "U0ANA" },
  { id: "bob", slack: "U0BOB", roles: ["manager"] },
  { id: "meg", slack: "U0MEG", roles: ["manager"] },
];

/** What is asked, and of whom. */
export interface Asking {
  readonly args?: JsonObject;
  readonly hint?: string;
  readonly approvers?: Approvers;
  readonly schema?: JsonObject;
  readonly expiresInMs?: number;
}

/** A ledger, a server and a channel, with a Slack that is ours. */
export interface SlackScene {
  readonly slack: SlackStandIn;
  readonly engine: Engine;
  readonly app: App;
  readonly channel: Channel;
  /** What ran. */
  readonly ran: JsonObject[];
  /** Asks, and gives the confirmation's id. */
  ask(asking?: Asking): Promise<string>;
  /** The newest card in the conversation with a person, once there is one of this confirmation. */
  card(user: string, id: string): Promise<SlackMessage>;
  press(message: SlackMessage, pressing: Pressing, signing?: Signing): Promise<Response>;
  submit(user: string, values: Json, payload?: Json): Promise<Response>;
  /** The entries of a server that knows other people. */
  entriesFor(people: readonly SlackPerson[]): Inbound;
  /** The entries of another server, on this ledger or on another one. */
  doorOn(ledger?: string): Promise<Inbound>;
  /** Waits until it is so. */
  until(isSo: () => boolean | Promise<boolean>): Promise<void>;
}

export interface SlackSceneOptions {
  readonly people?: readonly SlackPerson[];
  readonly room?: string;
  /** In a file of its own unless given. */
  readonly ledger?: string;
  readonly policy?: Policy;
}

function link(id: string): string {
  return `https://approvals.example/#/confirmations/${id}`;
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 10));
}

export async function startSlackScene(
  resources: Resources,
  { people = PEOPLE, room, ledger, policy }: SlackSceneOptions = {},
): Promise<SlackScene> {
  const slack = await new SlackStandIn().listen();
  resources.add(() => slack.close());
  const url = ledger ?? `sqlite:${join(await resources.folder(), "ledger.db")}`;
  const open = async (at: string): Promise<Engine> => {
    const opened = await createEngine({ ledger: at, ...(policy === undefined ? {} : { policy }) });
    resources.add(() => opened.close());
    return opened;
  };
  const engine = await open(url);
  const configure = (known: readonly SlackPerson[], on = engine): Channel => {
    const { token, signingSecret, team, app: appId } = WORKSPACE;
    return createSlackChannel({
      ledger: on.ledger,
      token,
      signingSecret,
      team,
      app: appId,
      people: known,
      apiUrl: slack.url,
      ...(room === undefined ? {} : { room }),
    });
  };
  const channel = configure(people);
  const app = createApp({
    apps: {},
    engine,
    authenticate: () => undefined,
    limits: { requestsPerMinute: Number.POSITIVE_INFINITY },
    mounts: [createInbound(engine, [channel])],
  });
  resources.add(() => app.drain());
  const deliveries = startDeliveries({ ledger: engine.ledger, channels: [channel], link });
  resources.add(() => deliveries.stop());
  const ran: JsonObject[] = [];
  let asked = 0;
  return {
    slack,
    engine,
    app,
    channel,
    ran,
    until,
    entriesFor: (known) => createInbound(engine, [configure(known)]),
    async doorOn(at = url) {
      const other = await open(at);
      return createInbound(other, [configure(people, other)]);
    },
    async ask({ args = { to: "bob", amount: 5 }, hint = "Pay bob?", schema, approvers, expiresInMs } = {}) {
      asked += 1;
      const gated = engine.gate(
        `pay${asked}`,
        {
          requireConfirmation: true,
          amendable: true,
          confirmationHint: () => hint,
          ...(schema === undefined ? {} : { confirmationPayload: schema }),
          ...(approvers === undefined ? {} : { approvers }),
          ...(expiresInMs === undefined ? {} : { expiresInMs }),
        },
        async (given: JsonObject, context) => {
          const { payload } = context.toolConfirmation ?? {};
          ran.push(payload === undefined ? given : { ...given, payload });
          return 1;
        },
      );
      const result = await gated(args, { key: `k${asked}`, by: { id: "ana" } });
      if (result.status !== "pending") throw new Error(`It is ${result.status}.`);
      return result.confirmation.id;
    },
    async card(user, id) {
      const place = user.startsWith("C") ? user : slack.conversationOf(user);
      const isIt = (message: SlackMessage): boolean => JSON.stringify(message.blocks).includes(id);
      await until(() => slack.in(place).some(isIt));
      const found = slack.in(place).findLast(isIt);
      if (found === undefined) throw new Error("There is no card.");
      // Slack shows it before we know that it arrived.
      await until(async () => {
        const { items } = await engine.ledger.items.list("channel-messages");
        return JSON.stringify(items).includes(found.ts);
      });
      return found;
    },
    press: (message, pressing, signing = {}) =>
      app.fetch(signedRequest(pressPayload(message, pressing), signing)),
    async submit(user, values, payload = {}) {
      const view = slack.views.at(-1);
      if (view === undefined) throw new Error("No dialog is open.");
      return app.fetch(signedRequest(submitPayload(view, user, values, payload)));
    },
  };
}
