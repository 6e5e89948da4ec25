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

/** Whose prompt is built. */
export interface HistoryView {
  readonly agent: string;
  readonly branch?: string;
}

/** The placeholder answer of an open call, by the call's id. */
type OpenAnswer = (callId: string) => JsonObject;

/** A branch that starts with this mark is a nested run: it sees nothing outside itself. */
const ISOLATED = "~";

/** The answers that events give, by the call's id. Imported answers belong only to imported calls. */
interface Answers {
  readonly made: Map<string, Part>;
  readonly imported: Map<string, Part>;
}

/**
 * The conversation as a model sees it: complete turns only. Each call is followed by its answer, in the order of the
 * calls, wherever in the history the answer was written. Confirmation messages are not in `content`, so they cannot
 * appear here.
 */
export class Conversation {
  readonly #view: HistoryView;
  readonly #answers: Answers = { made: new Map(), imported: new Map() };
  /** Of events whose calls all have their answers: nothing that follows changes it. */
  readonly #settled: Content[] = [];
  /** The events behind them. */
  #rest: StoredEvent[] = [];

  constructor(view: HistoryView) {
    this.#view = view;
  }

  /** False if it answers a call anew that is settled: then the conversation must be read from its start. */
  add(event: StoredEvent): boolean {
    if (!isVisible(event, this.#view.branch)) return true;
    this.#rest.push(event);
    const answers = this.#answersFor(event);
    for (const part of event.content?.parts ?? []) {
      const id = part.functionResponse?.id;
      if (id === undefined) continue;
      if (this.#settled.length > 0 && answers.has(id)) return false;
      answers.set(id, part);
    }
    return true;
  }

  /** What the model gets. */
  contents(openAnswer: OpenAnswer): Content[] {
    const open = this.#rest.findIndex((event) => !hasAnswers(event, this.#answersFor(event)));
    const settled = open < 0 ? this.#rest : this.#rest.slice(0, open);
    this.#rest = open < 0 ? [] : this.#rest.slice(open);
    for (const event of settled) this.#tell(event, this.#settled, openAnswer);
    const contents = [...this.#settled];
    for (const event of this.#rest) this.#tell(event, contents, openAnswer);
    // Copied, because hooks may change what a model gets.
    return contents.map((content) => ({ ...content, parts: [...content.parts] }));
  }

  #answersFor({ imported }: StoredEvent): Map<string, Part> {
    return imported === undefined ? this.#answers.made : this.#answers.imported;
  }

  #tell(event: StoredEvent, contents: Content[], openAnswer: OpenAnswer): void {
    const answers = this.#answersFor(event);
    const content = withoutProtocol(event.content, answers);
    if (content === undefined || content.parts.length === 0 || isOnlyAnswers(content)) return;
    if (event.author === "user") {
      contents.push({ role: "user", parts: content.parts });
    } else if (event.author === this.#view.agent) {
      contents.push({ role: "model", parts: content.parts });
      const calls = callsOf(content);
      if (calls.length > 0) contents.push(answersTo(calls, answers, openAnswer));
    } else {
      const parts = retold(event.author, content, { answers, openAnswer });
      if (parts.length > 0) contents.push({ role: "user", parts: [{ text: "For context:" }, ...parts] });
    }
  }
}

function hasAnswers({ content }: StoredEvent, answers: ReadonlyMap<string, Part>): boolean {
  for (const { functionCall } of content?.parts ?? [])
    if (functionCall !== undefined && !answers.has(functionCall.id ?? "")) return false;
  return true;
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
  openAnswer: OpenAnswer,
): Content {
  return { role: "user", parts: calls.map((call) => answerTo(call, answers, openAnswer)) };
}

function answerTo(call: FunctionCall, answers: ReadonlyMap<string, Part>, openAnswer: OpenAnswer): Part {
  const id = call.id ?? "";
  return answers.get(id) ?? { functionResponse: { id, name: call.name, response: openAnswer(id) } };
}

/** Another agent's actions, as context: a model must not take them for its own. */
function retold(
  author: string,
  content: Content,
  { answers, openAnswer }: { readonly answers: ReadonlyMap<string, Part>; readonly openAnswer: OpenAnswer },
): readonly Part[] {
  return content.parts.flatMap(({ text, thought, functionCall: call }): Part[] => {
    if (text !== undefined && thought !== true) return [{ text: `[${author}] said: ${text}` }];
    if (call === undefined) return [];
    const response = answerTo(call, answers, openAnswer).functionResponse?.response ?? {};
    return [
      { text: `[${author}] called tool \`${call.name}\` with parameters: ${JSON.stringify(call.args)}` },
      { text: `[${author}] \`${call.name}\` tool returned result: ${JSON.stringify(response)}` },
    ];
  });
}
