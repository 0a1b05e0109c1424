/** Where answers end on a connection, in each of the protocols that are spoken: no more of them is looked at. */

/** `http`: status 200 and `content-length`. `redis`: one bulk string. `nats`: one message in an inbox. */
export type Protocol = "http" | "redis" | "nats"

/**
 * How many bytes the first answer has, and whatever goes with it; 0 where it is not whole yet. Throws where it is not what
 * was asked for.
 */
export type ReplyLength = (received: Buffer) => number

const headEnd = Buffer.from("\r\n\r\n")

const refuse = (what: string, received: Buffer): never => {
  throw new Error(`${what}: ${received.toString("latin1", 0, 400)}`)
}

const http: ReplyLength = (received) => {
  const end = received.indexOf(headEnd)
  if (end === -1) return 0
  const head = received.toString("latin1", 0, end)
  if (!head.startsWith("HTTP/1.1 200 ")) return refuse("not answered 200", received)
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  if (length === undefined) return refuse("an answer without a length", received)
  const whole = end + headEnd.length + Number(length)
  return received.length >= whole ? whole : 0
}

const lineFeed = 0x0a

/** `$15\r\n1700000000000-0\r\n` */
const redis: ReplyLength = (received) => {
  if (received[0] !== 0x24) return refuse("not a bulk string", received)
  const first = received.indexOf(lineFeed)
  const second = first === -1 ? -1 : received.indexOf(lineFeed, first + 1)
  return second + 1
}

const message = /MSG \S+ \S+ +(\d+)\r\n/

/** `MSG inbox 1  30\r\n{"stream":"bench", "seq":1}\r\n` */
const nats: ReplyLength = (received) => {
  const text = received.toString("latin1")
  if (text.includes("-ERR") || text.includes("\"error\"")) return refuse("an error", received)
  const found = message.exec(text)
  if (found === null) return 0
  const whole = found.index + found[0].length + Number(found[1]) + 2
  return received.length >= whole ? whole : 0
}

const lengths: Readonly<Record<Protocol, ReplyLength>> = { http, redis, nats }

export const replyLengthOf = (protocol: Protocol): ReplyLength => lengths[protocol]
