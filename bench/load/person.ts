/** Who sends a request to a server on which people log in. */
export const PERSON_HEADER = "x-bench-person";
