/**
 * PUTs around the SDK's middleware, which costs more processor than all else that a segment takes together.
 *
 * Where a PUT goes and what is said with each of them is learnt from one that the SDK builds and that is never sent. The
 * real ones are signed by the SDK's signer, with its credentials, and sent over its HTTP handler and connections. The SDK
 * still does those whose bucket is signed for in another way than version 4 of the signature (directory buckets), and all
 * of a machine whose clock is off: it knows by how much.
 *
 * Over TLS the body is not part of the signature (`UNSIGNED-PAYLOAD`,
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html); the CRC-32 in the headers is, and the
 * store compares the body with it. Without TLS the body's SHA-256 is signed, as the SDK does it, unless the options say
 * otherwise: it takes longer than sending the body does.
 */
import type { PutObjectCommand, S3Client as Sdk } from "@aws-sdk/client-s3"
import { Predicate } from "effect"
import { hash } from "node:crypto"
import { inspectAnswer } from "./AnswerInspection.ts"
import type { RawResponse } from "./AnswerInspection.ts"

/** What differs from PUT to PUT. */
export interface DirectRequest {
  readonly key: string
  readonly body: Uint8Array
  /** Headers of this request alone: its condition, and the checksum of its body. Names in lower case. */
  readonly headers: Readonly<Record<string, string>>
}

/** Sends one PUT; answers the tag, rejects as a request of the SDK does. */
export type DirectPut = (request: DirectRequest, signal: AbortSignal) => Promise<string | undefined>

type Signer = Awaited<ReturnType<Sdk["config"]["signer"]>>

/** All that PUTs into one bucket have in common. */
interface Template {
  readonly protocol: string
  readonly hostname: string
  readonly port: number | undefined
  /** Whether bodies are part of the signature. */
  readonly isSigned: boolean
  /** The path up to the key. */
  readonly before: string
  readonly headers: Readonly<Record<string, string>>
  readonly signer: Promise<Signer>
}

/** A PUT like all others, and whether bodies are left out of signatures even where nothing encrypts them on their way. */
export interface DirectPutOptions {
  readonly example: PutObjectCommand
  readonly unsignedPayload: "over_tls" | "always"
}

/** Of one request alone, whatever the request of the SDK was that they were seen on. */
const ownHeaders = new Set([
  "amz-sdk-invocation-id",
  "amz-sdk-request",
  "authorization",
  "content-length",
  "if-match",
  "if-none-match",
  "x-amz-checksum-crc32",
  "x-amz-content-sha256",
  "x-amz-date",
  "x-amz-security-token"
])

/** As the SDK writes a key into a path: all but the unreserved characters of RFC 3986, and `/`. */
const pathOf = (key: string): string =>
  encodeURIComponent(key).replaceAll("%2F", "/").replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`
  )

const commonHeaders = (headers: object): Record<string, string> => {
  const common: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (Predicate.isString(value) && !ownHeaders.has(name.toLowerCase())) common[name.toLowerCase()] = value
  }
  return common
}

/** `undefined` where the request is not what it is thought to be: then the SDK goes on doing them all. */
const templateOf = (
  request: unknown,
  { example, unsignedPayload }: DirectPutOptions,
  signer: () => Promise<Signer>
): Template | undefined => {
  if (!Predicate.hasProperty(request, "path") || !Predicate.isString(request.path)) return undefined
  if (!Predicate.hasProperty(request, "protocol") || !Predicate.isString(request.protocol)) return undefined
  if (!Predicate.hasProperty(request, "hostname") || !Predicate.isString(request.hostname)) return undefined
  if (!Predicate.hasProperty(request, "headers") || !Predicate.isObject(request.headers)) return undefined
  const path = pathOf(example.input.Key ?? "")
  if (!request.path.endsWith(`/${path}`)) return undefined
  const port = Predicate.hasProperty(request, "port") && Predicate.isNumber(request.port) ? request.port : undefined
  return {
    protocol: request.protocol,
    hostname: request.hostname,
    port,
    isSigned: unsignedPayload === "over_tls" && request.protocol !== "https:",
    before: request.path.slice(0, -path.length),
    headers: commonHeaders(request.headers),
    signer: signer()
  }
}

const requestOf = (template: Template, request: DirectRequest) => {
  const { before, headers, hostname, isSigned, port, protocol } = template
  return {
    method: "PUT",
    protocol,
    hostname,
    ...(port === undefined ? {} : { port }),
    path: `${before}${pathOf(request.key)}`,
    query: {},
    headers: {
      ...headers,
      ...request.headers,
      "content-length": String(request.body.byteLength),
      "x-amz-content-sha256": isSigned ? hash("sha256", request.body, "hex") : "UNSIGNED-PAYLOAD"
    },
    body: request.body
  }
}

const send = (sdk: Sdk, template: Template, request: DirectRequest, abortSignal: AbortSignal) =>
  template.signer
    .then((signer) => signer.sign(requestOf(template, request)))
    .then((signed): Promise<unknown> => sdk.config.requestHandler.handle(signed, { abortSignal }))
    .then((answer) => {
      const response: RawResponse = Object(Predicate.hasProperty(answer, "response") ? answer.response : undefined)
      return inspectAnswer("PutObjectCommand", response).then(() => response.headers["etag"])
    })

// As the SDK: from here on a clock is off. See `clockSkewCorrected` in https://github.com/aws/aws-sdk-js-v3,
// packages/core/src/submodules/httpAuthSchemes.
const skewMillis = 240_000

/** They ask for credentials, or for a session with them, before a request is built. */
const askers = ["httpAuthSchemeMiddleware", "s3ExpressMiddleware"]

/**
 * What the SDK says of a PUT into the bucket. Nothing is sent, and nobody is asked for credentials: they may not be there
 * yet, or be long in coming, and say nothing of where a PUT goes.
 */
const learn = (sdk: Sdk, options: DirectPutOptions): Promise<Template | undefined> => {
  const { example } = options
  let template: Template | undefined
  const stack = sdk.middlewareStack.clone()
  for (const name of askers) stack.remove(name)
  example.middlewareStack.add(
    (_send, context) => ({ request }) => {
      const scheme = context.authSchemes?.[0]
      if (scheme?.name === "sigv4") {
        template = templateOf(request, options, () => sdk.config.signer(scheme))
      }
      return Promise.resolve({ response: undefined, output: { $metadata: {} } })
    },
    { name: "learnPut", step: "build", priority: "low" }
  )
  // What cannot be built fails again, with its reason, where it is sent.
  return Promise.resolve()
    .then(() => example.resolveMiddleware(stack, sdk.config, {})(example))
    .then(() => template, () => undefined)
}

/** How to send PUTs; `undefined`, asked before each of them, where the SDK has to do it. */
export const makeDirectPut = (sdk: Sdk, options: DirectPutOptions): Promise<() => DirectPut | undefined> =>
  learn(sdk, options).then((template) => () => {
    if (template === undefined || Math.abs(sdk.config.systemClockOffset) >= skewMillis) return undefined
    return (request, signal) => send(sdk, template, request, signal)
  })
