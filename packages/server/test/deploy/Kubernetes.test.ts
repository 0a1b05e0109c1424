/** The manifests for Kubernetes against the program and against each other. No cluster is asked. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Schema } from "effect"
import { loadConfig } from "../../src/config/ServerConfig.ts"
import { routeOf } from "../../src/RequestCount.ts"
import { documentsOf } from "./Texts.ts"

const Labels = Schema.Record(Schema.String, Schema.String)
const Probe = Schema.Struct({ httpGet: Schema.Struct({ path: Schema.String, port: Schema.String }) })
const Service = Schema.Struct({
  kind: Schema.Literal("Service"),
  metadata: Schema.Struct({ name: Schema.String, labels: Schema.optionalKey(Labels) }),
  spec: Schema.Struct({
    clusterIP: Schema.optionalKey(Schema.String),
    publishNotReadyAddresses: Schema.optionalKey(Schema.Boolean),
    selector: Labels,
    ports: Schema.Array(Schema.Struct({ name: Schema.String, port: Schema.Int, targetPort: Schema.String }))
  })
})
const ConfigMap = Schema.Struct({
  kind: Schema.Literal("ConfigMap"),
  metadata: Schema.Struct({ name: Schema.String }),
  data: Schema.Record(Schema.String, Schema.String)
})
const Budget = Schema.Struct({
  kind: Schema.Literal("PodDisruptionBudget"),
  spec: Schema.Struct({ maxUnavailable: Schema.Int, selector: Schema.Struct({ matchLabels: Labels }) })
})
const StatefulSet = Schema.Struct({
  kind: Schema.Literal("StatefulSet"),
  spec: Schema.Struct({
    serviceName: Schema.String,
    selector: Schema.Struct({ matchLabels: Labels }),
    template: Schema.Struct({
      metadata: Schema.Struct({ labels: Labels }),
      spec: Schema.Struct({
        terminationGracePeriodSeconds: Schema.Int,
        securityContext: Schema.Struct({ runAsNonRoot: Schema.Literal(true), runAsUser: Schema.Int }),
        containers: Schema.Array(Schema.Struct({
          name: Schema.String,
          image: Schema.String,
          args: Schema.Array(Schema.String),
          env: Schema.Array(Schema.Struct({
            name: Schema.String,
            value: Schema.optionalKey(Schema.String),
            valueFrom: Schema.optionalKey(
              Schema.Struct({ fieldRef: Schema.Struct({ fieldPath: Schema.String }) })
            )
          })),
          ports: Schema.Array(Schema.Struct({ name: Schema.String, containerPort: Schema.Int })),
          startupProbe: Probe,
          livenessProbe: Probe,
          readinessProbe: Probe,
          resources: Schema.Struct({ limits: Schema.Struct({ memory: Schema.String }) }),
          securityContext: Schema.Struct({ readOnlyRootFilesystem: Schema.Literal(true) }),
          volumeMounts: Schema.Array(Schema.Struct({ name: Schema.String, mountPath: Schema.String }))
        })),
        volumes: Schema.Array(Schema.Struct({
          name: Schema.String,
          configMap: Schema.optionalKey(Schema.Struct({ name: Schema.String })),
          secret: Schema.optionalKey(Schema.Struct({ secretName: Schema.String }))
        }))
      })
    }),
    volumeClaimTemplates: Schema.Array(Schema.Struct({
      metadata: Schema.Struct({ name: Schema.String }),
      spec: Schema.Struct({ resources: Schema.Struct({ requests: Schema.Struct({ storage: Schema.String }) }) })
    }))
  })
})
const Secret = Schema.Struct({
  kind: Schema.Literal("Secret"),
  metadata: Schema.Struct({ name: Schema.String }),
  stringData: Schema.Record(Schema.String, Schema.String)
})
const Monitor = Schema.Struct({
  kind: Schema.Literal("ServiceMonitor"),
  spec: Schema.Struct({
    selector: Schema.Struct({ matchLabels: Labels }),
    endpoints: Schema.Array(Schema.Struct({
      port: Schema.String,
      path: Schema.String,
      authorization: Schema.Struct({ credentials: Schema.Struct({ name: Schema.String, key: Schema.String }) })
    }))
  })
})
const Kustomization = Schema.Struct({
  kind: Schema.Literal("Kustomization"),
  resources: Schema.Array(Schema.String),
  images: Schema.Array(Schema.Struct({ name: Schema.String }))
})

const documents = documentsOf("deploy/kubernetes/effect-wal.yaml")

const kindOf = (document: unknown): unknown =>
  typeof document === "object" && document !== null && "kind" in document ? document.kind : undefined

/** The documents of a kind, decoded. */
const all = <A, I>(schema: Schema.Codec<A, I>, kind: string): ReadonlyArray<A> =>
  documents.filter((document) => kindOf(document) === kind).map((document) =>
    Schema.decodeUnknownSync(schema)(document)
  )

const one = <A, I>(schema: Schema.Codec<A, I>, kind: string): A => {
  const [found, ...others] = all(schema, kind)
  if (found === undefined || others.length > 0) throw new Error(`${others.length} more of ${kind}`)
  return found
}

const from = <A, I>(schema: Schema.Codec<A, I>, file: string): A =>
  Schema.decodeUnknownSync(schema)(documentsOf(`deploy/kubernetes/${file}`)[0])

