// In place of `@langchain/langgraph/zod`, whose types extend zod's `ZodType`: zod-to-openapi's do too, and a program
// with both does not compile. This is all that the types of `langchain` need of it.
export type { InteropZodToStateDefinition } from "../../../node_modules/@langchain/langgraph/dist/graph/zod/meta.d.ts";
