import { Store } from "../ui/store.ts";

/** Is somebody asked to log in right now? The page stays as it is behind the question. */
export const loginWall: Store<boolean> = new Store(false);

/** Resolves once somebody has logged in. */
export function loggedIn(): Promise<void> {
  loginWall.set(true);
  return new Promise((resolve) => {
    const stop = loginWall.subscribe(() => {
      if (loginWall.value) return;
      stop();
      resolve();
    });
  });
}
