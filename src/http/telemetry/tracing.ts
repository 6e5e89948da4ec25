import {
  context as contexts,
  isSpanContextValid,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import type { Trace, Traced, TraceLink } from "../../engine/index.ts";

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
const HEX = 16;

/**
 * OpenTelemetry spans for decisions, claims, tools and models: pass it as `trace` to an Engine or a Runner. Spans nest.
 * Tools and models have the names of the GenAI semantic conventions. What follows the wait for a person (`decide`,
 * `claim`, `execute_tool`) has a link to the span that asked. Does nothing if the host program has not set up
 * OpenTelemetry.
 */
export const openTelemetry: Trace = Object.assign(inSpan, { current: currentSpan });

async function inSpan<T>(traced: Traced, work: (link?: TraceLink) => Promise<T>): Promise<T> {
  const { name, options } = spanOf(traced);
  const tracer = trace.getTracer("countersign");
  return tracer.startActiveSpan(name, options, (span) =>
    ended(span, () => work((traceparent) => linkTo(span, traceparent))),
  );
}

function currentSpan(): string | undefined {
  const context = trace.getActiveSpan()?.spanContext();
  if (context === undefined || !isSpanContextValid(context)) return undefined;
  const { traceId, spanId, traceFlags } = context;
  return `00-${traceId}-${spanId}-${traceFlags.toString(HEX).padStart(2, "0")}`;
}

// What is stored came from this function, or from somebody who was at the database.
function linkTo(span: Span, traceparent = ""): void {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return;
  const context = { traceId, spanId, traceFlags: Number.parseInt(flags, HEX), isRemote: true };
  span.addLink({ context, attributes: { "countersign.link": "request" } });
}

function spanOf({ name, attributes }: Traced): { readonly name: string; readonly options: SpanOptions } {
  const named = (attribute: string): string => attributes[attribute] ?? "";
  switch (name) {
    case "tool": {
      const conventional = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": named("countersign.tool"),
        "gen_ai.tool.call.id": named("countersign.call"),
      };
      const options = { attributes: { ...attributes, ...conventional } };
      return { name: `execute_tool ${named("countersign.tool")}`, options };
    }
    case "model": {
      const conventional = {
        "gen_ai.operation.name": "chat",
        "gen_ai.agent.name": named("countersign.agent"),
      };
      const options = { kind: SpanKind.CLIENT, attributes: { ...attributes, ...conventional } };
      return { name: "chat", options };
    }
    default:
      return { name: `countersign.${name}`, options: { attributes } };
  }
}

/** A request's own span, a child of the one that its sender names (W3C Trace Context). */
export async function inServerSpan<T>(request: Request, work: (span: Span) => Promise<T>): Promise<T> {
  const parent = propagation.extract(ROOT_CONTEXT, request.headers, {
    get: (headers, key) => headers.get(key) ?? undefined,
    keys: (headers) => [...headers.keys()],
  });
  const attributes = { "http.request.method": request.method };
  const options = { kind: SpanKind.SERVER, attributes };
  const span = trace.getTracer("countersign").startSpan(request.method, options, parent);
  return contexts.with(trace.setSpan(parent, span), () => ended(span, () => work(span)));
}

async function ended<T>(span: Span, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    span.recordException(error instanceof Error ? error : String(error));
    span.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span.end();
  }
}
