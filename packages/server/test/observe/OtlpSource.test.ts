import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Result } from "effect"
import { printConfig } from "../../src/config/ConfigPrint.ts"
import { loadConfig } from "../../src/config/ServerConfig.ts"
import { otlpOfEnvironment, parseHeaders } from "../../src/observe/OtlpSource.ts"

const base = "http://127.0.0.1:4318"

const settingsOf = (env: Readonly<Record<string, string>>) => {
  const found = Result.getOrThrow(otlpOfEnvironment(env))
  return found === undefined ? undefined : { ...found, headers: Redacted.value(found.headers) }
}

const problemOf = (env: Readonly<Record<string, string>>) => {
  const found = otlpOfEnvironment({ OTEL_EXPORTER_OTLP_ENDPOINT: base, ...env })
  return Result.isFailure(found) ? found.failure.problems[0]?.path : undefined
}

describe("the variables of OpenTelemetry", () => {
  it("name the collector, its headers, the service and the share of requests", () => {
    assert.isUndefined(settingsOf({}))
    assert.deepStrictEqual(settingsOf({ OTEL_EXPORTER_OTLP_ENDPOINT: `${base}/` }), {
      url: `${base}/v1/traces`,
      headers: {},
      protocol: "http/json",
      serviceName: "effect-wal",
      sampleRatio: 1
    })
    assert.deepStrictEqual(
      settingsOf({
        OTEL_EXPORTER_OTLP_ENDPOINT: "http://other",
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${base}/custom`,
        OTEL_EXPORTER_OTLP_HEADERS: "A=1,b=x%2Cy",
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
        OTEL_SERVICE_NAME: "wal",
        OTEL_TRACES_SAMPLER: "parentbased_traceidratio",
        OTEL_TRACES_SAMPLER_ARG: "0.25"
      }),
      {
        url: `${base}/custom`,
        headers: { a: "1", b: "x,y" },
        protocol: "http/protobuf",
        serviceName: "wal",
        sampleRatio: 0.25
      }
    )
  })

  it("switch it off", () => {
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: base }
    assert.isUndefined(settingsOf({ ...endpoint, OTEL_SDK_DISABLED: "true" }))
    assert.isUndefined(settingsOf({ ...endpoint, OTEL_TRACES_EXPORTER: "none" }))
    assert.isUndefined(settingsOf({ ...endpoint, OTEL_TRACES_SAMPLER: "always_off" }))
  })

  it("are refused by name where they cannot be used", () => {
    assert.strictEqual(problemOf({ OTEL_EXPORTER_OTLP_ENDPOINT: "nonsense" }), "OTEL_EXPORTER_OTLP_ENDPOINT")
    assert.strictEqual(problemOf({ OTEL_EXPORTER_OTLP_HEADERS: "no value" }), "OTEL_EXPORTER_OTLP_HEADERS")
    assert.strictEqual(problemOf({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }), "OTEL_EXPORTER_OTLP_PROTOCOL")
    assert.strictEqual(
      problemOf({ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "2" }),
      "OTEL_TRACES_SAMPLER_ARG"
    )
    assert.isUndefined(problemOf({}))
  })
})

describe("headers", () => {
  it("are name=value, separated by commas", () => {
    assert.deepStrictEqual(parseHeaders("Authorization=Bearer abc== , x = y"), {
      authorization: "Bearer abc==",
      x: "y"
    })
    assert.deepStrictEqual(parseHeaders(""), {})
    for (const wrong of ["a", "=b", "a b=c", "a=1,b"]) assert.isUndefined(parseHeaders(wrong), wrong)
  })
})

const streams = "streams: [{ id: a, durability: { path: d } }]\n"

describe("server.otlp", () => {
  it.effect("is checked, and its headers are never shown", () =>
    Effect.gen(function*() {
      const text = `server: { otlp: { endpoint: "${base}", headers: "api-key=very-secret" } }\n${streams}`
      const loaded = yield* loadConfig({ text, env: {} })
      assert.deepStrictEqual(Redacted.value(loaded.otlp?.headers ?? Redacted.make({})), { "api-key": "very-secret" })
      assert.notInclude(printConfig(loaded), "very-secret")
      assert.notInclude(JSON.stringify(loaded), "very-secret")
      const missing = yield* Effect.flip(loadConfig({ text: `server: { otlp: {} }\n${streams}`, env: {} }))
      assert.include(missing.message, "server.otlp.endpoint")
      const wrong = yield* Effect.flip(
        loadConfig({ text: `server: { otlp: { endpoint: x, headers: "very-secret" } }\n${streams}`, env: {} })
      )
      assert.include(wrong.message, "server.otlp.endpoint")
      assert.include(wrong.message, "server.otlp.headers")
      assert.notInclude(wrong.message, "very-secret")
    }))
})
