/** The server, its configuration and what it tells: what must hold of it. */
import { bench, type ClaimSection, core, holds, section, server } from "./Claim.ts"

export const servingSections: ReadonlyArray<ClaimSection> = [
  section(
    "Configuration",
    holds(
      "All problems come in one report with path, value, rule and line; the exit code is 2 and no request is made.",
      server("config/ServerConfig", "one report names everything, in order of lines, without a secret"),
      server("main", "reports a bad configuration without a stack trace, with code 2")
    ),
    holds(
      "Durations need a unit, sizes tell MB from MiB, unknown and doubled keys are errors with a line.",
      server("config/ServerConfig", "a bare number is told that its unit is missing"),
      core("config/SizeText", "has a rule of its own for negative, empty, missing, split and huge sizes"),
      server("config/ServerConfig", "unknown, misspelt and doubled keys are errors with their lines")
    ),
    holds(
      "Ids have a documented alphabet and length, so that two logs never share a prefix; anything else is an error before any I/O.",
      core("config/ResolveOptions", "no slash in an id, so a/b + c and a + b/c cannot share a prefix"),
      core("config/DecodeBackend", "ids with a slash, of another type, or empty are refused")
    ),
    holds(
      "Long intervals are no short ones: beyond 2^31 ms timers neither fire early nor never.",
      core("write/Sealing", "a flush_interval of … does not fire early, and does fire")
    ),
    holds(
      "Variables are substituted in values; unset, blank and unresolved ones are errors.",
      server("config/Substitution", "unset, blank and unresolved are errors with path and name")
    ),
    holds(
      "config print shows each value with its origin, and never a secret.",
      server("config/ConfigPrint", "shows each value with its origin, sizes in bytes, durations in milliseconds"),
      server("config/ConfigPrint", "never shows a secret"),
      server("main", "config print shows what is in force, without a secret and without starting anything")
    ),
    holds(
      "Logs of other nodes below the same prefix that hold uncommitted records are counted at start.",
      server("stores", "of other nodes with uncommitted records are counted at start"),
      core("AbandonedLogs", "counts the logs of other nodes that hold uncommitted records")
    )
  ),
  section(
    "HTTP",
    holds(
      "NDJSON, JSON and single records; all or nothing in validation; bytes come back as sent.",
      server("append", "cuts JSON payloads out of the body and gives them back byte for byte"),
      server("append", "refuses a broken line by its number and appends none of its neighbours"),
      server("json-scanner", "agrees with JSON.parse on random texts")
    ),
    holds(
      "An append is answered after durability; beyond ack_timeout (30 s) with its range.",
      server("append", "answers only when the log has it"),
      server("append", "tells the range of records that are not durable in time, and goes on with them")
    ),
    holds(
      "A live tail resumes after Last-Event-ID and sends a comment every 15 s.",
      server("read", "resumes after Last-Event-ID, whatever the URL says"),
      server("read", "sends a comment every 15 s of silence")
    ),
    holds(
      "wait holds a read until there is a record, and no longer than asked.",
      server("read", "waits for the first record, and no longer than asked")
    ),
    holds(
      "Overload is answered with Retry-After and a stable code.",
      server("append", "waits for room for a bounded time, then asks to come back"),
      server("errors", "answer with their fields, and ask to come back where that helps")
    ),
    holds(
      "Below the trim point: 410.",
      server("read", "answers 410 for what was trimmed")
    ),
    holds(
      "Idempotency-Key: a repeat is answered as the first time, byte for byte.",
      server("idempotency", "is answered as the first time, byte for byte, and says that it is a repeat")
    ),
    holds(
      "Bodies, heads, connections and times are limited, while streaming and unpacking.",
      server("limits", "(a) 200 bodies that never end are each answered 408, and a normal client is served meanwhile"),
      server("limits", "(e) gzip that unpacks to a gigabyte is answered 413 while it is unpacked"),
      server("limits", "(f) a head of 20 KB is answered 431"),
      server("limits", "takes no more connections than it may, and takes them again")
    ),
    holds(
      "The OpenAPI document lists every route, and the docs page loads nothing from elsewhere.",
      server("system", "the OpenAPI document lists every route"),
      server("system", "the docs page loads nothing from elsewhere")
    ),
    holds(
      "Fenced: 409 with the new owner, not ready, and not opened again by itself.",
      server("control", "a fenced stream answers 409 with the new owner, is not ready, and is not opened again")
    ),
    holds(
      "One stream's failure never stops the others.",
      server("control", "are opened again with back-off while the error may pass, and never stop the others")
    )
  ),
  section(
    "Tokens and addresses",
    holds(
      "Tokens allow exactly what their scopes and streams say, on every route.",
      server(
        "security/scopes",
        "of every set of scopes and streams may do what their scopes say, on their streams, on every route"
      ),
      server("auth", "show only their own streams, and to probes no stream at all")
    ),
    holds(
      "An address that is not loopback needs tokens, or --insecure.",
      server("auth", "are needed on an address that others can reach, unless somebody said --insecure")
    ),
    holds(
      "Tokens are read again at SIGHUP; a broken file changes nothing.",
      server("main", "reads its tokens again at SIGHUP, and keeps the old ones when it cannot")
    )
  ),
  section(
    "Stopping",
    holds(
      "SIGTERM: not ready first, then refused, then drained, within 25 s; what is left is an exact range.",
      server("shutdown", "is not ready first, then refuses appends and closes connections, then closes the logs"),
      server("shutdown", "what is left has its exact range in the report and a code of its own"),
      server(
        "main",
        "SIGTERM with a store that is down: the exact range is printed, and the code says that records were left"
      )
    ),
    holds(
      "A dead log: healthz 503, exit 70.",
      server("shutdown", "ends with 70 when a log has died"),
      server("system", "a dead log is 503 on both, and the process is told")
    )
  ),
  section(
    "Speed of the server",
    holds(
      "Appends are measured against a bare node:http server that reads the same bytes.",
      bench("http", "server, durable, processor for an answer"),
      server("direct", "is taken by plain requests, and its answers are those of the router")
    )
  )
]
