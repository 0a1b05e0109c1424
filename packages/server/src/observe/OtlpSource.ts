/**
 * From the `otlp` block of the configuration, or else from the variables that OpenTelemetry has agreed on, to where spans
 * go. https://opentelemetry.io/docs/specs/otel/protocol/exporter/
 */
import { ConfigError } from "@effect-wal/core/WalError"
import { Redacted, Result } from "effect"
import type { OtlpSettings } from "./Tracing.ts"
import { otlpProtocols } from "./Tracing.ts"

/** The `otlp` block; `endpoint` is required. */
export interface OtlpBlock {
  readonly endpoint?: string
  readonly headers?: Redacted.Redacted
  readonly protocol: OtlpSettings["protocol"]
  readonly service_name: string
  readonly sample_ratio: number
}

/** What `headers` must be, for error messages. */
export const headersRule = "must be name=value, several separated by commas; a comma in a value is written %2C"

const headerForm = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=\s*(.*?)\s*$/

const decoded = (value: string): string => Result.getOrElse(Result.try(() => decodeURIComponent(value)), () => value)

/** Headers as OpenTelemetry writes them: `name=value,name=value`; `undefined` where they are not. */
export const parseHeaders = (text: string): Readonly<Record<string, string>> | undefined => {
  const pairs = text.split(",").filter((part) => part.trim() !== "").map((part) => headerForm.exec(part))
  const found = pairs.flatMap((match): ReadonlyArray<readonly [string, string]> => {
    const [, name, value] = match ?? []
    return name === undefined || value === undefined ? [] : [[name.toLowerCase(), decoded(value)]]
  })
  return found.length === pairs.length ? Object.fromEntries(found) : undefined
}

const tracesPath = "/v1/traces"

/** What `endpoint` must be, for error messages. */
export const endpointRule = "must be an http or https URL of the collector, as http://127.0.0.1:4318"

/** Whether it is such a URL. */
export const isEndpoint = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && (url.protocol === "http:" || url.protocol === "https:") && url.search === "" &&
    url.hash === "" &&
    url.username === "" && url.password === ""
}

/** An endpoint is the base of the collector, unless it names the path of traces already. */
const tracesUrl = (endpoint: string): string =>
  endpoint.endsWith(tracesPath) ? endpoint : `${endpoint.replace(/\/+$/, "")}${tracesPath}`

const noHeaders: Readonly<Record<string, string>> = {}

/** The settings of a checked block; `undefined` where there is none. */
export const otlpOfBlock = (block: OtlpBlock | undefined): OtlpSettings | undefined =>
  block?.endpoint === undefined ? undefined : {
    url: tracesUrl(block.endpoint),
    headers: Redacted.make(
      block.headers === undefined ? noHeaders : parseHeaders(Redacted.value(block.headers)) ?? noHeaders
    ),
    protocol: block.protocol,
    serviceName: block.service_name,
    sampleRatio: block.sample_ratio
  }

type Environment = Readonly<Record<string, string | undefined>>

/** The first of these variables that is set and not blank. */
const firstOf = (env: Environment, ...names: ReadonlyArray<string>) =>
  names.map((name) => ({ name, value: env[name]?.trim() ?? "" })).find(({ value }) => value !== "")

const wrong = (path: string, value: string | undefined, rule: string) =>
  Result.fail(
    new ConfigError({
      source: "environment",
      problems: [{ path, rule, ...(value === undefined ? {} : { value }) }]
    })
  )

const isProtocol = (value: string): value is OtlpSettings["protocol"] => otlpProtocols.some((one) => one === value)

const ratioOf = (env: Environment): number => {
  const sampler = env["OTEL_TRACES_SAMPLER"] ?? ""
  return sampler.endsWith("traceidratio") ? Number(env["OTEL_TRACES_SAMPLER_ARG"] ?? "1") : 1
}

/**
 * The settings that the variables of OpenTelemetry make; `undefined` where they name no endpoint or switch traces off.
 * Fails `ConfigError` where one cannot be used.
 */
export const otlpOfEnvironment = (env: Environment): Result.Result<OtlpSettings | undefined, ConfigError> => {
  const endpoint = firstOf(env, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
  const isOff = env["OTEL_SDK_DISABLED"]?.toLowerCase() === "true" || env["OTEL_TRACES_EXPORTER"] === "none" ||
    env["OTEL_TRACES_SAMPLER"] === "always_off"
  if (endpoint === undefined || isOff) return Result.succeed(undefined)
  if (!isEndpoint(endpoint.value)) return wrong(endpoint.name, endpoint.value, endpointRule)
  const given = firstOf(env, "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_EXPORTER_OTLP_HEADERS")
  const headers = given === undefined ? noHeaders : parseHeaders(given.value)
  if (headers === undefined) return wrong(given?.name ?? "", undefined, headersRule)
  const protocol = firstOf(env, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL")
  if (protocol !== undefined && !isProtocol(protocol.value)) {
    return wrong(protocol.name, protocol.value, `must be one of ${otlpProtocols.join(", ")}; grpc is not supported`)
  }
  const sampleRatio = ratioOf(env)
  if (!(sampleRatio >= 0 && sampleRatio <= 1)) {
    return wrong("OTEL_TRACES_SAMPLER_ARG", env["OTEL_TRACES_SAMPLER_ARG"], "must be a number, 0 to 1")
  }
  return Result.succeed({
    // The variable for traces is the whole URL, the general one is the base.
    url: endpoint.name.includes("TRACES") ? endpoint.value : tracesUrl(endpoint.value),
    headers: Redacted.make(headers),
    protocol: protocol === undefined ? "http/json" : isProtocol(protocol.value) ? protocol.value : "http/json",
    serviceName: firstOf(env, "OTEL_SERVICE_NAME")?.value ?? "effect-wal",
    sampleRatio
  })
}
