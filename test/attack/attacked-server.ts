import { onTestFinished } from "vitest";
import { replayPolicy } from "../../src/cli/policy/replay-policy.ts";
import {
  type Approvers,
  type CallRecord,
  type Engine,
  type JournalRecord,
  ManualClock,
  OutcomeUnknown,
  type Policy,
  type PolicyVerdict,
  partsOf,
  toPrincipal,
} from "../../src/engine/index.ts";
import { tryApprove } from "../../src/engine/testing/try-decide.ts";
import {
  type App,
  type AppOptions,
  type Auth,
  createApp,
  createAuth,
  SCOPES,
  type Scope,
  Tokens,
} from "../../src/http/index.ts";
import { Agent, createEngine, createLedger, Runner, tool } from "../../src/index.ts";
import { scripted } from "../../src/models/scripted/index.ts";
import type { JsonObject } from "../../src/protocol/index.ts";
import { loginIn } from "../support/http/served.ts";
import { giveUp, requestsIn } from "../support/ledger/failed-delivery.ts";
import { storeNotice } from "../support/ledger/store-notice.ts";
import { createDatabaseFile, type Dump } from "./support/database.ts";

/** What people's browsers call the server. */
export const ORIGIN = "https://approvals.test";
const SHORT_MS = 1_000;

/** A server in the middle of its day: people with tokens, sessions of two users, questions of every kind. */
export interface AttackedServer {
  readonly engine: Engine;
  readonly runner: Runner;
  readonly app: App;
  /** One request, as a client would send it. */
  send(request: Sent): Promise<Response>;
  /** The whole credential of somebody; every one was used today already. */
  token(name: TokenName): string;
  /** A token of ana's, or of another's, that has these scopes. */
  scoped(
    scopes: readonly Scope[],
    whose?: { readonly user?: string; readonly kind?: "agent" },
  ): Promise<string>;
  /** The cookie of a browser in which ana is logged in. */
  readonly cookie: string;
  /** What a page of that browser sends: the cookie, and its proof. */
  readonly page: Readonly<Record<string, string>>;
  readonly ids: Ids;
  /** How often any tool's body was entered. */
  readonly runs: () => number;
  readonly journal: () => Promise<readonly { readonly kind: string; readonly body: JsonObject }[]>;
  /** All tables but the journal, without what a record in the journal moves. */
  readonly dump: () => Dump;
  /** The same app with other options, on the same ledger. */
  with(options: Partial<AppOptions>): (request: Sent) => Promise<Response>;
}

export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export type TokenName = "ana" | "bob" | "maria" | "boss" | "service" | "revoked" | "expired";

export interface Ids {
  /** Ana's, hers to decide. */
  readonly pay: string;
  /** Ana's, for a manager who is not her; she is one herself. */
  readonly wire: string;
  /** Ana's, for the user `boss`, or for one called `local`. */
  readonly named: string;
  /** Bob's, his to decide. */
  readonly bobs: string;
  /** Ana's, denied by her. */
  readonly denied: string;
  /** Ana's, approved, and nobody knows how it ended. */
  readonly lost: string;
  /** A call of ana's about which nobody was asked, of which nobody knows how it ended. */
  readonly stray: string;
  /** The key of a call that ana's program may claim. */
  readonly allowed: string;
  /** A call that ana's program has claimed: its key, and the proof of the claim. */
  readonly claimed: {
    readonly key: string;
    readonly proof: { readonly token: string; readonly attempt: number };
  };
  /** A grant of ana's, for further calls of her program. */
  readonly grant: string;
  /** The number of a message to the channel `pager` that was given up. */
  readonly unsent: number;
  /** A notice that nobody has acknowledged. */
  readonly notice: string;
  /** Ana lets somebody vote for her. */
  readonly delegation: string;
}

const TOOLS: readonly {
  readonly name: string;
  readonly requireConfirmation?: boolean;
  readonly approvers?: Approvers;
}[] = [
  { name: "pay", requireConfirmation: true },
  { name: "wire", requireConfirmation: true, approvers: { roles: ["manager"], notRequester: true } },
  { name: "named", requireConfirmation: true, approvers: { users: ["boss", "local"] } },
  { name: "lost", requireConfirmation: true },
  { name: "stray" },
];

const GRANTABLE: PolicyVerdict = {
  outcome: "confirm",
  reason: "orders",
  grants: { forMs: 3_600_000, count: 5 },
};

const policy: Policy = ({ tool: name }) => (name === "order" ? GRANTABLE : undefined);

