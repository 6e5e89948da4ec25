import { HttpAgent, verifyEvents } from "@ag-ui/client";
import type { BaseEvent, Interrupt, Message, ResumeEntry, RunAgentInput } from "@ag-ui/core";
import { EventSchemas } from "@ag-ui/core/schemas";
import { from, lastValueFrom, toArray } from "rxjs";
import type { ApprovalsServer } from "../approvals/approvals-server.ts";

/** One event as it came, after AG-UI's own schemas have accepted it. */
export interface Told extends Omit<BaseEvent, "type"> {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** A request that the server answered. */
export interface Answered {
  readonly status: number;
  readonly events: readonly Told[];
  /** The problem, if it was refused as a whole. */
  readonly problem?: { readonly code: string };
}

/** AG-UI's own client, as somebody's front end; its requests reach the server in this process. */
export function agentOf(server: ApprovalsServer, person: string, threadId = "t1"): HttpAgent {
  return new HttpAgent({
    url: "http://127.0.0.1/agui/bank",
    threadId,
    headers: { authorization: person },
    fetch: (url, init) => server.app.fetch(new Request(url, init)),
  });
}

/** Sends a message with AG-UI's client, which checks every event; gives what the thread then waits for. */
export async function say(agent: HttpAgent, text: string): Promise<readonly Interrupt[]> {
  agent.addMessage({ id: crypto.randomUUID(), role: "user", content: text });
  await agent.runAgent({ resume: agent.pendingInterrupts.map(({ id }) => later(id)) });
  return agent.pendingInterrupts;
}

/** Answers every interrupt of the thread, each with its own payload. */
export async function answer(agent: HttpAgent, ...payloads: readonly object[]): Promise<void> {
  const resume = agent.pendingInterrupts.map(({ id: interruptId }, place) => {
    const payload = payloads[place] ?? payloads[0];
    return { interruptId, status: "resolved" as const, payload };
  });
  await agent.runAgent({ resume });
}

export function later(interruptId: string): ResumeEntry {
  return { interruptId, status: "cancelled" };
}

export function approve(interruptId: string): ResumeEntry {
  return { interruptId, status: "resolved", payload: { approved: true } };
}

let runs = 0;

/** A request written by hand, with a run id of its own unless one is given. */
export async function post(
  server: ApprovalsServer,
  person: string,
  input: Partial<RunAgentInput> | { readonly [member: string]: unknown },
): Promise<Answered> {
  runs += 1;
  const body = { threadId: "t1", runId: `r${runs}`, messages: [], tools: [], context: [], ...input };
  const response = await server.app.fetch(
    new Request("http://127.0.0.1/agui/bank", {
      method: "POST",
      headers: { authorization: person, "content-type": "application/json" },
      body: JSON.stringify(body),
    }),
  );
  const text = await response.text();
  if (!response.ok) {
    const problem = JSON.parse(text) as { readonly code: string };
    return { status: response.status, events: [], problem };
  }
  const chunks = text.split("\n\n").filter((chunk) => chunk !== "");
  const events = chunks.map((chunk) => {
    if (!chunk.startsWith("data: ")) throw new Error(`Not an event: ${chunk}`);
    return EventSchemas.parse(JSON.parse(chunk.slice("data: ".length)));
  });
  await lastValueFrom(from(events as readonly BaseEvent[]).pipe(verifyEvents(), toArray()));
  return { status: response.status, events };
}

/** A user's message with an id of its own. */
export function words(content: string): Message {
  return { id: crypto.randomUUID(), role: "user", content };
}

/** The events of one type. */
export function told({ events }: Answered, type: string): readonly Told[] {
  return events.filter((event) => event.type === type);
}

/** What the run waits for, according to its last event. */
export function interruptsIn({ events }: Answered): readonly Interrupt[] {
  const outcome = events.at(-1)?.["outcome"] as { readonly interrupts?: readonly Interrupt[] } | undefined;
  return outcome?.interrupts ?? [];
}
