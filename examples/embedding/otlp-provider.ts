// The least that sends spans to an OpenTelemetry collector as OTLP/HTTP JSON. A real program uses the OpenTelemetry SDK.

import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import {
  type Attributes,
  type Context,
  type ContextManager,
  context as contexts,
  type Link,
  ROOT_CONTEXT,
  type Span,
  type SpanContext,
  type SpanOptions,
  SpanStatusCode,
  type Tracer,
  trace,
} from "@opentelemetry/api";

/** A span as OTLP has it in JSON. */
export interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly OtlpAttribute[];
  readonly links: readonly {
    readonly traceId: string;
    readonly spanId: string;
    readonly attributes: readonly OtlpAttribute[];
  }[];
  readonly status: { readonly code?: number };
}

interface OtlpAttribute {
  readonly key: string;
  readonly value: { readonly stringValue: string };
}

/** What a collector gets at `/v1/traces`. */
export interface OtlpTraces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly OtlpAttribute[] };
    readonly scopeSpans: readonly {
      readonly scope: { readonly name: string };
      readonly spans: readonly OtlpSpan[];
    }[];
  }[];
}

/** Sets up OpenTelemetry for this process. Spans are sent when `flush` is called. */
export function setUpOpenTelemetry(
  collector: string,
  service: string,
): { readonly flush: () => Promise<void> } {
  const ended: OtlpSpan[] = [];
  contexts.setGlobalContextManager(new AsyncContexts());
  trace.setGlobalTracerProvider({ getTracer: () => tracerInto(ended) });
  return {
    async flush() {
      const scopeSpans = [{ scope: { name: "countersign" }, spans: ended.splice(0) }];
      const resource = { attributes: attributesOf({ "service.name": service }) };
      const body: OtlpTraces = { resourceSpans: [{ resource, scopeSpans }] };
      const headers = { "content-type": "application/json" };
      const sent = await fetch(`${collector}/v1/traces`, {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      if (!sent.ok) throw new Error(`The collector answered ${sent.status}.`);
    },
  };
}

class AsyncContexts implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();

  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT;
  }

  with: ContextManager["with"] = (context, work, self, ...args) =>
    this.#storage.run(context, () => work.apply(self as never, args));

  bind<T>(_context: Context, target: T): T {
    return target;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    return this;
  }
}

function tracerInto(ended: OtlpSpan[]): Tracer {
  const startSpan: Tracer["startSpan"] = (name, options = {}, context = contexts.active()) =>
    newSpan({ name, options, parent: trace.getSpanContext(context) }, ended);
  const startActiveSpan = (name: string, options: SpanOptions, work: (span: Span) => unknown): unknown => {
    const span = startSpan(name, options);
    return contexts.with(trace.setSpan(contexts.active(), span), () => work(span));
  };
  return { startSpan, startActiveSpan: startActiveSpan as Tracer["startActiveSpan"] };
}

interface Started {
  readonly name: string;
  readonly options: SpanOptions;
  readonly parent: SpanContext | undefined;
}

function newSpan({ name: first, options, parent }: Started, ended: OtlpSpan[]): Span {
  const spanId = randomBytes(8).toString("hex");
  const traceId = parent?.traceId ?? randomBytes(16).toString("hex");
  const attributes: Attributes = { ...options.attributes };
  const links: Link[] = [...(options.links ?? [])];
  const startedAt = Date.now();
  let name = first;
  let code: SpanStatusCode = SpanStatusCode.UNSET;
  const span = trace.wrapSpanContext({ traceId, spanId, traceFlags: 1 });
  return Object.assign(span, {
    isRecording: () => true,
    updateName: (changed: string) => ((name = changed), span),
    setAttribute: (key: string, value: string) => ((attributes[key] = value), span),
    setAttributes: (more: Attributes) => (Object.assign(attributes, more), span),
    setStatus: (status: { readonly code: SpanStatusCode }) => ((code = status.code), span),
    addLink: (link: Link) => (links.push(link), span),
    end: () => {
      ended.push({
        traceId,
        spanId,
        ...(parent === undefined ? {} : { parentSpanId: parent.spanId }),
        name,
        kind: (options.kind ?? 0) + 1,
        startTimeUnixNano: `${startedAt}000000`,
        endTimeUnixNano: `${Date.now()}000000`,
        attributes: attributesOf(attributes),
        links: links.map(({ context, attributes: of = {} }) => ({
          traceId: context.traceId,
          spanId: context.spanId,
          attributes: attributesOf(of),
        })),
        status: { code },
      });
    },
  });
}

function attributesOf(attributes: Attributes): readonly OtlpAttribute[] {
  return Object.entries(attributes).map(([key, value]) => ({ key, value: { stringValue: String(value) } }));
}
