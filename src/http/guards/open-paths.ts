import { ROOT_FILES } from "../web/root-files.ts";

/** They reveal nothing, or are used to log in. */
const OPEN: ReadonlySet<string> = new Set([
  "/",
  "/healthz",
  "/readyz",
  "/health",
  "/version",
  "/openapi.json",
  ...ROOT_FILES.map((name) => `/${name}`),
]);
const OPEN_BELOW = ["/auth/", "/assets/", "/.well-known/"] as const;
const PROBES: ReadonlySet<string> = new Set(["/healthz", "/readyz"]);
const ASKED_BY_MACHINES: ReadonlySet<string> = new Set([...PROBES, "/health", "/metrics"]);

/** Is a path (without the base path) open without a login? Everything that is not listed needs one. */
export function isOpen(path: string): boolean {
  return OPEN.has(path) || OPEN_BELOW.some((start) => path.startsWith(start));
}

/** Is it a login route? */
export function isLogin(path: string): boolean {
  return path === "/auth/login" || path === "/auth/callback";
}

/** Is it a probe, which orchestrators request by IP address instead of name? */
export function isProbe(path: string): boolean {
  return PROBES.has(path);
}

/**
 * Is it without a rate limit? The answer is the same for everybody, there is no body to read, and if a probe were
 * refused in a flood, an orchestrator would kill a healthy process.
 */
export function isUnlimited(path: string, method: string): boolean {
  if (method !== "GET" && method !== "HEAD") return false;
  return PROBES.has(path) || path === "/health" || path.startsWith("/assets/");
}

/** May a read wait there for a person? */
export function mayWait(path: string): boolean {
  return path.startsWith("/v1/calls/");
}

/** Is it a probe that machines request every few seconds? */
export function isAskedByMachines(path: string): boolean {
  return ASKED_BY_MACHINES.has(path);
}