const set = one(StatefulSet, "StatefulSet").spec
const pod = set.template.spec
const container = (() => {
  const [found] = pod.containers
  if (found === undefined) throw new Error("no container")
  return found
})()
const { data } = one(ConfigMap, "ConfigMap")
const config = loadConfig({ text: data["wal.yaml"] ?? "", env: { HOSTNAME: "effect-wal-0" } })
const mountOf = (name: string): string | undefined =>
  container.volumeMounts.find((mount) => mount.name === name)?.mountPath

describe("the manifests for Kubernetes", () => {
  it.effect("hold a configuration that is right, and name each node after its pod", () =>
    Effect.gen(function*() {
      const { streams } = yield* config
      assert.deepStrictEqual(streams.map(({ options }) => options.nodeId), ["effect-wal-0"])
      const hostname = container.env.find(({ name }) => name === "HOSTNAME")
      assert.strictEqual(hostname?.valueFrom?.fieldRef.fieldPath, "metadata.name")
      const file = container.env.find(({ name }) => name === "EFFECT_WAL_CONFIG")?.value
      assert.strictEqual(file, `${mountOf("config")}/wal.yaml`)
      assert.deepStrictEqual(container.args, ["serve"])
    }))

  it.effect("probe what the server answers, at its port", () =>
    Effect.gen(function*() {
      const { settings } = yield* config
      assert.deepStrictEqual(container.ports, [{ name: "http", containerPort: settings.port }])
      const { livenessProbe, readinessProbe, startupProbe } = container
      const probes = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet)
      assert.deepStrictEqual(probes.map(({ path }) => path), ["/healthz", "/healthz", "/readyz"])
      for (const { path, port } of probes) {
        assert.strictEqual(routeOf(path), path)
        assert.strictEqual(port, "http")
      }
    }))

  it.effect("give a pod more time to end than the server takes", () =>
    Effect.gen(function*() {
      const { settings } = yield* config
      assert.isAbove(pod.terminationGracePeriodSeconds, Duration.toSeconds(settings.drainTimeout))
      assert.isAbove(Duration.toSeconds(settings.drainDelay), 0)
    }))

  it.effect("give a pod memory for all that may be held at a time, and half a gibibyte for the process", () =>
    Effect.gen(function*() {
      const { settings: { limits }, streams } = yield* config
      const mebibytes = Number(/^(\d+)Mi$/.exec(container.resources.limits.memory)?.[1])
      // Bodies that come in, and as much of pages that go out.
      const held = streams.reduce((sum, { options }) => sum + options.maxBufferedBytes, 2 * limits.maxInFlightBodyBytes)
      assert.isAtLeast(mebibytes * 2 ** 20, held + 2 ** 29)
    }))

  it.effect("keep the spool on the volume of the pod, with room for it", () =>
    Effect.gen(function*() {
      const { streams } = yield* config
      const spool = streams[0]?.spool
      const [claim] = set.volumeClaimTemplates
      assert.match(spool?.path ?? "", new RegExp(`^${mountOf(claim?.metadata.name ?? "")}/`))
      const gibibytes = Number(/^(\d+)Gi$/.exec(claim?.spec.resources.requests.storage ?? "")?.[1])
      assert.isBelow(spool?.maxBytes ?? Number.NaN, gibibytes * 2 ** 30)
    }))

  it.effect("mount the tokens that the configuration names", () =>
    Effect.gen(function*() {
      const { settings } = yield* config
      const secret = from(Secret, "secret.yaml")
      assert.deepStrictEqual(
        pod.volumes.find(({ name }) => name === "tokens")?.secret?.secretName,
        secret.metadata.name
      )
      assert.deepStrictEqual(
        settings.tokens.map((token) => token.secret),
        Object.keys(secret.stringData).map((key) => ({ file: `${mountOf("tokens")}/${key}` }))
      )
    }))

  it("select the pods that there are", () => {
    const labels = set.template.metadata.labels
    const services = all(Service, "Service")
    const selectors = [set.selector.matchLabels, one(Budget, "PodDisruptionBudget").spec.selector.matchLabels]
    for (const selector of [...selectors, ...services.map(({ spec }) => spec.selector)]) {
      assert.deepStrictEqual(selector, labels)
    }
    const headless = services.find(({ spec }) => spec.clusterIP === "None")
    assert.strictEqual(headless?.metadata.name, set.serviceName)
    assert.isTrue(headless?.spec.publishNotReadyAddresses)
  })

  it.effect("are scraped at /metrics by a token that may read", () =>
    Effect.gen(function*() {
      const { settings } = yield* config
      const { endpoints: [endpoint], selector } = from(Monitor, "servicemonitor.yaml").spec
      const services = all(Service, "Service")
      const scraped = services.filter(({ metadata }) =>
        Object.entries(selector.matchLabels).every(([key, value]) => metadata.labels?.[key] === value)
      )
      assert.deepStrictEqual(scraped.map(({ metadata }) => metadata.name), [set.serviceName])
      assert.strictEqual(scraped[0]?.spec.ports[0]?.name, endpoint?.port)
      assert.strictEqual(endpoint?.path, "/metrics")
      const key = endpoint?.authorization.credentials.key
      const token = settings.tokens.find(({ secret }) => "file" in secret && secret.file.endsWith(`/${key}`))
      assert.deepStrictEqual(token?.scopes, ["read"])
    }))

  it("are what kustomize puts together", () => {
    const { images, resources } = from(Kustomization, "kustomization.yaml")
    assert.deepStrictEqual(resources, ["effect-wal.yaml"])
    assert.deepStrictEqual(images.map(({ name }) => name), [container.image])
  })
})
