import {
  context as contexts,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import type { Traced } from "../../engine/index.ts";

/**
 * OpenTelemetry spans for decisions, claims, tools and models: pass it as `trace` to an Engine or a Runner. Spans nest.
 * Does nothing if the host program has not set up OpenTelemetry.
 */
export async function openTelemetry<T>({ name, attributes }: Traced, work: () => Promise<T>): Promise<T> {
  return trace
    .getTracer("countersign")
    .startActiveSpan(`countersign.${name}`, { attributes }, (span) => ended(span, work));
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
