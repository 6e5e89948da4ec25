import type { StandardSchema } from "../../engine/index.ts";
import { CountersignError, type JsonObject, toJsonValue } from "../../protocol/index.ts";

type Issues = readonly { readonly message: string; readonly path: readonly (string | number)[] }[];

/** The part of a zod 3 schema that is used here. Zod 4 can describe itself. */
interface Zod3Schema {
  readonly _def: Zod3Definition;
  safeParseAsync(
    value: unknown,
  ): Promise<
    | { readonly success: true; readonly data: unknown }
    | { readonly success: false; readonly error: { readonly issues: Issues } }
  >;
}

interface Zod3Definition {
  readonly typeName: string;
  readonly description?: string;
  readonly [member: string]: unknown;
}

export function isZod3(candidate: object): candidate is Zod3Schema {
  const { _def: definition } = candidate as { readonly _def?: { readonly typeName?: unknown } };
  return typeof definition?.typeName === "string" && definition.typeName.startsWith("Zod");
}

/** The schema as one that can describe itself: zod 3 cannot, and its early versions are no Standard Schema. */
export function fromZod3(schema: object): StandardSchema | undefined {
  if (!isZod3(schema)) return undefined;
  return {
    "~standard": {
      version: 1,
      vendor: "zod",
      validate: async (value) => {
        const result = await schema.safeParseAsync(value);
        return result.success ? { value: result.data } : { issues: result.error.issues };
      },
      jsonSchema: { input: () => describe(schema) },
    },
  };
}

type Writer = (definition: Zod3Definition) => JsonObject;

const inner = (member: string): Writer => {
  return (definition) => describe(definition[member] as Zod3Schema);
};
const options = (definition: Zod3Definition): readonly JsonObject[] =>
  (definition["options"] as readonly Zod3Schema[]).map(describe);

/** The JSON Schema of each kind, for the input, which is what a model sends. Checks in code are not included. */
const WRITERS: { readonly [typeName: string]: Writer } = {
  ZodString: (definition) => ({ type: "string", ...stringLimits(definition) }),
  ZodNumber: (definition) => numberShape(definition),
  ZodBoolean: () => ({ type: "boolean" }),
  ZodNull: () => ({ type: "null" }),
  ZodAny: () => ({}),
  ZodUnknown: () => ({}),
  ZodDate: () => ({ type: "string", format: "date-time" }),
  ZodLiteral: ({ value }) => ({ const: literal(value) }),
  ZodEnum: ({ values }) => ({ enum: values as string[] }),
  ZodNativeEnum: ({ values }) => ({ enum: enumValues(values as object) }),
  ZodObject: objectShape,
  ZodArray: arrayShape,
  ZodTuple: (definition) => tupleShape(definition),
  ZodRecord: ({ valueType }) => ({ type: "object", additionalProperties: describe(valueType as Zod3Schema) }),
  ZodUnion: (definition) => ({ anyOf: options(definition) }),
  ZodDiscriminatedUnion: (definition) => ({ anyOf: options(definition) }),
  ZodIntersection: ({ left, right }) => ({
    allOf: [describe(left as Zod3Schema), describe(right as Zod3Schema)],
  }),
  ZodNullable: (definition) => ({ anyOf: [inner("innerType")(definition), { type: "null" }] }),
  ZodDefault: (definition) => ({
    ...inner("innerType")(definition),
    ...defaultOf(definition["defaultValue"] as () => unknown),
  }),
  ZodOptional: inner("innerType"),
  ZodCatch: inner("innerType"),
  ZodReadonly: inner("innerType"),
  ZodBranded: inner("type"),
  ZodEffects: inner("schema"),
  ZodPipeline: inner("in"),
};

function describe({ _def: definition }: Zod3Schema): JsonObject {
  const write = Object.hasOwn(WRITERS, definition.typeName) ? WRITERS[definition.typeName] : undefined;
  if (write === undefined) {
    throw new CountersignError(
      "invalid-option",
      `${definition.typeName} cannot be converted to JSON Schema; use zod 4, or write the parameters as JSON Schema`,
    );
  }
  const { description } = definition;
  return { ...write(definition), ...(description === undefined ? {} : { description }) };
}

