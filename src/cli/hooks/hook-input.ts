import { CountersignError, isJsonObject, type JsonObject, member, parseJson } from "../../protocol/index.ts";

/** What an agent's documentation says of the input of its hook. */
export interface InputShape {
  readonly agentTitle: string;
  readonly event: string;
  readonly members: readonly string[];
}

/** The members that every agent sends. */
export interface HookInput {
  readonly session: string;
  readonly tool: string;
  readonly input: JsonObject;
  readonly cwd: string;
  /** The member, which must be a text. */
  readonly text: (name: string) => string;
}

/**
 * Reads the JSON that an agent gives to its hook. Throws `malformed-request` for another event, for what is missing,
 * and for members that are neither documented nor in `ignored`: they could change what would run.
 */
export function readHookInput(text: string, shape: InputShape, ignored: readonly string[]): HookInput {
  const parsed = parseJson(text);
  if (!parsed.ok) throw malformed(`The hook's input cannot be read: ${parsed.message}`);
  const { value } = parsed;
  if (!isJsonObject(value)) throw malformed("The hook's input must be a JSON object.");
  const known = new Set([...shape.members, ...ignored]);
  const stranger = Object.keys(value).find((name) => !known.has(name));
  if (stranger !== undefined)
    throw malformed(
      `The hook's input has a member "${stranger}" that this version does not know. Update Countersign, or add --ignore ${stranger} if it does not matter.`,
    );
  const textOf = (name: string): string => textMember(value, name);
  const event = textOf("hook_event_name");
  if (event !== shape.event)
    throw malformed(
      `This hook is for the event ${shape.event} of ${shape.agentTitle}, but was called for ${event}.`,
    );
  const input = member(value, "tool_input");
  if (!isJsonObject(input)) throw malformed("tool_input in the hook's input must be an object.");
  return {
    session: textOf("session_id"),
    tool: textOf("tool_name"),
    input,
    cwd: textOf("cwd"),
    text: textOf,
  };
}

function textMember(value: JsonObject, name: string): string {
  const found = member(value, name);
  if (typeof found === "string" && found !== "") return found;
  throw malformed(`${name} in the hook's input must be a text.`);
}

function malformed(message: string): CountersignError {
  return new CountersignError("malformed-request", message);
}
