/** Where the server's log goes; a pino logger is one. */
export interface Logger {
  /** What is asked for by machines, over and over; dropped where the log has no such level. */
  debug?(facts: object, message: string): void;
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export const SILENT: Logger = { info() {}, warn() {}, error() {} };