/** What the people of a server know whose ledger is prepared. */
export interface Scene {
  readonly runs: number;
  readonly ids: Ids;
  readonly secrets: Readonly<Record<TokenName, string>>;
  readonly page: Readonly<Record<string, string>>;
}

/** What is in the ledger of a server before anybody attacks it. */
interface Prepared extends Scene {
  readonly file: Buffer;
  readonly now: number;
}

/** Prepared once: most tests attack a copy of the same server. */
let prepared: Promise<Prepared> | undefined;

export async function startAttackedServer(): Promise<AttackedServer> {
  prepared ??= prepare();
  return startFrom(await prepared);
}

/** One with tokens and ids of its own. */
export async function startOtherServer(): Promise<AttackedServer> {
  return startFrom(await prepare());
}

/** A ledger, and the secret that its decisions are signed with. */
interface Place {
  readonly url: string;
  readonly secret?: string;
}

/** A server's parts on a ledger. */
async function open(
  { url, secret }: Place,
  clock: ManualClock,
  onRun: () => void,
): Promise<{ readonly engine: Engine; readonly runner: Runner; readonly auth: Auth }> {
  const engine = await createEngine({
    ledger: await createLedger(url, { clock }),
    clock,
    policy,
    ...(secret === undefined ? {} : { secret }),
  });
  const runner = new Runner({ agent: attackedAgent(onRun), engine });
  const now = (): number => clock.now();
  const auth = await createAuth({ mode: "tokens", ledger: engine.ledger, publicUrl: ORIGIN, now });
  return { engine, runner, auth };
}

async function prepare(): Promise<Prepared> {
  using file = createDatabaseFile();
  const clock = new ManualClock();
  const scene = await prepareLedger(file, clock);
  return { ...scene, file: file.read(), now: clock.now() };
}

/** Fills a ledger as that of a server in the middle of its day. */
export async function prepareLedger(place: Place, clock: ManualClock): Promise<Scene> {
  const now = (): number => clock.now();
  let runs = 0;
  const { engine, runner, auth } = await open(place, clock, () => (runs += 1));
  const ids = await askQuestions(runner, engine, now);
  const tokens = new Tokens(engine.ledger.items, now);
  const secrets = await makeTokens(tokens, clock);
  // Their first use of the day is on record already, so nothing of that moves later.
  for (const secret of Object.values(secrets)) await tokens.read(secret);
  const app = createApp({ apps: { desk: runner }, publicUrl: ORIGIN, auth });
  const login = { method: "POST", path: "/auth/login", body: { token: secrets.ana } };
  const page = await loginIn(await app.fetch(toRequest(login)));
  await runner.close();
  await engine.close();
  return { runs, ids, secrets, page };
}

async function startFrom(scene: Prepared): Promise<AttackedServer> {
  const file = createDatabaseFile(scene.file);
  onTestFinished(() => file[Symbol.dispose]());
  const clock = new ManualClock(scene.now);
  let { runs } = scene;
  const { engine, runner, auth } = await open(file, clock, () => (runs += 1));
  onTestFinished(() => engine.close());
  onTestFinished(() => runner.close());
  // The process is on record already, as its people's tokens are.
  await partsOf(engine).lease.hold();
  const apps = { desk: runner };
  const appWith = (options: Partial<AppOptions>): AttackedServer["send"] => {
    const login = options.authenticate === undefined ? { auth } : {};
    const app = createApp({ apps, publicUrl: ORIGIN, replay: replayPolicy, ...login, ...options });
    return (sent) => app.fetch(toRequest(sent));
  };
  const app = createApp({ apps, publicUrl: ORIGIN, auth, replay: replayPolicy });
  const tokens = new Tokens(engine.ledger.items, () => clock.now());
  return {
    engine,
    runner,
    app,
    send: (sent) => app.fetch(toRequest(sent)),
    token: (name) => scene.secrets[name],
    scoped: async (scopes, whose = {}) => {
      const wanted = { user: "ana", roles: ["manager"], scopes, createdBy: "test", ...whose };
      const made = await tokens.create(wanted);
      await tokens.read(made.secret);
      return made.secret;
    },
    cookie: scene.page["cookie"] ?? "",
    page: scene.page,
    ids: scene.ids,
    runs: () => runs,
    journal: async () => (await engine.ledger.journal.records({ after: 0, limit: 10_000 })).map(toLine),
    dump: () => file.dump({ withoutVersions: true }),
    with: (options) => appWith(options),
  };
}

function toLine({ kind, body }: JournalRecord): { readonly kind: string; readonly body: JsonObject } {
  return { kind, body: (body ?? {}) as JsonObject };
}

