import { CountersignError, type JsonObject, member } from "../../protocol/index.ts";

/** The argument that holds the agent's folder. Tools have arguments called `cwd` of their own. */
const FOLDER = "agent_cwd";

const LONGEST_NAME = 768;

/** The arguments of the call: the tool's input and the folder, which is approved with it and cannot be changed. */
export function boundTo(
  cwd: string | undefined,
  input: JsonObject,
): { readonly args: JsonObject; readonly amendable: true | readonly string[] } {
  if (Object.hasOwn(input, FOLDER))
    throw new CountersignError(
      "malformed-request",
      `The tool's input has a member "${FOLDER}", which is reserved for the agent's folder.`,
    );
  if (cwd === undefined) return { args: input, amendable: true };
  const amendable = Object.keys(input).filter((name) => name !== "" && name.length <= LONGEST_NAME);
  return { args: { ...input, [FOLDER]: cwd }, amendable };
}

/** The tool's input in approved arguments. Throws `arguments-mismatch` if they were approved for another folder. */
export function inputOf(args: JsonObject, cwd: string | undefined): JsonObject {
  const folder = member(args, FOLDER);
  if (folder !== cwd)
    throw new CountersignError(
      "arguments-mismatch",
      "The approval is for another folder. The tool must not run.",
    );
  const { [FOLDER]: _, ...input } = args;
  return input;
}
