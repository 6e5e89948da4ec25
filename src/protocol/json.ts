/** Any value that JSON can say. What crosses a boundary or reaches the ledger is one of these. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | JsonObject;

/** A JSON object. Keys are data: look members up with {@link member}, never through the prototype. */
export interface JsonObject {
  readonly [key: string]: JsonValue;
}