interface Check {
  readonly kind: string;
  readonly value?: number;
  readonly inclusive?: boolean;
  readonly regex?: RegExp;
}

function checksOf(definition: Zod3Definition): readonly Check[] {
  return (definition["checks"] ?? []) as readonly Check[];
}

const FORMATS: { readonly [kind: string]: string } = {
  email: "email",
  url: "uri",
  uuid: "uuid",
  datetime: "date-time",
  date: "date",
};

function stringLimits(definition: Zod3Definition): JsonObject {
  const limits: { [keyword: string]: string | number } = {};
  for (const { kind, value = 0, regex } of checksOf(definition)) {
    if (kind === "min" || kind === "length") limits["minLength"] = value;
    if (kind === "max" || kind === "length") limits["maxLength"] = value;
    if (kind === "regex" && regex !== undefined) limits["pattern"] = regex.source;
    const format = FORMATS[kind];
    if (format !== undefined) limits["format"] = format;
  }
  return limits;
}

function numberShape(definition: Zod3Definition): JsonObject {
  const shape: { [keyword: string]: string | number } = { type: "number" };
  for (const { kind, value = 0, inclusive } of checksOf(definition)) {
    if (kind === "int") shape["type"] = "integer";
    if (kind === "min") shape[inclusive === true ? "minimum" : "exclusiveMinimum"] = value;
    if (kind === "max") shape[inclusive === true ? "maximum" : "exclusiveMaximum"] = value;
    if (kind === "multipleOf") shape["multipleOf"] = value;
  }
  return shape;
}

function objectShape(definition: Zod3Definition): JsonObject {
  const members = Object.entries((definition["shape"] as () => { readonly [name: string]: Zod3Schema })());
  const required = members.filter(([, member]) => !isOptional(member)).map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries(members.map(([name, member]) => [name, describe(member)])),
    ...(required.length === 0 ? {} : { required }),
    ...(definition["unknownKeys"] === "strict" ? { additionalProperties: false } : {}),
  };
}

function isOptional({ _def: definition }: Zod3Schema): boolean {
  if (["ZodOptional", "ZodDefault", "ZodCatch"].includes(definition.typeName)) return true;
  const within = definition["innerType"] ?? definition["schema"] ?? definition["in"];
  return definition.typeName !== "ZodNullable" && within !== undefined && isOptional(within as Zod3Schema);
}

function arrayShape(definition: Zod3Definition): JsonObject {
  const limit = (name: string): number | undefined =>
    (definition[name] as { readonly value: number } | null | undefined)?.value;
  const least = limit("exactLength") ?? limit("minLength");
  const most = limit("exactLength") ?? limit("maxLength");
  return {
    type: "array",
    items: describe(definition["type"] as Zod3Schema),
    ...(least === undefined ? {} : { minItems: least }),
    ...(most === undefined ? {} : { maxItems: most }),
  };
}

function tupleShape(definition: Zod3Definition): JsonObject {
  const items = (definition["items"] as readonly Zod3Schema[]).map(describe);
  const rest = definition["rest"] as Zod3Schema | null;
  return {
    type: "array",
    prefixItems: items,
    minItems: items.length,
    items: rest === null ? false : describe(rest),
  };
}

function literal(value: unknown): JsonObject[string] {
  const json = toJsonValue(value);
  if (json.ok) return json.value;
  throw new CountersignError("invalid-option", "a literal that is not JSON cannot be sent to a model");
}

// The compiler writes a numeric enum in both directions; only the values of names count.
function enumValues(values: object): readonly (string | number)[] {
  const entries = Object.entries(values) as [string, string | number][];
  return entries.filter(([name]) => Number.isNaN(Number(name))).map(([, value]) => value);
}

function defaultOf(value: () => unknown): JsonObject {
  const json = toJsonValue(value());
  return json.ok ? { default: json.value } : {};
}
