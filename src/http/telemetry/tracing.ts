import {
  context as contexts,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  type SpanOptions,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api";
import type { Traced } from "../../engine/index.ts";

/**
 * OpenTelemetry spans for decisions, claims, tools and models: pass it as `trace` to an Engine or a Runner. Spans nest.
 * Tools and models have the names of the GenAI semantic conventions. Does nothing if the host program has not set up
 * OpenTelemetry.
 */
export async function openTelemetry<T>(traced: Traced, work: () => Promise<T>): Promise<T> {
  const { name, options } = spanOf(traced);
  return trace.getTracer("countersign").startActiveSpan(name, options, (span) => ended(span, work));
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
