import type { ErasedPerson, PersonalItems, StoredItem } from "../engine/index.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../protocol/index.ts";

/**
 * The items outside of sessions that go with a person who is erased, and what is left of those that are about others too.
 * Each kind says by which member an item is somebody's: a name that happens to be elsewhere in it makes it nobody's. Not
 * here: remembered answers to requests and keys of calls. They are hashed or expire within a day, and while they are
 * there nothing runs twice.
 */
export const PERSONAL_ITEMS: readonly PersonalItems[] = [
  { kind: "login", without: ownedBy(({ principal }) => objectOf(principal)["id"]) },
  { kind: "login-link", without: ownedBy(({ user }) => user) },
  { kind: "token", without: withoutIssuer },
  { kind: "push-subscription", without: ownedBy(({ person }) => objectOf(person)["id"]) },
  { kind: "notification-settings", without: ({ id, value }, { user }) => (id === user ? undefined : value) },
  { kind: "mail-link", without: ownedBy(({ person }) => person) },
  { kind: "channel-messages", without: withoutRecipient },
  {
    kind: "delegation",
    without: ownedBy(
      ({ from }) => from,
      ({ to }) => to,
    ),
  },
  { kind: "shared-grant", without: withoutGrant },
  { kind: "ledger-notice", without: withoutReader },
];

type Owner = (value: JsonObject) => JsonValue | undefined;

/** The item goes as a whole if one of these is the person. */
function ownedBy(...owners: readonly Owner[]): PersonalItems["without"] {
  return ({ value }, { user }) =>
    isJsonObject(value) && owners.some((owner) => owner(value) === user) ? undefined : value;
}

/** A token that they issued for somebody else goes on to work. */
function withoutIssuer({ value }: StoredItem, { user, pseudonym }: ErasedPerson): JsonValue | undefined {
  if (!isJsonObject(value)) return value;
  if (value["user"] === user) return undefined;
  const named = ["createdBy", "revokedBy"].filter((name) => value[name] === user);
  if (named.length === 0) return value;
  return { ...value, ...Object.fromEntries(named.map((name) => [name, pseudonym])) };
}

/** A notice that they acknowledged is still about the ledger. */
function withoutReader({ value }: StoredItem, { user, pseudonym }: ErasedPerson): JsonValue | undefined {
  if (!isJsonObject(value)) return value;
  const acknowledged = objectOf(value["acknowledged"]);
  return acknowledged["by"] === user ? { ...value, acknowledged: { ...acknowledged, by: pseudonym } } : value;
}

/** Removes only the messages to this person: the others are still updated, and not sent twice. */
function withoutRecipient({ value }: StoredItem, { user }: ErasedPerson): JsonValue | undefined {
  if (!isJsonObject(value)) return value;
  const lists = ["to", "failed"].flatMap((name) => {
    const messages = Object.entries(objectOf(value[name]));
    const others = messages.filter(([, message]) => objectOf(message)["person"] !== user);
    return others.length === messages.length ? [] : [[name, Object.fromEntries(others)] as const];
  });
  return lists.length === 0 ? value : { ...value, ...Object.fromEntries(lists) };
}

/** It ends: what it rests on, or for whom it is, is not known any more. */
function withoutGrant({ value }: StoredItem, { user }: ErasedPerson): JsonValue | undefined {
  const { requesters, approvals, revoked } = objectOf(value);
  const givers = listOf(approvals).flatMap((approval) => {
    const { by, person, delegated } = objectOf(approval);
    return [objectOf(by)["id"], objectOf(by)["onBehalfOf"], person, objectOf(delegated)["from"]];
  });
  const named = [...listOf(requesters), ...givers, objectOf(objectOf(revoked)["by"])["id"]];
  return named.includes(user) ? undefined : value;
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : [];
}

function objectOf(value: JsonValue | undefined): JsonObject {
  return value !== undefined && isJsonObject(value) ? value : {};
}
