/** They say nothing about anybody, or are how somebody logs in. */
const OPEN: ReadonlySet<string> = new Set([
  "/",
  "/healthz",
  "/readyz",
  "/health",
  "/version",
  "/openapi.json",
]);
const OPEN_BELOW = ["/auth/", "/assets/", "/.well-known/"] as const;
const PROBES: ReadonlySet<string> = new Set(["/healthz", "/readyz"]);
const ASKED_BY_MACHINES: ReadonlySet<string> = new Set([...PROBES, "/health", "/metrics"]);

/** Does a path, without the base path, need nobody to be logged in? Everything that is not listed does. */
export function isOpen(path: string): boolean {
  return OPEN.has(path) || OPEN_BELOW.some((start) => path.startsWith(start));
}

/** Is it where somebody tries to log in? */
export function isLogin(path: string): boolean {
  return path === "/auth/login" || path === "/auth/callback";
}

/** Is it what an orchestrator asks for, by address instead of name? */
export function isProbe(path: string): boolean {
  return PROBES.has(path);
}

/**
 * Is it answered to anybody as often as they like? It tells everybody the same, there is no body to read, and if it were
 * refused in a flood, an orchestrator would end a process that is well.
 */
export function isUnlimited(path: string, method: string): boolean {
  if (method !== "GET" && method !== "HEAD") return false;
  return PROBES.has(path) || path === "/health" || path.startsWith("/assets/");
}

/** Is it asked for every few seconds, by machines, as long as the process lives? */
export function isAskedByMachines(path: string): boolean {
  return ASKED_BY_MACHINES.has(path);
}
