import { assertSafeBind } from "../../http/auth/index.ts";
import { CountersignError } from "../../protocol/index.ts";
import type { Invocation } from "../command.ts";
import { authOf, settingOf } from "../serving/serve-options.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

export const GEMINI_PACKAGE = "@google/genai";
/** The variables that hold a key for Gemini's models. */
export const GEMINI_KEYS = ["GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_API_KEY"] as const;
const SHORTEST_SECRET = 32;
const NODE_FLOOR = [22, 18] as const;

/** The Node.js that runs this. */
export function checkNode(version: string = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [leastMajor, leastMinor] = NODE_FLOOR;
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return ok("node", `v${version}`);
  return fail("node", `v${version} is too old.`, `Install ${leastMajor}.${leastMinor} or newer.`);
}

/** The secret that signs decisions. */
export function checkSecret({ env }: Pick<Invocation, "env">): Finding {
  const secret = env["COUNTERSIGN_SECRET"] ?? "";
  if (secret.length >= SHORTEST_SECRET) return ok("secret", "COUNTERSIGN_SECRET is set");
  const advice =
    "Set one of at least 32 characters, the same in every process. `openssl rand -base64 32` creates one.";
  if (secret !== "")
    return warn("secret", `COUNTERSIGN_SECRET has only ${secret.length} characters.`, advice);
  return warn(
    "secret",
    "COUNTERSIGN_SECRET is not set. Anyone who can write to the database can forge decisions.",
    advice,
  );
}

/** Who can reach the server, and whether it has a login. */
export function checkAuth(invocation: Invocation): Finding {
  const host = settingOf(invocation, "host") ?? "127.0.0.1";
  const auth = authOf(settingOf(invocation, "auth") ?? "none");
  try {
    assertSafeBind(host, { name: auth }, settingOf(invocation, "public-url"));
  } catch (error) {
    if (!CountersignError.isInstance(error)) throw error;
    return fail("auth", error.message, "`countersign serve` does not start with this.");
  }
  if (auth !== "none") return ok("auth", `${auth}, on ${host}`);
  return warn(
    "auth",
    `none, on ${host}. Any program on this machine can decide.`,
    "Use --auth local, tokens or oidc if other people, or agents with a shell, use this machine.",
  );
}

/** Packages that only some need. */
export function checkPackages(invocation: Invocation): readonly Finding[] {
  const { env } = invocation;
  const hasKey = GEMINI_KEYS.some((name) => env[name]);
  const isOidc = settingOf(invocation, "auth") === "oidc";
  return [
    checkPackage(GEMINI_PACKAGE, { needed: hasKey, for: "gemini-… models" }),
    checkPackage("jose", { needed: isOidc, for: "--auth oidc" }),
    checkPackage("oauth4webapi", {
      needed: isOidc && settingOf(invocation, "oidc-client-id") !== undefined,
      for: "logging in by browser with --auth oidc",
    }),
  ];
}

function checkPackage(name: string, use: { readonly needed: boolean; readonly for: string }): Finding {
  if (isInstalled(name)) return ok(name, "installed");
  if (!use.needed) return ok(name, `not installed; only ${use.for} needs it`);
  return fail(name, `not installed, and ${use.for} needs it.`, `npm install ${name}`);
}

/** Can the package be imported from here? */
export function isInstalled(name: string): boolean {
  try {
    import.meta.resolve(name);
    return true;
  } catch {
    return false;
  }
}
