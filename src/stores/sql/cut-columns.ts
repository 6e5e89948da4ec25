/** What a list reads of a column that may be long. The whole is not looked at where there is a cut. */
const CUT: { readonly [column: string]: (alias: string) => string } = {
  args: (alias) => `coalesce(${alias}.args_cut, ${alias}.args)`,
  result: (alias) => `coalesce(${alias}.result_cut, ${alias}.result)`,
  shown: (alias) => `coalesce(${alias}.shown_cut, ${alias}.shown)`,
  votes: (alias) => `coalesce(${alias}.votes_cut, ${alias}.votes)`,
  // Nothing that is listed shows it.
  original_args: () => "null",
};

/** Whether something of a confirmation `c`, or of a call `k`, is cut. */
export const WAS_CUT = {
  confirmation: "c.shown_cut is not null or c.votes_cut is not null",
  call: "k.args_cut is not null or k.result_cut is not null",
} as const;

/** The columns as a select list, for a list that shows only the beginning of what is long. */
export function cutColumns(columns: readonly string[], alias: string): string {
  return columns.map((column) => CUT[column]?.(alias) ?? `${alias}.${column}`).join(", ");
}
