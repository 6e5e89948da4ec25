import {
  type AuthorGate,
  type ConfirmationRules,
  type GateContext,
  meets,
  type ParseOutcome,
  readShape,
  type ToolDefinition,
} from "../../engine/index.ts";
import type { JsonObject } from "../../protocol/index.ts";
import { refuseReserved, type Tool } from "./tool.ts";
import type { ToolContext } from "./tool-context.ts";

/** Options of a {@link BaseTool}. */
export interface BaseToolOptions {
  readonly name: string;
  readonly description: string;
  readonly isLongRunning?: boolean;
}

/** A tool written as a class. The gate is asked before `runAsync`; after a denial `runAsync` is not called. */
export abstract class BaseTool implements Tool {
  readonly name: string;
  readonly description: string;
  readonly isLongRunning: boolean;
  readonly repeatable: boolean = false;
  readonly secrets: readonly string[] = [];

  constructor(options: BaseToolOptions) {
    refuseReserved(options.name);
    this.name = options.name;
    this.description = options.description;
    this.isLongRunning = options.isLongRunning ?? false;
  }

  abstract runAsync(request: { readonly args: JsonObject; readonly toolContext: ToolContext }): unknown;

  /** Does a call with these arguments need a person? Override one of this and `checkRequireConfirmation`. */
  requiresConfirmation(_args: JsonObject): boolean | Promise<boolean> {
    return false;
  }

  checkRequireConfirmation(args: JsonObject): boolean | Promise<boolean> {
    return this.requiresConfirmation(args);
  }

  /** JSON Schema of the arguments; without one, any object fits. */
  get parameters(): JsonObject {
    return { type: "object" };
  }

  get definition(): ToolDefinition {
    return { name: this.name, description: this.description, parameters: this.parameters };
  }

  get confirmation(): ConfirmationRules {
    return { approvers: "requester", hint: () => undefined };
  }

  parse(args: JsonObject): ParseOutcome<unknown> | Promise<ParseOutcome<unknown>> {
    return readShape<unknown>(this.parameters).parse(args);
  }

  async gates(args: unknown, context: GateContext): Promise<readonly AuthorGate[]> {
    const asks = (call: JsonObject): boolean | Promise<boolean> => this.checkRequireConfirmation(call);
    return (await meets(asks, args as JsonObject, context)) ? ["tool"] : [];
  }

  run(args: unknown, toolContext: ToolContext): unknown {
    return this.runAsync({ args: args as JsonObject, toolContext });
  }
}
