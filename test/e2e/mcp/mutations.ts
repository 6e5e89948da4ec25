import type { Random } from "../../support/random.ts";

/** A message while it is being spelt: members in order, so that one can be there twice. */
interface Draft {
  /** Name and value of each member, as JSON texts. */
  readonly envelope: [string, string][];
  readonly params: [string, string][];
  /** How the parameters are written in the end. */
  wrapParams: (params: string) => string;
  /** How all of it is. */
  readonly wraps: ((text: string) => string | Buffer)[];
}

export interface Mutated {
  readonly bytes: Buffer;
  readonly kinds: readonly string[];
}

type Mutation = (draft: Draft, random: Random) => void;

const GATED = '"delete_file"';
const CALL = '"tools/call"';

function pick<T>(random: Random, from: readonly T[]): T {
  return from[random.below(from.length)] as T;
}

function member(members: [string, string][], name: string): [string, string] {
  const found = members.find(([key]) => key === `"${name}"`);
  if (found === undefined) throw new Error(`no ${name}`);
  return found;
}

const respell = (random: Random, text: string): string =>
  pick(random, [
    text.toUpperCase(),
    text.replace(/[a-z]/, (letter) => letter.toUpperCase()),
    text.replace("s", "ſ"),
    `${text} `,
    ` ${text}`,
    `${text}\\u200b`,
    `\\ufeff${text}`,
    `${text}\\n`,
    text.replaceAll("e", "\\u0435"),
    Array.from(text, (letter) => `\\uff${(letter.charCodeAt(0) - 0x20).toString(16).padStart(2, "0")}`).join(
      "",
    ),
  ]);

/** One member twice: the one that is believed, and one that looks harmless. */
function doubled(members: [string, string][], name: string, harmless: string, random: Random): void {
  const index = members.findIndex(([key]) => key === `"${name}"`);
  const key = pick(random, [`"${name}"`, `"${name.toUpperCase()}"`, `"\\u${hex(name)}${name.slice(1)}"`]);
  const extra: [string, string] = [key, harmless];
  members.splice(random.chance(0.5) ? index : index + 1, 0, extra);
}

const hex = (text: string): string => text.charCodeAt(0).toString(16).padStart(4, "0");
const written = (members: readonly [string, string][]): string =>
  `{${members.map(([key, value]) => `${key}:${value}`).join(",")}}`;

