import { Store } from "../../ui/store.ts";

type Titles = { readonly [session: string]: string };

const PLACE = "countersign.titles";
const MOST = 200;
const LONGEST = 80;

/** What sessions are called: by the first words that were said in them, as far as this browser has seen them. */
export const titles: Store<Titles> = new Store<Titles>(recall());

/** Remembers a session's first words; later ones change nothing. */
export function nameSession(session: string, words: string): void {
  const title = words.trim().replace(/\s+/g, " ");
  if (title === "" || titles.value[session] !== undefined) return;
  const cut = Array.from(title).slice(0, LONGEST).join("");
  const all: readonly (readonly [string, string])[] = [...Object.entries(titles.value), [session, cut]];
  const next: Titles = Object.fromEntries(all.slice(-MOST));
  titles.set(next);
  try {
    window.localStorage.setItem(PLACE, JSON.stringify(next));
  } catch {
    // A browser that keeps nothing shows ids after a reload.
  }
}

function recall(): Titles {
  try {
    const kept: unknown = JSON.parse(window.localStorage.getItem(PLACE) ?? "{}");
    return typeof kept === "object" && kept !== null ? (kept as Titles) : {};
  } catch {
    return {};
  }
}
