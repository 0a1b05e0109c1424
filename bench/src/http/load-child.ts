/**
 * A client that costs as little as it can: raw sockets, requests that are ready to be sent, answers of which only the end is
 * looked for. One request is under way on each connection.
 *
 * Reads orders as lines of JSON (`LoadOrder`) and writes a `LoadResult` for each.
 */
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { createInterface } from "node:readline"
import { nowMillis } from "../../../scripts/acceptance/Run.ts"
import type { LoadOrder, LoadResult } from "./LoadProcess.ts"
import { replyLengthOf } from "./Replies.ts"

/** Longer than that after the end, an answer does not come any more. */
const patienceMillis = 10_000

const numbered = (text: string, nth: number): string => text.replaceAll("{n}", String(nth))

/** Sends the greeting and waits for the end of its answer. */
const greet = (socket: Socket, { answer, text }: NonNullable<LoadOrder["greeting"]>, nth: number): Promise<void> =>
  new Promise((resolve, reject) => {
    let heard = ""
    const onData = (chunk: Buffer) => {
      heard += chunk.toString("latin1")
      if (!heard.endsWith(answer)) return
      socket.off("data", onData)
      resolve()
    }
    socket.on("data", onData).once("error", reject)
    socket.write(numbered(text, nth))
  })

const open = async ({ greeting, port }: LoadOrder, nth: number): Promise<Socket> => {
  const socket = connect({ port, host: "127.0.0.1", noDelay: true })
  await once(socket, "connect")
  if (greeting !== undefined) await greet(socket, greeting, nth)
  return socket
}

/** Asks on one connection until the time is over; answers how often it was answered. */
const ask = (order: LoadOrder, socket: Socket, nth: number, until: number): Promise<number> => {
  const request = Buffer.concat([Buffer.from(numbered(order.head ?? "", nth)), Buffer.from(order.request, "base64")])
  const lengthOf = replyLengthOf(order.protocol)
  return new Promise((resolve, reject) => {
    let answers = 0
    let rest: Buffer | undefined
    const onData = (chunk: Buffer) => {
      const received = rest === undefined ? chunk : Buffer.concat([rest, chunk])
      const length = lengthOf(received)
      rest = received.length === length ? undefined : received.subarray(length)
      if (length === 0) return
      answers++
      if (nowMillis() < until) socket.write(request)
      else resolve(answers)
    }
    socket.on("data", (chunk: Buffer) => {
      try {
        onData(chunk)
      } catch (cause) {
        reject(cause)
      }
    })
    socket.once("error", reject)
    socket.once("close", () => reject(new Error("the server has closed a connection")))
    socket.setTimeout(order.millis + patienceMillis, () => reject(new Error("no answer")))
    socket.write(request)
  })
}

const run = async (order: LoadOrder): Promise<LoadResult> => {
  const sockets = await Promise.all(Array.from({ length: order.connections }, (_, nth) => open(order, nth)))
  try {
    const startedAt = nowMillis()
    const cpu = process.cpuUsage()
    const until = startedAt + order.millis
    const answers = await Promise.all(sockets.map((socket, nth) => ask(order, socket, nth, until)))
    const elapsed = nowMillis() - startedAt
    const { system, user } = process.cpuUsage(cpu)
    const sum = answers.reduce((total, count) => total + count, 0)
    return { answers: sum, answersPerSecond: sum / elapsed * 1_000, clientShare: (system + user) / 1_000 / elapsed }
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

const failed = (cause: unknown): LoadResult => ({
  answers: 0,
  answersPerSecond: 0,
  clientShare: 0,
  problem: cause instanceof Error ? cause.message : String(cause)
})

for await (const line of createInterface({ input: process.stdin })) {
  const order: LoadOrder = JSON.parse(line)
  process.stdout.write(`${JSON.stringify(await run(order).catch(failed))}\n`)
}
