import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { ROOT } from "../../../scripts/command.ts";
import { createApp, createAuth, Tokens } from "../../../src/http/index.ts";
import { serve } from "../../../src/http/node/index.ts";
import { type Confirmation, createEngine, type Engine } from "../../../src/index.ts";
import { parsePolicy } from "../../../src/policy/index.ts";
import type { JsonObject } from "../../../src/protocol/index.ts";
import { ENTRY } from "../../support/processes/command-line.ts";
import { COMPILE_CACHE } from "../../support/processes/compile-cache.ts";
import { useResources } from "../../support/resources.ts";

const POLICY = join(ROOT, "examples/policies/coding-agents.yaml");
const PATIENT = { timeout: 40_000 };

/** A person with a login, who may decide. */
export const boss = { id: "boss", kind: "token", authenticated: true, scopes: ["decide"] } as const;

/** What a finished process left. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  kill(signal: NodeJS.Signals): void;
  readonly ended: Promise<Ended>;
}

/** A process whose input is still open. */
export interface Talking extends Running {
  send(text: string): void;
  /** So many lines of its output. */
  lines(count: number): Promise<readonly string[]>;
  /** Ends its input. */
  leave(): void;
}

/** What passes through the server. */
export interface Traffic {
  /** How often somebody has asked for a call and was answered. */
  proposals: number;
  /** How often a claim was renewed. */
  renewals: number;
  /** Called when a call was claimed, before that is told. */
  afterClaim?: () => Promise<void>;
  /** Called before a result is taken. */
  beforeResult?: () => Promise<void>;
}

/** A server with the policy for coding agents, and a token that may only propose. */
export interface GateServer {
  readonly engine: Engine;
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly traffic: Traffic;
  /** Starts `countersign` with a text as its input. */
  start(args: readonly string[], input?: string): Running;
  /** Starts `countersign`, and keeps its input open. */
  talk(args: readonly string[]): Talking;
  /** The one question that is or will be open. */
  question(): Promise<Confirmation>;
  /** Approves the one question; with a changed input, in the folder that was asked about. */
  approve(input?: JsonObject): Promise<void>;
  /** What a file in the folder holds; empty where there is none. */
  read(name: string): string;
  /** No request is answered any more. */
  stop(): Promise<void>;
}

/** Creates servers for the tests of one file; they are closed after each test. */
export function useGateServer(): (options?: { readonly policy: "none" }) => Promise<GateServer> {
  const resources = useResources();
  return async (options) => {
    const folder = await resources.folder();
    const engine = await createEngine({
      ledger: `sqlite:${join(folder, "ledger.db")}`,
      ...(options === undefined ? { policy: parsePolicy(POLICY, readFileSync(POLICY, "utf8")) } : {}),
    });
    resources.add(() => engine.close());
    engine.work({ sweepMs: 200 });
    const auth = await createAuth({ mode: "tokens", ledger: engine.ledger });
    const app = createApp({ apps: {}, engine, auth });
    const traffic: Traffic = { proposals: 0, renewals: 0 };
    const server = await serve({
      port: 0,
      app: {
        ...app,
        fetch: async (request, ...rest) => {
          const { pathname } = new URL(request.url);
          if (pathname.endsWith("/result")) await traffic.beforeResult?.();
          const response = await app.fetch(request, ...rest);
          if (pathname.endsWith("/claim")) await traffic.afterClaim?.();
          if (pathname === "/v1/calls") traffic.proposals += 1;
          if (pathname.endsWith("/heartbeat") && response.ok) traffic.renewals += 1;
          return response;
        },
      },
    });
    const stop = (): Promise<void> => server.close({ graceMs: 0 });
    resources.add(stop);
    const agent = {
      user: "coder",
      kind: "agent",
      roles: [],
      scopes: ["propose"],
      createdBy: "test",
    } as const;
    const { secret } = await new Tokens(engine.ledger.items).create(agent);
    const env = {
      PATH: process.env["PATH"],
      HOME: folder,
      NODE_COMPILE_CACHE: COMPILE_CACHE,
      COUNTERSIGN_URL: server.url,
      COUNTERSIGN_TOKEN: secret,
    };
    const question = async (): Promise<Confirmation> => {
      await expect.poll(() => engine.pending(), PATIENT).toHaveLength(1);
      const [open] = await engine.pending();
      if (open === undefined) throw new Error("The question is gone.");
      return open;
    };
    const talk = (args: readonly string[]): Talking => {
      const child = spawn(process.execPath, [ENTRY, ...args], { cwd: folder, env });
      resources.add(() => child.kill("SIGKILL"));
      return talking(child);
    };
    return {
      engine,
      folder,
      env,
      traffic,
      question,
      stop,
      start: (args, input = "") => {
        const running = talk(args);
        running.send(input);
        running.leave();
        return running;
      },
      talk,
      approve: async (input) => {
        const { id, args } = await question();
        const asked = Object.fromEntries(Object.entries(args).filter(([name]) => name === "agent_cwd"));
        await engine.approve(id, {
          by: boss,
          ...(input === undefined ? {} : { args: { ...input, ...asked } }),
        });
      },
      read: (name) => {
        const path = join(folder, name);
        return existsSync(path) ? readFileSync(path, "utf8") : "";
      },
    };
  };
}

function talking(child: ChildProcessWithoutNullStreams): Talking {
  // A process that was killed does not read any more.
  child.stdin.on("error", () => {});
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].on("data", (chunk: Buffer) => {
      texts[name] += chunk.toString();
    });
  const lines = (): readonly string[] => texts.stdout.split("\n").slice(0, -1);
  return {
    kill: (signal) => child.kill(signal),
    ended: new Promise((resolve) => child.on("close", (code) => resolve({ code, ...texts }))),
    send: (text) => child.stdin.write(text),
    lines: async (count) => {
      await expect.poll(() => lines().length, PATIENT).toBe(count);
      return lines();
    },
    leave: () => child.stdin.end(),
  };
}
