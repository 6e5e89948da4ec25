import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { convertToModelMessages, isStepCount, type ModelMessage, streamText, tool, type UIMessage } from "ai";
import { z } from "zod";
import { gateTools } from "../../../src/adapters/ai-sdk/index.ts";
import type { Engine } from "../../../src/engine/index.ts";
import { toNodeHandler } from "../../../src/http/node/index.ts";
import { scripted } from "../../adapters/subjects/ai-sdk.ts";
import type { Resources } from "../../support/resources.ts";

const PAGE = /^\/(?:assets\/[\w.-]+)?$/;
const TYPES: Readonly<Record<string, string>> = { js: "text/javascript", html: "text/html" };

/** A server behind `useChat`, with one conversation. The cookie `user` says who is logged in. */
export async function startChat(
  resources: Resources,
  { engine, files }: { readonly engine: Engine; readonly files: string },
): Promise<{ readonly url: string; readonly paid: readonly number[] }> {
  const paid: number[] = [];
  const pay = tool({
    description: "Pays an amount.",
    inputSchema: z.object({ amount: z.number() }),
    execute: async ({ amount }) => {
      paid.push(amount);
      return { paid: amount };
    },
  });
  const rule = { approvers: { users: ["ana"] }, amendable: ["amount"] };
  const gate = gateTools({ engine, app: "shop", thread: "chat-1", tools: { pay }, rules: { pay: rule } });

  const stream = (shown: UIMessage[], messages: ModelMessage[]): Response => {
    const { tools, toolApproval } = gate;
    const model = scripted([{ id: "call-1", tool: "pay", args: { amount: 40 } }], {});
    const result = streamText({ model, messages, tools, toolApproval, stopWhen: isStepCount(3) });
    return result.toUIMessageStreamResponse({
      originalMessages: shown,
      // The page and the server must call a message by one id, or what goes on later finds nothing to add to.
      generateMessageId: () => crypto.randomUUID(),
    });
  };

  const chat = async (request: Request): Promise<Response> => {
    const { messages } = (await request.json()) as { messages: UIMessage[] };
    const sent = await convertToModelMessages(messages, { tools: gate.tools });
    if (messages.at(-1)?.role === "user") return stream(messages, sent);
    const user = /user=(\w+)/.exec(request.headers.get("cookie") ?? "")?.[1] ?? "nobody";
    await gate.record(sent, { by: { id: user, authenticated: true } });
    const resumption = await gate.resume(sent);
    return resumption.ready
      ? stream(messages, resumption.messages)
      : new Response("It waits.", { status: 409 });
  };

  const pages = new Set<ReadableStreamDefaultController<Uint8Array>>();
  const listening = (): Response => {
    let listener: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start: (page) => {
        listener = page;
        pages.add(page);
        page.enqueue(new TextEncoder().encode(": hello\n\n"));
      },
      cancel: () => {
        if (listener !== undefined) pages.delete(listener);
      },
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  };
  const notices = engine.callers.onReady({ app: "shop" }, async () => {
    for (const page of pages) page.enqueue(new TextEncoder().encode("data: ready\n\n"));
  });
  await notices.started;
  resources.add(() => notices.stop());

  const fetch = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url);
    if (pathname === "/chat") return chat(request);
    if (pathname === "/ready") return listening();
    if (!PAGE.test(pathname)) return new Response(null, { status: 404 });
    const file = pathname === "/" ? "index.html" : pathname.slice(1);
    const type = TYPES[file.split(".").at(-1) ?? ""] ?? "text/plain";
    return new Response(await readFile(join(files, file)), { headers: { "content-type": type } });
  };
  const server = createServer(toNodeHandler({ fetch }));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  resources.add(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paid };
}
