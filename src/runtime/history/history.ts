import {
  type Content,
  type ErrorCode,
  type FunctionCall,
  isReservedName,
  type JsonObject,
  member,
  type Part,
  type StoredEvent,
} from "../../protocol/index.ts";

/** Whose prompt is built, and what to say about open calls. */
export interface HistoryView {
  readonly agent: string;
  readonly branch?: string;
  /** The placeholder answer of an open call, by the call's id. */
  readonly openAnswer: (callId: string) => JsonObject;
}

/** A branch that starts with this mark is a nested run: it sees nothing outside itself. */
const ISOLATED = "~";

/**
 * The conversation as a model sees it: complete turns only. Each call is followed by its answer, in the order of the
 * calls, wherever in the history the answer was written. Confirmation messages are not in `content`, so they cannot
 * appear here.
 */
export function toContents(events: readonly StoredEvent[], view: HistoryView): Content[] {
  const seen = events.filter((event) => isVisible(event, view.branch));
  const { imported, made } = collectAnswers(seen);
  const contents: Content[] = [];
  for (const event of seen) {
    const answers = event.imported === undefined ? made : imported;
    const content = withoutProtocol(event.content, answers);
    if (content === undefined || content.parts.length === 0 || isOnlyAnswers(content)) continue;
    if (event.author === "user") {
      contents.push({ role: "user", parts: content.parts });
    } else if (event.author === view.agent) {
      contents.push({ role: "model", parts: content.parts });
      const calls = callsOf(content);
      if (calls.length > 0) contents.push(answersTo(calls, answers, view));
    } else {
      const parts = retold(event.author, content, { answers, view });
      if (parts.length > 0) contents.push({ role: "user", parts: [{ text: "For context:" }, ...parts] });
    }
  }
  return contents;
}

/** Does an agent in this branch see the event? It sees its ancestors and descendants, not its siblings. */
export function isVisible(event: StoredEvent, branch = ""): boolean {
  const { branch: other = "" } = event;
  if (event.partial === true) return false;
  if (other === branch) return true;
  if (isolationOf(branch) !== isolationOf(other)) return false;
  return isWithin(branch, other) || isWithin(other, branch);
}

function isWithin(inner: string, outer: string): boolean {
  return outer === "" || inner === outer || inner.startsWith(`${outer}.`);
}

function isolationOf(branch: string): string | undefined {
  return branch.startsWith(ISOLATED) ? branch.split(".", 1)[0] : undefined;
}

/** The branch of a nested run that answers this call. */
export function isolatedBranch(callId: string): string {
  return `${ISOLATED}${callId.replaceAll("%", "%25").replaceAll(".", "%2E")}`;
}

/** Does the event belong to a nested run? Its text is for the calling agent, not for the user. */
export function isNested({ branch = "" }: StoredEvent): boolean {
  return branch.startsWith(ISOLATED);
}

/** By the call's id. Imported answers belong only to imported calls. */
function collectAnswers(
  events: readonly StoredEvent[],
): Readonly<Record<"imported" | "made", ReadonlyMap<string, Part>>> {
  const [imported, made] = [new Map<string, Part>(), new Map<string, Part>()];
  for (const event of events) {
    const answers = event.imported === undefined ? made : imported;
    for (const part of event.content?.parts ?? []) {
      const id = part.functionResponse?.id;
      if (id !== undefined) answers.set(id, part);
    }
  }
  return { imported, made };
}

// An imported conversation may contain another server's confirmation messages.
function withoutProtocol(
  content: Content | undefined,
  answers: ReadonlyMap<string, Part>,
): Content | undefined {
  if (content === undefined || !content.parts.some(isProtocol)) return content;
  const parts = content.parts.filter((part) => !isProtocol(part) || wasRefused(part, answers));
  return parts.length === 0 ? undefined : { ...content, parts };
}

function isProtocol({ functionCall, functionResponse }: Part): boolean {
  if (functionCall !== undefined && isReservedName(functionCall.name)) return true;
  return functionResponse !== undefined && isReservedName(functionResponse.name);
}

// A model that tried such a call itself sees the answer that it got.
function wasRefused({ functionCall, functionResponse }: Part, answers: ReadonlyMap<string, Part>): boolean {
  const answer = functionResponse ?? answers.get(functionCall?.id ?? "")?.functionResponse;
  return answer !== undefined && member(answer.response, "code") === RESERVED;
}

const RESERVED: ErrorCode = "reserved-name";

function isOnlyAnswers({ parts }: Content): boolean {
  return parts.length > 0 && parts.every((part) => part.functionResponse !== undefined);
}

function callsOf({ parts }: Content): readonly FunctionCall[] {
  const calls: FunctionCall[] = [];
  for (const { functionCall } of parts) if (functionCall !== undefined) calls.push(functionCall);
  return calls;
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

/** Another agent's actions, as context: a model must not take them for its own. */
function retold(
  author: string,
  content: Content,
  { answers, view }: { readonly answers: ReadonlyMap<string, Part>; readonly view: HistoryView },
): readonly Part[] {
  return content.parts.flatMap(({ text, thought, functionCall: call }): Part[] => {
    if (text !== undefined && thought !== true) return [{ text: `[${author}] said: ${text}` }];
    if (call === undefined) return [];
    const response = answerTo(call, answers, view).functionResponse?.response ?? {};
    return [
      { text: `[${author}] called tool \`${call.name}\` with parameters: ${JSON.stringify(call.args)}` },
      { text: `[${author}] \`${call.name}\` tool returned result: ${JSON.stringify(response)}` },
    ];
  });
}