/** What an attacker may do to a call of the gated tool, by name. */
export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  "as it is": () => {},
  "method in a list": ({ envelope }, random) => {
    member(envelope, "method")[1] = pick(random, [
      `[${CALL}]`,
      `[[${CALL}]]`,
      `[${CALL},"ping"]`,
      `["ping",${CALL}]`,
    ]);
  },
  "method in an object": ({ envelope }) => {
    member(envelope, "method")[1] = `{"value":${CALL}}`;
  },
  "method spelt differently": ({ envelope }, random) => {
    member(envelope, "method")[1] = `"${respell(random, "tools/call")}"`;
  },
  "another method": ({ envelope }, random) => {
    member(envelope, "method")[1] = pick(random, [
      '"tools/execute"',
      '"tasks/create"',
      '"call_tool"',
      '"tools/call/"',
    ]);
  },
  "member spelt differently": ({ envelope, params }, random) => {
    const [members, name] = pick(random, [
      [envelope, "method"],
      [envelope, "params"],
      [params, "name"],
    ] as const);
    member(members, name)[0] = `"${respell(random, name)}"`;
  },
  "member in escapes": ({ envelope, params }, random) => {
    const [members, name] = pick(random, [
      [envelope, "method"],
      [params, "name"],
    ] as const);
    member(members, name)[0] = `"\\u${hex(name)}${name.slice(1)}"`;
  },
  "method twice": ({ envelope }, random) => doubled(envelope, "method", '"ping"', random),
  "params twice": ({ envelope }, random) => doubled(envelope, "params", '{"name":"look"}', random),
  "name twice": ({ params }, random) => doubled(params, "name", '"look"', random),
  "id twice": ({ envelope }, random) => doubled(envelope, "id", "1", random),
  "name in a list": ({ params }) => {
    member(params, "name")[1] = `[${GATED}]`;
  },
  "name spelt differently": ({ params }, random) => {
    member(params, "name")[1] = `"${respell(random, "delete_file")}"`;
  },
  "name in escapes": ({ params }) => {
    member(params, "name")[1] = '"\\u0064elete_fil\\u0065"';
  },
  "name with half a character": ({ params }) => {
    member(params, "name")[1] = '"delete_file\\ud800"';
  },
  "params in a list": (draft) => {
    draft.wrapParams = (params) => `[${params}]`;
  },
  "params in a text": (draft) => {
    draft.wrapParams = (params) => JSON.stringify(params);
  },
  "params on the prototype": (draft) => {
    draft.wrapParams = (params) => `{"__proto__":${params},"name":"look"}`;
  },
  "params beside the members": ({ envelope }) => {
    member(envelope, "params")[1] = "{}";
    envelope.push(['"name"', GATED]);
  },
  "all on the prototype": ({ wraps }) => {
    wraps.push((text) => `{"jsonrpc":"2.0","id":1,"method":"ping","__proto__":${text}}`);
  },
  "a batch": ({ wraps }, random) => {
    const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
    wraps.push((text) => pick(random, [`[${text}]`, `[${ping},${text}]`, `[[${text}]]`]));
  },
  "in a text": ({ wraps }) => {
    wraps.push((text) => JSON.stringify(text));
  },
  "without an id": ({ envelope }) => {
    envelope.splice(envelope.indexOf(member(envelope, "id")), 1);
  },
  "an odd id": ({ envelope }, random) => {
    const odd = ["null", "true", "[1]", "{}", "1.5", "-0", '""', "9007199254740993", "1e400", '"1\\ud800"'];
    member(envelope, "id")[1] = pick(random, odd);
  },
  "a wrong version": ({ envelope }, random) => {
    member(envelope, "jsonrpc")[1] = pick(random, ['"1.0"', "2.0", "null", '"2.0 "', "[]"]);
  },
  "an answer that is a call": ({ envelope }, random) => {
    envelope.push(
      pick(random, [
        ['"result"', "{}"],
        ['"error"', '{"code":1,"message":"x"}'],
      ] as [string, string][]),
    );
  },
  "members nobody knows": ({ envelope, params }, random) => {
    pick(random, [envelope, params]).push(['"extra"', '{"name":"look"}']);
  },
  "as a task": ({ params }) => {
    params.push(['"task"', '{"ttl":1000}']);
  },
  "arguments that are none": ({ params }, random) => {
    member(params, "arguments")[1] = pick(random, ['"{}"', "[]", "null", "7", "NaN", "-Infinity"]);
  },
  "arguments in two cases": ({ params }) => {
    member(params, "arguments")[1] = '{"path":"a","Path":"/etc/passwd"}';
  },
  "arguments twice": ({ params }, random) => doubled(params, "arguments", '{"path":"/etc/passwd"}', random),
  "a huge number": ({ params }, random) => {
    member(params, "arguments")[1] =
      `{"path":"a","n":${pick(random, ["9007199254740993", "1e999", "-1e999"])}}`;
  },
  "nested too deeply": ({ params }) => {
    member(params, "arguments")[1] = `{"path":${"[".repeat(300)}${"]".repeat(300)}}`;
  },
  "a mark at the beginning": ({ wraps }) => {
    wraps.push((text) => `\ufeff${text}`);
  },
  "a comment": ({ wraps }, random) => {
    wraps.push((text) => pick(random, [`/* */${text}`, `${text}// x`, text.replace(",", ",/* x */")]));
  },
  "something behind it": ({ wraps }, random) => {
    wraps.push((text) =>
      pick(random, [`${text}${text}`, `${text},`, `{"jsonrpc":"2.0","id":1,"method":"ping"}${text}`]),
    );
  },
  "a trailing comma": ({ wraps }) => {
    wraps.push((text) => text.replace(/\}$/, ",}"));
  },
  "over several lines": ({ wraps }, random) => {
    const line = pick(random, ["\n", "\r", "\r\n", "\u2028"]);
    wraps.push((text) => text.replaceAll(",", `,${line}`));
  },
  "single quotes": ({ wraps }) => {
    wraps.push((text) => text.replaceAll('"', "'"));
  },
  "bytes that are no text": ({ wraps }) => {
    wraps.push((text) => {
      const bytes = Buffer.from(text);
      const at = bytes.indexOf("delete_file") + "delete_file".length;
      return Buffer.concat([bytes.subarray(0, at), Buffer.from([0xff]), bytes.subarray(at)]);
    });
  },
  "a zero byte": ({ wraps }, random) => {
    wraps.push((text) =>
      pick(random, [`\0${text}`, `${text}\0`, text.replace("delete_file", "delete_file\0")]),
    );
  },
};

/** A call of the gated tool, changed in these ways. */
export function mutate(id: number, kinds: readonly string[], random: Random): Mutated {
  const draft: Draft = {
    envelope: [
      ['"jsonrpc"', '"2.0"'],
      ['"id"', `${id}`],
      ['"method"', CALL],
      ['"params"', ""],
    ],
    params: [
      ['"name"', GATED],
      ['"arguments"', '{"path":"a"}'],
    ],
    wrapParams: (params) => params,
    wraps: [],
  };
  const [params] = draft.envelope.slice(-1);
  const applied = kinds.filter((kind) => {
    try {
      MUTATIONS[kind]?.(draft, random);
      return true;
    } catch {
      // What one mutation renamed or took away, another no longer finds.
      return false;
    }
  });
  if (params?.[1] === "") params[1] = draft.wrapParams(written(draft.params));
  let bytes: string | Buffer = written(draft.envelope);
  for (const wrap of draft.wraps) bytes = wrap(bytes.toString());
  return { bytes: Buffer.from(bytes), kinds: applied };
}

/** So many calls, each changed in one to three ways; the same ones for the same seed. */
export function* mutants(count: number, random: Random, firstId = 1_000): Generator<Mutated> {
  const names = Object.keys(MUTATIONS);
  for (let index = 0; index < count; index++) {
    const kinds = Array.from({ length: 1 + random.below(3) }, () => pick(random, names));
    yield mutate(firstId + index, [...new Set(kinds)], random);
  }
}
