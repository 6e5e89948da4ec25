import type { OpenAPIHono } from "@hono/zod-openapi";
import type { AppOptions } from "../app-options.ts";
import type { HttpEnv } from "../env.ts";
import type { Site } from "../site.ts";
import { authenticate } from "./authenticate.ts";
import { readBody } from "./body.ts";
import { needJson } from "./content-type.ts";
import { checkHost } from "./host.ts";
import { requestLimits } from "./limits.ts";
import { isLogin, isOpen, isProbe, isUnlimited, mayWait } from "./open-paths.ts";
import { checkOrigin } from "./origin.ts";
import { nameRequest } from "./request-id.ts";
import { secureAnswers } from "./security-headers.ts";
import { throttleCallers, throttleFailures, throttleLogins, throttleTogether } from "./throttle.ts";
import { TokenBuckets } from "./token-buckets.ts";
import { takeTurns } from "./turns.ts";

/**
 * All checks before any route; their results are in the context's variables. The order makes refusals cheap: nothing is
 * looked up before the host is checked, and no body is read before the caller is known.
 */
export function installGuards(app: OpenAPIHono<HttpEnv>, site: Site, options: AppOptions): void {
  const { auth, publicUrl } = site;
  const { allowedHosts = [], allowOrigins = [], mounts = [] } = options;
  const limits = requestLimits(auth, options.limits);
  const base = site.basePath === "/" ? 0 : site.basePath.length;
  const within =
    <More extends readonly string[]>(test: (path: string, ...more: More) => boolean) =>
    (path: string, ...more: More): boolean =>
      test(path.slice(base) || "/", ...more);
  const isOpenHere = (path: string): boolean =>
    isOpen(path) || mounts.some((mount) => mount.isOpen?.(path) === true);
  const isRaw = within((path: string) => mounts.some((mount) => mount.takesRaw?.(path) === true));
  const origins = { publicUrl, allowOrigins };
  app.use(nameRequest);
  app.use(secureAnswers(publicUrl));
  app.use(checkHost({ auth, publicUrl, allowedHosts, exempt: within(isProbe) }));
  app.use(checkOrigin(origins));
  app.use(needJson(isRaw));
  const { failedLoginsPerMinute, requestsPerMinute } = limits;
  const failures = {
    addresses: newBuckets(failedLoginsPerMinute),
    tokens: newBuckets(failedLoginsPerMinute),
  };
  const callers = { known: newBuckets(requestsPerMinute), unknown: newBuckets(requestsPerMinute) };
  const isProof = (path: string): boolean => within(isLogin)(path) || isRaw(path);
  if (auth.name !== "none") app.use(throttleFailures(failures, isProof));
  if (auth.name === "oidc") app.use(throttleLogins(newBuckets(failedLoginsPerMinute), within(isLogin)));
  const [open, unlimited] = [within(isOpenHere), within(isUnlimited)];
  app.use(authenticate({ ...origins, auth, log: site.log, isOpen: open, isUnlimited: unlimited }));
  if (Number.isFinite(requestsPerMinute)) app.use(throttleCallers(callers, unlimited));
  const isEntry = within((path: string) => mounts.some((mount) => mount.isOpen?.(path) === true));
  app.use(throttleTogether({ isUnlimited: unlimited, isEntry }));
  const isExempt = (path: string, method: string): boolean =>
    unlimited(path, method) || within(mayWait)(path);
  if (Number.isFinite(requestsPerMinute)) app.use(takeTurns(site.turns, isExempt));
  const paths = { isRaw, isOpen: within(isOpen) };
  app.use(readBody({ maxBytes: limits.bodyBytes, timeoutMs: limits.bodyTimeoutMs }, paths));
}

function newBuckets(perMinute: number): TokenBuckets {
  return new TokenBuckets(perMinute, () => performance.now());
}
