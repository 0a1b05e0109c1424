/**
 * Reads a response's body to its end. A promise, because it runs inside the SDK's middleware as well as after it.
 */
import { Readable } from "node:stream"

/** How much to read, and what stops the reading. */
export interface CollectOptions {
  /** Stop after so many bytes and close the connection: for stores that ignore a range. */
  readonly limit?: number
  /** When it fires, the body's socket is destroyed and the promise rejects. */
  readonly signal?: AbortSignal
}

/** The body's bytes, at most `limit`. Rejects when the stream fails, ends early or is aborted. */
export const collectBody = (body: unknown, options: CollectOptions = {}): Promise<Uint8Array> => {
  if (body === undefined || body === null) return Promise.resolve(new Uint8Array(0))
  if (body instanceof Uint8Array) return Promise.resolve(body)
  if (!(body instanceof Readable)) return Promise.reject(new Error("the response's body is not a stream"))
  const { promise, reject, resolve } = Promise.withResolvers<Uint8Array>()
  const limit = options.limit ?? Number.POSITIVE_INFINITY
  const chunks: Array<Uint8Array> = []
  let length = 0
  const stop = () => {
    body.destroy()
    reject(new Error("aborted while the body was read"))
  }
  options.signal?.addEventListener("abort", stop, { once: true })
  if (options.signal?.aborted === true) stop()
  body.on("data", (chunk: Uint8Array) => {
    chunks.push(chunk)
    length += chunk.byteLength
    if (length <= limit) return
    resolve(Buffer.concat(chunks).subarray(0, limit))
    body.destroy()
  })
  body.once("end", () => resolve(Buffer.concat(chunks)))
  body.once("error", reject)
  body.once("close", () => {
    options.signal?.removeEventListener("abort", stop)
    // Without an error and without an end the connection went away. A settled promise stays as it is.
    reject(new Error(`the connection closed after ${length} bytes of the body`))
  })
  return promise
}
