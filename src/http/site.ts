import { type Counting, type Engine, type Ledger, setLoginMode } from "../engine/index.ts";
import { CountersignError } from "../protocol/index.ts";
import { Pace, type Runner } from "../runtime/index.ts";
import type { AppOptions } from "./app-options.ts";
import type { Auth } from "./auth/auth.ts";
import { authOf } from "./auth/host-auth.ts";
import { FEED_SETTINGS, type FeedSettings } from "./feed/settings.ts";
import { ListReads } from "./lists/list-reads.ts";
import { type Logger, SILENT } from "./log.ts";
import { Metrics } from "./telemetry/metrics.ts";
import { Turns } from "./turns.ts";

/** What every route works with. Opened when the first request needs it. */
export class Site {
  readonly log: Logger;
  readonly metrics: Metrics;
  /** How callers are identified. */
  readonly auth: Auth;
  readonly publicUrl: string | undefined;
  /** The base path, as in `/approvals`; `/` at the root. */
  readonly basePath: string;
  /** Judges past calls by another policy, if the host can. */
  readonly replay: AppOptions["replay"];
  /** Channels that people turn on for themselves. */
  readonly channels: readonly string[];
  readonly #apps: ReadonlyMap<string, Runner>;
  /** For what belongs to apps that are hosted elsewhere. */
  readonly #engine: Engine | undefined;
  #engines: Promise<readonly Engine[]> | undefined;
  /** Settings of the live feed. */
  readonly feed: FeedSettings;
  /** Where lists are read. */
  readonly lists: ListReads = new ListReads(this);
  /** Limits how many large reads run at once. */
  readonly turns: Turns = new Turns();
  /** Limits how many waiting requests read the ledger at once. */
  readonly pace: Pace = new Pace();
  readonly #closing = new AbortController();
  #leaving = false;

  constructor({
    apps,
    engine,
    logger = SILENT,
    publicUrl,
    basePath = "/",
    feed,
    auth,
    authenticate,
    metrics = new Metrics(),
    mounts = [],
    replay,
  }: AppOptions) {
    this.metrics = metrics;
    this.log = logger;
    this.replay = replay;
    this.feed = { ...FEED_SETTINGS, ...feed };
    this.auth = authOf({ ...(auth && { auth }), ...(authenticate && { authenticate }) });
    this.publicUrl = publicUrl?.replace(/\/+$/, "");
    this.basePath = readBasePath(basePath);
    this.channels = mounts.flatMap(({ channels = [] }) => channels);
    this.#engine = engine;
    this.#apps = new Map(Object.entries(apps));
    for (const [name, runner] of this.#apps) {
      if (runner.app === name) continue;
      throw new CountersignError(
        "invalid-option",
        `The app "${name}" has a Runner for the app "${runner.app}". Use that name, or create the Runner with \`app: "${name}"\`.`,
      );
    }
    if (this.#apps.size === 0 && engine === undefined) {
      throw new CountersignError(
        "invalid-option",
        "`apps` is empty. To serve only the inbox, pass `engine`.",
      );
    }
  }

  /** Is this process about to end? */
  get draining(): boolean {
    return this.#leaving || this.closing.aborted;
  }

  /** Aborts when this process is about to end, so that long-lived streams end. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  leave(): void {
    this.#leaving = true;
  }

  drain(): void {
    this.#closing.abort();
  }

  get appNames(): readonly string[] {
    return [...this.#apps.keys()];
  }

  /** What a person can ask each app to begin with, as its agent's author says; apps without such words are left out. */
  get examplePrompts(): Readonly<Record<string, readonly string[]>> {
    const all = [...this.#apps].map(([name, { agent }]) => [name, agent.examplePrompts ?? []] as const);
    return Object.fromEntries(all.filter(([, prompts]) => prompts.length > 0));
  }

  /** The Runner of an app that is served here; throws `unknown-app`. */
  runner(app: string): Runner {
    const runner = this.#apps.get(app);
    if (runner !== undefined) return runner;
    throw new CountersignError("unknown-app", `This server has no app "${app}".`, {
      details: { hint: `Available apps: ${this.appNames.join(", ")}.` },
    });
  }

  /** The ledger that all apps share. */
  async ledger(): Promise<Ledger> {
    return (await this.engine()).ledger;
  }

  /** The engine that hosts an app, so that approved calls run here; any engine for an app that is not hosted here. */
  async engine(app?: string): Promise<Engine> {
    // The error may be gone at the next request.
    this.#engines ??= this.#open().catch((error: unknown) => {
      this.#engines = undefined;
      throw error;
    });
    const engines = await this.#engines;
    const hosting = app === undefined ? -1 : this.appNames.indexOf(app);
    const engine = engines[Math.max(hosting, 0)];
    if (engine === undefined) throw new CountersignError("closed", "The server has no engine.");
    return engine;
  }

  /** With what the rights of a reader are judged now. */
  async counting(app?: string): Promise<Counting> {
    return (await this.engine(app)).counting();
  }

  /** The same for all apps: once for each policy that says something about people. */
  async countings(): Promise<readonly Counting[]> {
    await this.engine();
    const all = await Promise.all(((await this.#engines) ?? []).map((engine) => engine.counting()));
    return [...new Map(all.map((counting) => [counting.directory, counting])).values()];
  }

  /** With what the rights of a reader are judged now, by app. */
  async countingByApp(): Promise<(app: string) => Counting> {
    const first = await this.counting();
    const all = await Promise.all(((await this.#engines) ?? []).map((engine) => engine.counting()));
    return (app) => all[this.appNames.indexOf(app)] ?? first;
  }

  async #open(): Promise<readonly Engine[]> {
    const hosting = await Promise.all([...this.#apps.values()].map((runner) => runner.engine()));
    const engines = this.#engine === undefined ? hosting : [...hosting, this.#engine];
    // Its digest key is a database's own: two ledgers with the same key are one database.
    const keys = new Set(engines.map(({ ledger }) => Buffer.from(ledger.digestKey).toString("hex")));
    if (keys.size <= 1) {
      // Stored, so that the command line and other servers of this ledger do not bypass the host's login.
      if (this.auth.name === "host") await setLoginMode((engines[0] as Engine).ledger.items, "host");
      return engines;
    }
    throw new CountersignError(
      "invalid-option",
      "The apps use different ledgers. Create one engine with `await createEngine({ ledger })` and pass it to every Runner as `engine`.",
    );
  }
}

function readBasePath(basePath: string): string {
  if (basePath === "/" || /^(?:\/(?!\.{1,2}(?:\/|$))[\w.~-]+)+$/.test(basePath)) return basePath;
  throw new CountersignError(
    "invalid-option",
    `Invalid basePath "${basePath}". Start it with a slash and do not end with one, for example "/approvals".`,
  );
}
