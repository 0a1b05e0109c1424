/** A PUT over the runtime's own client, with nothing around it: no signature, no checksum, no retry. */
import { Agent, request as httpRequest } from "node:http"

export interface BarePuts {
  /** Sends one object under a key of its own; done when it is answered. */
  readonly put: (nth: number) => Promise<void>
  readonly close: () => void
}

/** `lanes`: most connections. */
export const barePuts = (endpoint: string, lanes: number, body: Uint8Array): BarePuts => {
  const agent = new Agent({ keepAlive: true, maxSockets: lanes })
  return {
    put: (nth) =>
      new Promise<void>((resolve, reject) => {
        const request = httpRequest(`${endpoint}/bench/bare/${nth}.seg`, {
          method: "PUT",
          agent,
          headers: { "content-length": body.length }
        }, (response) => {
          response.resume().once("end", resolve)
        })
        request.once("error", reject)
        request.end(body)
      }),
    close: () => agent.destroy()
  }
}
