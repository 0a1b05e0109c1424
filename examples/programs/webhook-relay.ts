/**
 * Receives webhooks at `POST /hooks`, answers each once it is durable, and relays it to another server until that takes it.
 * What was answered is relayed whatever happens to this process; what was not answered its sender sends again.
 *
 *     DOWNSTREAM_URL=http://127.0.0.1:9000/hooks node examples/programs/webhook-relay.ts
 *
 * PORT (8090), WAL_PATH (./data/webhook-relay). What the other server refuses for good goes to DEAD_LETTERS
 * (./data/webhook-relay-dead.ndjson).
 */
import * as DurableInput from "@effect-wal/core/DurableInput"
import { Wal } from "@effect-wal/core/Wal"
import type { AppendRecord } from "@effect-wal/core/WalRecord"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Config, Context, Deferred, Effect, FileSystem, Layer, Path, Queue, Schedule, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpRouter, HttpServerResponse } from "effect/http"
import type { HttpClientError } from "effect/http"
import { createServer } from "node:http"

/** A request that waits for its answer. The log keeps the record in it; the rest is for the hooks of the input. */
interface Hook extends AppendRecord {
  readonly answer: Deferred.Deferred<202 | 413>
}

/** Requests on their way into the log: a few, so that a slow log slows down who sends. */
class Hooks extends Context.Service<Hooks, {
  readonly queue: Queue.Queue<Hook>
  /** Done once nothing is taken from the queue any more. */
  readonly stopped: Deferred.Deferred<503>
}>()("@effect-wal/examples/webhook-relay/Hooks") {
  static readonly layer = Layer.effect(
    Hooks,
    Effect.all({ queue: Queue.bounded<Hook>(64), stopped: Deferred.make<503>() })
  )
}

const Routes = HttpRouter.use(Effect.fnUntraced(function*(router) {
  const { queue, stopped } = yield* Hooks
  yield* router.add(
    "POST",
    "/hooks",
    Effect.fnUntraced(function*(request) {
      const payload = new Uint8Array(yield* request.arrayBuffer)
      const answer = yield* Deferred.make<202 | 413>()
      const contentType = request.headers["content-type"] ?? "application/octet-stream"
      const answered = Effect.andThen(Queue.offer(queue, { payload, contentType, answer }), Deferred.await(answer))
      // Who still waits when the relay has stopped sends it again, to the next one.
      return HttpServerResponse.empty({ status: yield* Effect.raceFirst(answered, Deferred.await(stopped)) })
    })
  )
}))

const ServerLive = Layer.unwrap(Effect.map(
  Config.Int("PORT").pipe(Config.withDefault(8090)),
  (port) =>
    HttpRouter.serve(Routes).pipe(Layer.provide(NodeHttpServer.layer(createServer, { port, host: "127.0.0.1" })))
))

const LogLive = Layer.unwrap(Effect.map(
  Config.NonEmptyString("WAL_PATH").pipe(Config.withDefault("./data/webhook-relay")),
  (path) => Wal.layerLocal({ path, nodeId: "node-0", streamId: "hooks", preset: "low_latency" })
))

/** Too late, too early, too many: what is wrong about these requests is only their time. */
const untimely: ReadonlyArray<number> = [408, 425, 429]

/** Another try does not help against a request that the other server calls wrong. */
const isFinal = ({ response }: HttpClientError.HttpClientError): boolean =>
  response !== undefined && response.status >= 400 && response.status < 500 && !untimely.includes(response.status)

/** Soon at first, then every ten seconds, for as long as the other server is away. */
const untilTaken = Schedule.min([Schedule.exponential("100 millis"), Schedule.spaced("10 seconds")]).pipe(
  Schedule.jittered,
  Schedule.setInputType<HttpClientError.HttpClientError>(),
  Schedule.while(({ input }) => !isFinal(input))
)

const program = Effect.gen(function*() {
  const url = yield* Config.NonEmptyString("DOWNSTREAM_URL")
  const deadLetters = yield* Config.NonEmptyString("DEAD_LETTERS").pipe(
    Config.withDefault("./data/webhook-relay-dead.ndjson")
  )
  const fs = yield* FileSystem.FileSystem
  // Now, and not with the first dead letter, which would stop the relay.
  yield* fs.makeDirectory((yield* Path.Path).dirname(deadLetters), { recursive: true })
  const client = HttpClient.filterStatusOk(yield* HttpClient.HttpClient)
  const wal = yield* Wal
  const { logId } = yield* wal.status
  const { queue, stopped } = yield* Hooks

  const input = DurableInput.make(wal, Stream.fromQueue(queue), {
    // Whoever sends something too large gets this answer alone, and the others get theirs.
    onRefused: ({ answer }) => Deferred.succeed(answer, 413),
    onDurable: (hooks) => Effect.forEach(hooks, ({ answer }) => Deferred.succeed(answer, 202), { discard: true })
  })

  yield* input.run(
    ({ contentType, payload }, { seq }) =>
      HttpClientRequest.post(url).pipe(
        // A hook can be relayed twice, after a crash: this tells the other server that it is the same one.
        HttpClientRequest.setHeader("idempotency-key", `${logId}-${seq}`),
        HttpClientRequest.bodyUint8Array(payload, contentType),
        client.execute
      ),
    {
      concurrency: 8,
      retry: untilTaken,
      deadLetter: ({ seq, value }) =>
        fs.writeFileString(
          deadLetters,
          `${JSON.stringify({ seq, payload_base64: Buffer.from(value.payload).toString("base64") })}\n`,
          { flag: "a" }
        )
    }
  ).pipe(Effect.ensuring(Deferred.succeed(stopped, 503)))
})

program.pipe(
  Effect.provide(
    ServerLive.pipe(
      Layer.provideMerge(Hooks.layer),
      Layer.provideMerge(Layer.mergeAll(LogLive, FetchHttpClient.layer, NodeServices.layer))
    )
  ),
  // SIGTERM and Ctrl-C stop it gracefully: requests that run finish, all else stays in the log.
  NodeRuntime.runMain
)
