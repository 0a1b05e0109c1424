/**
 * The check of a store's conditional writes by itself, as the opening of a log makes it: for tools that look at a store
 * before a log is kept there. It writes below `probe/` of the prefix and removes what it wrote.
 */
export { type ProbeRequest, probeStore } from "./epoch/StoreProbe.ts"
