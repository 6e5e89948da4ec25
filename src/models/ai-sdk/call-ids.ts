import type { Content, FunctionCall, FunctionResponse, Part } from "../../protocol/index.ts";

/**
 * The same conversation in which every call has an id, and its response the same one: the AI SDK knows no others.
 * Stored calls already have one; others get one by position, and responses are matched by name and order.
 */
export function nameCalls(contents: readonly Content[]): Content[] {
  const unanswered: FunctionCall[] = [];
  let calls = 0;
  const nameCall = (call: FunctionCall): FunctionCall => {
    calls += 1;
    const named = { ...call, id: call.id ?? `call-${calls}` };
    unanswered.push(named);
    return named;
  };
  const nameResponse = (response: FunctionResponse): FunctionResponse => {
    const isAnswered = ({ id, name }: FunctionCall): boolean =>
      response.id === undefined ? name === response.name : id === response.id;
    const index = unanswered.findIndex(isAnswered);
    const [call] = index < 0 ? [] : unanswered.splice(index, 1);
    return { ...response, id: response.id ?? call?.id ?? `call-${calls}` };
  };
  return contents.map((content) => ({
    ...content,
    parts: content.parts.map((part): Part => {
      if (part.functionCall !== undefined) return { ...part, functionCall: nameCall(part.functionCall) };
      if (part.functionResponse === undefined) return part;
      return { ...part, functionResponse: nameResponse(part.functionResponse) };
    }),
  }));
}
