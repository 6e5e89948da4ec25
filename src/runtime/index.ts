export type {
  GenerateOptions,
  Model,
  ModelChunk,
  ModelRequest,
  ModelResolver,
  ToolDeclaration,
} from "./model.ts";
