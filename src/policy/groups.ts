import type { Approvers } from "../engine/index.ts";
import type { Node, YamlSource } from "../yaml/index.ts";
import type { NamedPeople } from "./policy-rule.ts";

/** The groups of a file, each with everybody in it, and the people behind several logins. */
export interface PolicyPeople {
  readonly groups: ReadonlyMap<string, Approvers>;
  /** The person that a login belongs to. */
  readonly persons: ReadonlyMap<string, string>;
}

interface GroupText {
  readonly node: Node;
  readonly entries: readonly { readonly node: Node; readonly text: string }[];
}

/** Reads `groups`. A group that contains itself, through others too, is a problem. */
export function readGroups(source: YamlSource, node: Node | undefined): ReadonlyMap<string, Approvers> {
  const texts = new Map<string, GroupText>();
  for (const [name, list] of node === undefined ? [] : source.entries(node, "groups")) {
    if (name === "requester" || name.includes(":"))
      source.problem(list, `a group cannot be called "${name}"; choose another name`);
    const entries = source.list(list, `groups.${name}`, (entry) => {
      const what = `an entry of groups.${name}`;
      const text = source.text(entry, what);
      if (text === undefined) return undefined;
      if (!isMisspelt(text)) return { node: entry, text };
      return source.problem(entry, `${what} is "${text}"; write role:NAME, group:NAME or the id of a user`);
    });
    if (entries.length === 0) source.problem(list, `groups.${name} has nobody in it`);
    texts.set(name, { node: list, entries });
  }
  const groups = new Map<string, Approvers>();
  for (const [name] of texts) {
    const { users, roles } = membersOf({ source, texts }, name, []);
    groups.set(name, {
      ...(roles.size === 0 ? {} : { roles: [...roles] }),
      ...(users.size === 0 ? {} : { users: [...users] }),
    });
  }
  return groups;
}

interface Reading {
  readonly source: YamlSource;
  readonly texts: ReadonlyMap<string, GroupText>;
}

interface MemberSets {
  readonly users: Set<string>;
  readonly roles: Set<string>;
}

function membersOf(reading: Reading, name: string, within: readonly string[]): MemberSets {
  const found: MemberSets = { users: new Set(), roles: new Set() };
  for (const { node, text } of reading.texts.get(name)?.entries ?? []) {
    const { kind, id } = nameOf(text, "user");
    if (kind === "role") found.roles.add(id);
    else if (kind === "user") found.users.add(id);
    else {
      const inner = innerMembers(reading, { node, id, path: [...within, name] });
      for (const user of inner.users) found.users.add(user);
      for (const role of inner.roles) found.roles.add(role);
    }
  }
  return found;
}

function innerMembers(
  reading: Reading,
  { node, id, path }: { readonly node: Node; readonly id: string; readonly path: readonly string[] },
): MemberSets {
  const nobody: MemberSets = { users: new Set(), roles: new Set() };
  if (path.includes(id)) {
    if (path[0] === id)
      reading.source.problem(node, `groups.${id} contains itself: ${[...path, id].join(", ")}`);
    return nobody;
  }
  if (reading.texts.has(id)) return membersOf(reading, id, path);
  if (path.length === 1) reading.source.problem(node, `there is no group "${id}"`);
  return nobody;
}

/** It would be taken for the id of a user whom nobody has. */
function isMisspelt(text: string): boolean {
  return /^(?:user|role|group):/i.test(text) && !/^(?:user|role|group):\S/.test(text);
}

function nameOf(
  text: string,
  plain: "user" | "group",
): { readonly kind: "user" | "role" | "group"; readonly id: string } {
  const [, kind, id] = /^(user|role|group):(.+)$/s.exec(text) ?? [];
  if (kind === undefined || id === undefined) return { kind: plain, id: text };
  return { kind: kind as "user" | "role" | "group", id };
}

/** Reads who is named by `from` or `to`: a group, `role:NAME`, `user:NAME` or `requester`. */
export function readNamed(
  source: YamlSource,
  node: Node | undefined,
  { what, groups }: { readonly what: string; readonly groups: ReadonlyMap<string, Approvers> },
): NamedPeople | undefined {
  const text = node && source.text(node, what);
  if (node === undefined || text === undefined) return undefined;
  if (text === "requester") return { from: "requester" };
  const { kind, id } = nameOf(text, "group");
  if (kind === "role") return { from: { roles: [id] } };
  if (kind === "user") return { from: { users: [id] } };
  const from = groups.get(id);
  if (from !== undefined) return { from, group: id };
  return source.problem(
    node,
    `${what} is "${text}", but there is no such group; use a group, role:NAME, user:NAME or requester`,
  );
}

/** Reads `people`: which logins belong to one person. A login belongs to one person only. */
export function readPeople(source: YamlSource, node: Node | undefined): ReadonlyMap<string, string> {
  const persons = new Map<string, string>();
  const people = node === undefined ? [] : source.entries(node, "people");
  for (const [person] of people) persons.set(person, person);
  for (const [person, logins] of people) {
    source.list(logins, `people.${person}`, (entry) => {
      const login = source.text(entry, `an entry of people.${person}`);
      if (login === undefined) return;
      const known = persons.get(login) ?? person;
      if (known !== person) source.problem(entry, `the login "${login}" belongs to ${known} and ${person}`);
      persons.set(login, person);
    });
  }
  return persons;
}
