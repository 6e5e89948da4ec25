import { useEffect } from "react";
import { loginWall } from "../../api/login-wall.ts";
import { useStore } from "../../ui/store.ts";
import { board } from "../inbox/board.ts";
import { lookAgain } from "./log-in.ts";

const PLACE = "countersign.login";

/** Somebody may log in, or become somebody else, in another tab: that one tells, and whoever comes back here looks. */
export function useOtherTabs(): void {
  const id = useStore(board).me?.principal.id;
  useEffect(() => {
    if (id !== undefined) tellOtherTabs();
  }, [id]);
  const isRefused = useStore(loginWall);
  useEffect(() => {
    // What this page has is no longer valid: perhaps because of a login in another tab.
    if (isRefused) look();
  }, [isRefused]);
  useEffect(() => {
    const onStored = ({ key }: StorageEvent): void => {
      if (key === PLACE) look();
    };
    window.addEventListener("focus", look);
    window.addEventListener("storage", onStored);
    return () => {
      window.removeEventListener("focus", look);
      window.removeEventListener("storage", onStored);
    };
  }, []);
}

function look(): void {
  lookAgain().catch(() => undefined);
}

function tellOtherTabs(): void {
  try {
    window.localStorage.setItem(PLACE, String(Date.now()));
  } catch {
    // A browser that keeps nothing tells nothing; whoever comes back to a tab looks by itself.
  }
}
