import { assert, describe, it } from "@effect/vitest"
import { Effect, type Tracer } from "effect"
import { TraceLinks } from "../../src/observe/TraceLinks.ts"

const span = (name: string) => Effect.makeSpan(name)

const appended = (first: number, last: number) => ({
  first,
  last,
  epoch: 1,
  durable: Effect.void,
  spooled: Effect.void
})

const linked = ({ links }: Tracer.Span): ReadonlyArray<string> =>
  links.flatMap(({ span: other }) => other._tag === "Span" ? [other.name] : [])

describe("links between spans", () => {
  it.effect("go from a PUT to the requests whose records it carries, also where they carry on in the next one", () =>
    Effect.gen(function*() {
      const links = new TraceLinks()
      const [a, b, first, second] = [yield* span("a"), yield* span("b"), yield* span("first"), yield* span("second")]
      const one = links.accepted("log", appended(1, 3), a)
      const two = links.accepted("log", appended(4, 9), b)
      links.accepted("other log", appended(1, 9), a)
      links.sent("log", { key: "s/0", first: 1, last: 5 }, first)
      links.sent("log", { key: "s/1", first: 6, last: 9 }, second)
      assert.deepStrictEqual([linked(first), linked(second)], [["a", "b"], ["b"]])
      assert.deepStrictEqual([one.put?.key, two.put?.key], ["s/0", "s/1"])
    }))

  it.effect("go from a manifest to the PUTs that it covers, each once, however often it was sent", () =>
    Effect.gen(function*() {
      const links = new TraceLinks()
      const [put, again, next] = [yield* span("put"), yield* span("again"), yield* span("next")]
      const [first, second] = [yield* span("manifest"), yield* span("manifest")]
      links.sent("log", { key: "s/0", first: 1, last: 5 }, put)
      links.sent("log", { key: "s/0", first: 1, last: 5 }, again)
      links.sent("log", { key: "s/1", first: 6, last: 9 }, next)
      links.covered("log", 5, first)
      links.covered("log", 9, second)
      assert.deepStrictEqual([linked(first), linked(second)], [["put"], ["next"]])
    }))

  it.effect("are bounded: a span has 128, a log remembers ten thousand requests", () =>
    Effect.gen(function*() {
      const links = new TraceLinks()
      const [request, put, late] = [yield* span("request"), yield* span("put"), yield* span("late")]
      for (let seq = 1; seq <= 10_200; seq++) links.accepted("log", appended(seq, seq), request)
      links.sent("log", { key: "s/0", first: 1, last: 200 }, put)
      assert.deepStrictEqual(linked(put), [])
      links.sent("log", { key: "s/1", first: 201, last: 1_000 }, late)
      assert.strictEqual(late.links.length, 128)
      assert.strictEqual(late.attributes.get("wal.requests"), 800)
    }))
})
