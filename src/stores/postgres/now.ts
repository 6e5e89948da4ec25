/**
 * The database's clock, looked at once in a statement. As a plain call it would be asked for every row, and no index
 * could be used for what is compared with it.
 */
export const NOW = "(select countersign.now_ms())";
