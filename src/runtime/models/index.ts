/**
 * Models: the interface, and one request to one. A provider's protocol lives behind the interface and nowhere else.
 * Decided here: how long a model may take and how long its answer may be; which parts of its answer are well formed; in
 * which order hooks see request and response. Every model passes `model.contract.ts`.
 */

export { askModel, checkSize } from "./ask-model.ts";
export type {
  GenerateOptions,
  Model,
  ModelChunk,
  ModelRequest,
  ModelResolver,
  ToolDeclaration,
} from "./model.ts";
