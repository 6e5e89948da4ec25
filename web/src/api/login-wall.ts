import { Store } from "../ui/store.ts";

/** Is the login dialog open? The page stays unchanged behind it. */
export const loginWall: Store<boolean> = new Store(false);

let logins = 0;

/** How often somebody has logged in to this page. */
export function loginCount(): number {
  return logins;
}

/** Somebody has logged in: waiting requests continue. */
export function admitLogin(): void {
  logins += 1;
  loginWall.set(false);
}

/**
 * Resolves once somebody has logged in since the count was taken. A request that was sent before a login can be refused
 * after it; then do not ask again.
 */
export function loggedIn(since: number): Promise<void> {
  if (logins !== since) return Promise.resolve();
  loginWall.set(true);
  return new Promise((resolve) => {
    const stop = loginWall.subscribe(() => {
      if (loginWall.value) return;
      stop();
      resolve();
    });
  });
}
