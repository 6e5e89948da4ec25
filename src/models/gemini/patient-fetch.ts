type Fetch = typeof globalThis.fetch;

/** The part of undici's dispatcher that is needed; Node keeps the one it uses under this symbol. */
interface Dispatcher {
  dispatch(options: object, handler: unknown): boolean;
}
const GLOBAL_DISPATCHER = Symbol.for("undici.globalDispatcher.1");

const patient: Dispatcher = {
  dispatch: (options, handler) => {
    const { [GLOBAL_DISPATCHER]: dispatcher } = globalThis as { [GLOBAL_DISPATCHER]?: Dispatcher };
    if (dispatcher === undefined) throw new Error("Node's fetch has no dispatcher.");
    return dispatcher.dispatch({ ...options, headersTimeout: 0, bodyTimeout: 0 }, handler);
  },
};

/**
 * Node's `fetch` without its limit of five minutes between two bytes: a model may take longer. Google's SDK does the
 * same for its own fetch, but not for one that is passed to it.
 */
export const patientFetch: Fetch = (input, init) =>
  globalThis.fetch(input, { ...init, dispatcher: patient } as RequestInit);
