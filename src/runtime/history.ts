import {
  type Content,
  type FunctionCall,
  isReservedName,
  type JsonObject,
  type Part,
  type StoredEvent,
} from "../protocol/index.ts";

/** Whose prompt is built, and what to say of calls that have no answer yet. */
export interface HistoryView {
  readonly agent: string;
  readonly branch?: string;
  /** The answer that stands in for a call's own, by the call's id. */
  readonly openAnswer: (callId: string) => JsonObject;
}

/** A branch that begins with this mark is a nested run of its own: it sees nothing of what is around it. */
export const ISOLATED = "~";

/**
 * The conversation as a model is to see it: complete turns only. Each call is followed by its answer, in the
 * order of the calls, wherever in the history the answer was written; confirmation traffic is not in
 * `content`, so it cannot be here.
 */
export function toContents(events: readonly StoredEvent[], view: HistoryView): Content[] {
  const seen = events.filter((event) => isVisible(event, view.branch));
  const answers = collectAnswers(seen);
  const contents: Content[] = [];
  for (const event of seen) {
    const content = withoutProtocol(event.content);
    if (content === undefined || isOnlyAnswers(content)) continue;
    if (event.author === "user") {
      contents.push({ role: "user", parts: content.parts });
    } else if (event.author === view.agent) {
      contents.push({ role: "model", parts: content.parts });
      const calls = callsOf(content);
      if (calls.length > 0) contents.push(answersTo(calls, answers, view));
    } else {
      contents.push(retold(event.author, content, { answers, view }));
    }
  }
  return contents;
}

function isVisible(event: StoredEvent, branch: string | undefined): boolean {
  if (event.partial === true) return false;
  const own = isolationOf(branch);
  if (own !== isolationOf(event.branch)) return false;
  if (event.branch === undefined || event.branch === own) return true;
  return branch !== undefined && (branch === event.branch || branch.startsWith(`${event.branch}.`));
}

function isolationOf(branch: string | undefined): string | undefined {
  if (branch === undefined || !branch.startsWith(ISOLATED)) return undefined;
  return branch.split(".", 1)[0];
}

function collectAnswers(events: readonly StoredEvent[]): ReadonlyMap<string, Part> {
  const answers = new Map<string, Part>();
  for (const { content } of events) {
    for (const part of content?.parts ?? []) {
      const id = part.functionResponse?.id;
      if (id !== undefined) answers.set(id, part);
    }
  }
  return answers;
}

// An imported conversation may carry another server's confirmation traffic.
function withoutProtocol(content: Content | undefined): Content | undefined {
  if (content === undefined || !content.parts.some(isProtocol)) return content;
  const parts = content.parts.filter((part) => !isProtocol(part));
  return parts.length === 0 ? undefined : { ...content, parts };
}

function isProtocol({ functionCall, functionResponse }: Part): boolean {
  const name = functionCall?.name ?? functionResponse?.name;
  return name !== undefined && isReservedName(name);
}

function isOnlyAnswers({ parts }: Content): boolean {
  return parts.length > 0 && parts.every((part) => part.functionResponse !== undefined);
}

function callsOf({ parts }: Content): readonly FunctionCall[] {
  return parts.flatMap(({ functionCall }) => (functionCall === undefined ? [] : [functionCall]));
}

function answersTo(
  calls: readonly FunctionCall[],
  answers: ReadonlyMap<string, Part>,
  view: HistoryView,
): Content {
  return { role: "user", parts: calls.map((call) => answerTo(call, answers, view)) };
}

function answerTo(call: FunctionCall, answers: ReadonlyMap<string, Part>, view: HistoryView): Part {
  const id = call.id ?? "";
  return answers.get(id) ?? { functionResponse: { id, name: call.name, response: view.openAnswer(id) } };
}

/** Another agent's doings, told as context: a model must not take them for its own. */
function retold(
  author: string,
  content: Content,
  { answers, view }: { readonly answers: ReadonlyMap<string, Part>; readonly view: HistoryView },
): Content {
  const parts: Part[] = [{ text: "For context:" }];
  for (const part of content.parts) {
    if (part.text !== undefined && part.thought !== true)
      parts.push({ text: `[${author}] said: ${part.text}` });
    const call = part.functionCall;
    if (call === undefined) continue;
    const answer = answerTo(call, answers, view).functionResponse?.response ?? {};
    parts.push({
      text: `[${author}] called tool \`${call.name}\` with parameters: ${JSON.stringify(call.args)}`,
    });
    parts.push({ text: `[${author}] \`${call.name}\` tool returned result: ${JSON.stringify(answer)}` });
  }
  return { role: "user", parts };
}
