import { useSyncExternalStore } from "react";

/** Pages whose address is only their name. */
export const PLAIN_PAGES = [
  "mine",
  "history",
  "unknown",
  "numbers",
  "grants",
  "delegations",
  "policy",
  "deliveries",
  "notifications",
  "login",
] as const;
export type PlainPage = (typeof PLAIN_PAGES)[number];

export type Route =
  | { readonly page: "inbox"; readonly id?: string }
  | { readonly page: PlainPage }
  | { readonly page: "chat"; readonly app?: string; readonly session?: string; readonly user?: string };

/** The place that an address's hash names; anything that names none is the inbox. */
export function parseRoute(hash: string): Route {
  const [path = "", search = ""] = hash.replace(/^#\/?/, "").split("?", 2);
  const [page = "", first, second] = path.split("/").map(decode);
  switch (page) {
    case "confirmations":
      return first === undefined ? { page: "inbox" } : { page: "inbox", id: first };
    case "chat":
      return chatRoute(first, second, search);
    default:
      return { page: PLAIN_PAGES.find((plain) => plain === page) ?? "inbox" };
  }
}

function chatRoute(app: string | undefined, session: string | undefined, search: string): Route {
  const user = new URLSearchParams(search).get("user");
  return {
    page: "chat",
    ...(app === undefined ? {} : { app }),
    ...(session === undefined ? {} : { session }),
    ...(user === null ? {} : { user }),
  };
}

/** An address of a place in this page. */
export function to(...parts: readonly string[]): string {
  return `#/${parts.map(encodeURIComponent).join("/")}`;
}

/** Where one talks in a session; of a user other than oneself, if one is named. */
export function toChat({ app, id, user }: ChatName): string {
  return `${to("chat", app, id)}${user === undefined ? "" : `?${new URLSearchParams({ user })}`}`;
}

interface ChatName {
  readonly app: string;
  readonly id: string;
  readonly user?: string | undefined;
}

export function go(...parts: readonly string[]): void {
  window.location.hash = to(...parts);
}

export function useRoute(): Route {
  return parseRoute(useSyncExternalStore(onHashChange, () => window.location.hash));
}

/** What stands behind the place in the address's hash, as in `#/history?tool=pay`. */
export function useSearch(): string {
  return useSyncExternalStore(onHashChange, () => window.location.hash.split("?", 2)[1] ?? "");
}

/** Changes it, and stays at the place: there is no step more on the way back. */
export function replaceSearch(search: string): void {
  const [place = ""] = window.location.hash.split("?", 1);
  window.history.replaceState(window.history.state, "", search === "" ? place : `${place}?${search}`);
  window.dispatchEvent(new HashChangeEvent("hashchange"));
}

function onHashChange(listener: () => void): () => void {
  window.addEventListener("hashchange", listener);
  return () => window.removeEventListener("hashchange", listener);
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
