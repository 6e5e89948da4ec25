import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from "../../src/protocol/index.ts";

/** One operation, as the OpenAPI document describes it. */
export interface Operation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  readonly body?: JsonObject;
  /** The schema of its answer where that is JSON. */
  readonly answer?: JsonObject;
  /** Answers errors as the ADK does. */
  readonly isAdk: boolean;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: JsonObject;
}

/** Every operation of the document. */
export function operationsOf(document: JsonObject): readonly Operation[] {
  return entriesIn(document["paths"]).flatMap(([path, methods]) =>
    entriesIn(methods).map(([method, described]) => toOperation(path, method, objectOf(described))),
  );
}

function toOperation(path: string, method: string, described: JsonObject): Operation {
  const body = schemaIn(objectOf(described["requestBody"])["content"]);
  const answer = schemaIn(objectOf(objectOf(described["responses"])["200"])["content"]);
  const parameters = (isJsonArray(described["parameters"]) ? described["parameters"] : []).map((one) => {
    const { name, required, schema, in: place } = objectOf(one);
    return {
      name: name as string,
      in: place as string,
      required: required === true,
      schema: objectOf(schema),
    };
  });
  const tags = isJsonArray(described["tags"]) ? described["tags"] : [];
  return {
    method: method.toUpperCase(),
    path,
    parameters,
    ...(body === undefined ? {} : { body }),
    ...(answer === undefined ? {} : { answer }),
    isAdk: tags.includes("ADK"),
  };
}

function schemaIn(content: JsonValue | undefined): JsonObject | undefined {
  const schema = objectOf(objectOf(content)["application/json"])["schema"];
  return isJsonObject(schema) ? schema : undefined;
}

/** A value as an object; anything else is an empty one. */
export function objectOf(value: JsonValue | undefined): JsonObject {
  return isJsonObject(value) ? value : {};
}

function entriesIn(value: JsonValue | undefined): readonly (readonly [string, JsonValue])[] {
  return Object.entries(objectOf(value));
}