/** The request, as it arrives at the server. */
export function toRequest({ method, path, body, headers = {} }: Sent): Request {
  const isText = typeof body === "string";
  return new Request(`${ORIGIN}${path}`, {
    method,
    headers: {
      host: new URL(ORIGIN).host,
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isText ? body : JSON.stringify(body) }),
  });
}

/** A desk whose model calls the tool that it is told to. */
function attackedAgent(onRun: () => void): Agent {
  const tools = TOOLS.map((options) =>
    tool({
      description: "Does it.",
      parameters: { type: "object", properties: { amount: { type: "number" } } },
      execute: async () => {
        onRun();
        if (options.name === "lost" || options.name === "stray")
          throw new OutcomeUnknown("the line went dead");
        return { done: true };
      },
      ...options,
    }),
  );
  const model = scripted(({ contents }) => {
    const [said] = contents.at(-1)?.parts ?? [];
    const named = TOOLS.find(({ name }) => name === said?.text);
    return named === undefined ? "Done." : [{ functionCall: { name: named.name, args: { amount: 5 } } }];
  });
  return new Agent({ name: "desk", model, instruction: "Do it.", tools });
}

async function askQuestions(runner: Runner, engine: Engine, now: () => number): Promise<Ids> {
  const ask = async (text: string, user = "ana", session = `s-${text}`): Promise<string> => {
    const turn = await runner.send(text, { user, session });
    return turn.pending[0]?.id ?? "";
  };
  const [pay, wire, named] = [await ask("pay"), await ask("wire"), await ask("named")];
  const [bobs, denied, lost] = [
    await ask("pay", "bob", "s-bob"),
    await ask("pay", "ana", "s-denied"),
    await ask("lost"),
  ];
  await engine.deny(denied, { by: { id: "ana" } });
  const approved = await tryApprove(engine, lost, { by: { id: "ana" } });
  if (approved.ok) await approved.finished;
  await runner.send("stray", { user: "ana", session: "s-stray" });
  const { items } = await engine.ledger.unknownCalls();
  const stray = items.find((call: CallRecord) => call.tool === "stray")?.id ?? "";
  const [unsent = 0] = await requestsIn(engine.ledger);
  await giveUp(engine.ledger, { channel: "pager", seqs: [unsent] });
  const notice = await storeNotice(engine.ledger.items, { now });
  const until = engine.ledger.now + 3_600_000;
  const { id: delegation } = await engine.delegate({ to: "nobody else", until }, { by: { id: "ana" } });
  const asked = await askAsProgram(engine);
  return { pay, wire, named, bobs, denied, lost, stray, unsent, notice, delegation, ...asked };
}

async function askAsProgram(engine: Engine): Promise<Pick<Ids, "allowed" | "claimed" | "grant">> {
  const by = toPrincipal({ id: "ana", kind: "token", authenticated: true, scopes: ["propose"] });
  const call = { by, app: "shop", tool: "refund", args: { amount: 1 }, requireConfirmation: false };
  for (const key of ["allowed", "claimed"]) await engine.callers.propose({ ...call, key });
  const { claim } = await engine.callers.claim({ by: "ana", key: "claimed" }, { leaseMs: 3_600_000 });
  const proof = { token: claim?.token ?? "", attempt: claim?.attempt ?? 0 };
  const order = { ...call, tool: "order", key: "order", thread: "orders" };
  const { confirmation } = await engine.callers.propose(order);
  const ana = { ...by, scopes: ["decide"] };
  await engine.approve(confirmation?.id ?? "", { by: ana, grant: {} });
  const [grant] = (await engine.grants({ by: ana })).items;
  return { allowed: "allowed", claimed: { key: "claimed", proof }, grant: grant?.id ?? "" };
}

async function makeTokens(tokens: Tokens, clock: ManualClock): Promise<Record<TokenName, string>> {
  const make = async (
    user: string,
    more: { roles?: readonly string[]; scopes?: readonly Scope[]; expiresAt?: number } = {},
  ) => tokens.create({ user, roles: [], scopes: ["run", "read", "decide"], createdBy: "test", ...more });
  const revoked = await make("ana");
  await tokens.revoke(revoked.token.id, "test");
  const expired = await make("ana", { expiresAt: clock.now() + SHORT_MS });
  const secrets = {
    ana: (await make("ana", { roles: ["manager"] })).secret,
    bob: (await make("bob")).secret,
    maria: (await make("maria", { roles: ["manager"] })).secret,
    boss: (await make("boss")).secret,
    service: (await make("service", { scopes: [...SCOPES] })).secret,
    revoked: revoked.secret,
    expired: expired.secret,
  };
  await clock.advance(SHORT_MS);
  return secrets;
}
