/** What the server says when it listens: where it is, and three commands that work as they are printed. */
import type { ServerSettings } from "../Settings.ts"

/** An address as it stands in a URL; one that means "all" becomes one that can be called. */
const urlHost = (host: string): string => {
  if (host === "0.0.0.0") return "127.0.0.1"
  if (host === "::") return "[::1]"
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host
}

/** Where the server is, as `--json` says it. */
export const bannerFacts = (settings: ServerSettings, port: number) => ({
  listening: { host: settings.host, port, tls: settings.tls !== undefined, streams: settings.streams }
})

/** The lines to print; `port` is the one that was bound. */
export const banner = (settings: ServerSettings, port: number): string => {
  const url = `${settings.tls === undefined ? "http" : "https"}://${urlHost(settings.host)}:${port}`
  const token = settings.tokens.length === 0 ? "" : "-H \"authorization: Bearer $TOKEN\" "
  const stream = `${url}/v1/streams/${settings.streams[0] ?? ""}`
  return [
    `effect-wal listens on ${url} (API docs: ${url}/docs)`,
    "",
    `  curl ${token}-H "content-type: application/x-ndjson" --data-binary '{"hello":"world"}' ${stream}/records`,
    `  curl ${token}${stream}/records`,
    `  curl ${token}${stream}`,
    ""
  ].join("\n")
}
