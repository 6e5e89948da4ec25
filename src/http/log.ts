/** Where the server's log goes; a pino logger is one. */
export interface Logger {
  /** For requests of machines, such as probes; dropped if the log has no such level. */
  debug?(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export const SILENT: Logger = { info() {}, warn() {}, error() {} };
