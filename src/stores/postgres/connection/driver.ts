/** What the server gives back of the types that are asked for: numbers, booleans, and text for everything else. */
type SqlValue = null | number | boolean | string;

/** A result row, in the order of the columns asked for. */
export type Row = readonly SqlValue[];

/** What a statement is given; an array becomes one of PostgreSQL's. */
export type PostgresValue = SqlValue | readonly SqlValue[];

export interface Query {
  readonly text: string;
  readonly values?: readonly PostgresValue[];
  /** Prepared under this name on the connection's first use of it. */
  readonly name?: string;
  readonly rowMode?: "array";
}

export interface QueryResult {
  readonly rows: readonly Row[];
  /** How many rows the statement changed. */
  readonly rowCount: number | null;
}

/** The part of a connection that the store needs; a client of `pg` has this shape. */
export interface Connection {
  query(query: Query): Promise<QueryResult>;
  on(event: "error" | "end" | "notification", listener: (about: never) => void): unknown;
}

/** A connection of its own, outside the pool. */
export interface LoneConnection extends Connection {
  /** The server's process behind it, once it is connected; a pooler makes one up. */
  readonly processID: number | null;
  /** The pool passes a function instead of waiting for the promise. */
  connect(done?: (error?: Error) => void): Promise<unknown>;
  end(): Promise<void>;
  /** Lets the process end although the connection is open. */
  unref(): void;
  readonly connection: {
    readonly stream: {
      readonly bytesRead: number;
      readonly writableLength: number;
      destroy(): unknown;
    };
  };
}

export interface PooledConnection extends Connection {
  readonly connection: {
    readonly stream: { readonly destroyed: boolean; cork(): unknown; uncork(): unknown };
  };
  /** Does the connection keep the process alive? */
  ref(): void;
  unref(): void;
  /** Back into the pool, or with `true` closed for good. */
  release(destroy?: boolean): void;
}

export interface ConnectionPool {
  readonly totalCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  connect(): Promise<PooledConnection>;
  end(): Promise<void>;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "connect", listener: (connection: Connection) => void): unknown;
}

/** How `pg` reads a value: from its text, by the number of its type. */
export interface TypeParsers {
  getTypeParser(type: number): (text: string) => unknown;
}

/** What connections are made with; the names are those of `pg`. */
export interface ConnectionSettings {
  readonly connectionString: string;
  readonly application_name: string;
  readonly connectionTimeoutMillis: number;
  readonly query_timeout: number;
  readonly keepAlive: true;
  readonly keepAliveInitialDelayMillis: number;
  readonly types: TypeParsers;
  readonly options?: string;
}

/** The part of the package `pg` that the store needs. */
export interface Driver {
  /** Can it send a statement before the one ahead of it is answered? Its older versions cannot. */
  readonly canPipeline: boolean;
  readonly Pool: new (
    settings: ConnectionSettings & {
      readonly max: number;
      readonly idleTimeoutMillis: number;
      readonly allowExitOnIdle: true;
      readonly pipeline: boolean;
      readonly Client: Driver["Client"];
    },
  ) => ConnectionPool;
  readonly Client: new (settings: ConnectionSettings) => LoneConnection;
}

/** No text on the server has a NUL: nothing that is named so can be there. */
export function hasNul(value: PostgresValue): boolean {
  return typeof value === "string" && value.includes("\0");
}
