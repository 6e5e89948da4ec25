/** A list as it is shown, while what it is made from moves on. */
export interface FrozenOrder {
  readonly ids: readonly string[];
  /** How many would come in if it were let. */
  readonly waiting: number;
}

/**
 * The order to show. While frozen, nothing moves: what is shown stays in its place, and news is only counted. An
 * id that is gone from `latest` keeps its place too, so that no row slides under a pointer.
 */
export function nextOrder(shown: readonly string[], latest: readonly string[], frozen: boolean): FrozenOrder {
  if (!frozen || shown.length === 0) return { ids: latest, waiting: 0 };
  const present = new Set(shown);
  const waiting = latest.reduce((count, id) => count + (present.has(id) ? 0 : 1), 0);
  return { ids: shown, waiting };
}
