/**
 * Which names a server without tokens answers to, on an address of its own machine.
 *
 * A page from anywhere can give its own name the address 127.0.0.1 (DNS rebinding) and then ask, as the browser of
 * somebody on this machine, whatever it likes. Such a name has a dot in it and is no address: those are refused. Where
 * there are tokens such a page has none, and a server on another address, or behind a proxy, has names that nobody here
 * knows. Names in `.localhost` and `.internal` belong to nobody outside: containers know their machine by one.
 */
import { isIP } from "node:net"
import { isLoopbackHost } from "./Exposure.ts"
import { RequestProblem } from "./RequestProblem.ts"
import type { ServerSettings } from "./Settings.ts"

/** `Host` without its port. */
const nameOf = (host: string): string => host.replace(/:\d*$/, "").toLowerCase()

const isOwnName = (name: string): boolean =>
  !name.includes(".") || name.startsWith("[") || isIP(name) !== 0 ||
  /(^localhost|\.localhost|\.internal)\.?$/.test(name)

/** Looks at the `Host` of a request; `undefined` where it may pass. */
export type HostCheck = (host: string | undefined) => RequestProblem | undefined

/** The check for a server with these settings. */
export const makeHostCheck = ({ behindProxy, host, tokens }: ServerSettings): HostCheck => {
  if (behindProxy === true || tokens.length > 0 || !isLoopbackHost(host)) return () => undefined
  return (given) => {
    const name = nameOf(given ?? "")
    return isOwnName(name) ? undefined : new RequestProblem({
      code: "host_refused",
      message: `the request is for ${JSON.stringify(name.slice(0, 128))}, and this server answers without tokens for ` +
        "this machine only: ask for localhost or 127.0.0.1, configure server.tokens, or say server.behind_proxy"
    })
  }
}
