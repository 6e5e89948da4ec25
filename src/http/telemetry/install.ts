import type { OpenAPIHono } from "@hono/zod-openapi";
import { type Span, SpanStatusCode } from "@opentelemetry/api";
import type { Context } from "hono";
import { matchedRoutes } from "hono/route";
import { CountersignError } from "../../protocol/index.ts";
import type { HttpEnv, RequestFacts } from "../env.ts";
import { isEventStream } from "../event-stream.ts";
import { isAskedByMachines } from "../guards/open-paths.ts";
import type { Site } from "../site.ts";
import { observeLedger } from "./observe-ledger.ts";
import { inServerSpan } from "./tracing.ts";
import { watchBody } from "./watch-body.ts";

const BAD = 400;
const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** What the log and the metrics say about an answer. Nothing that a client wrote, except the method. */
interface Answered {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly ms: number;
}

/**
 * Counts, logs and traces every request. Runs before the guards, so that refused requests are counted too. Uses the
 * route's pattern, never the path, the query, a header or a body.
 */
export function installTelemetry(app: OpenAPIHono<HttpEnv>, site: Site): void {
  observeLedger(() => site.ledger());
  app.use(async (context, next) => {
    const began = performance.now();
    await inServerSpan(context.req.raw, async (span) => {
      await next();
      const answered = describe(context, performance.now() - began);
      finishSpan(span, answered);
      count(site, context, answered);
      const isStream = isEventStream(context.res);
      // Hono lets GET answer a HEAD and drops its body: a stream would be left open that nobody can end.
      if (isStream && context.req.method === "HEAD") await context.res.body?.cancel();
      else if (isStream) return watchStream(site, context, { answered, began });
      log(site, context, answered);
    });
  });
}

function describe(context: Context<HttpEnv>, ms: number): Answered {
  const { method } = context.req;
  return {
    method: METHODS.has(method) ? method : "other",
    route: routeOf(context),
    status: context.res.status,
    ms,
  };
}

/** The pattern of the first matching route; all requests without a route share one value. */
function routeOf(context: Context<HttpEnv>): string {
  const route = matchedRoutes(context).find(({ path }) => !path.endsWith("*"));
  return route?.path ?? "unmatched";
}

function count(
  { metrics }: Site,
  { error }: Context<HttpEnv>,
  { method, route, status, ms }: Answered,
): void {
  metrics.add("requests", { method, route, status: String(status) });
  metrics.observe("requestSeconds", { method, route }, ms / 1_000);
  if (CountersignError.isInstance(error) && error.code === "ledger-busy") metrics.add("ledgerBusy");
}

function finishSpan(span: Span, { method, route, status }: Answered): void {
  span.updateName(`${method} ${route}`);
  span.setAttributes({ "http.route": route, "http.response.status_code": status });
  if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
}

function watchStream(
  site: Site,
  context: Context<HttpEnv>,
  { answered, began }: { readonly answered: Answered; readonly began: number },
): void {
  const { route } = answered;
  site.metrics.add("openStreams", { route });
  const watched = watchBody(context.res, (end) => {
    site.metrics.add("openStreams", { route }, -1);
    log(site, context, { ...answered, ms: performance.now() - began });
    if (typeof end === "object")
      site.log.warn({ err: end.error, requestId: context.get("requestId") }, "a stream was interrupted");
  });
  // Assigning would merge the headers with the existing ones.
  context.res = undefined;
  context.res = watched;
}

function log(site: Site, context: Context<HttpEnv>, { method, route, status, ms }: Answered): void {
  // A request that a guard refused may have neither.
  const { principal, requestId }: Partial<RequestFacts> = context.var;
  const facts = {
    method,
    route,
    status,
    ms: Math.round(ms),
    requestId,
    ...(principal === undefined ? {} : { principal: { id: principal.id, kind: principal.kind } }),
  };
  const path = site.basePath === "/" ? route : route.slice(site.basePath.length);
  if (status < BAD && isAskedByMachines(path)) site.log.debug?.(facts, "request");
  else site.log.info(facts, "request");
}
