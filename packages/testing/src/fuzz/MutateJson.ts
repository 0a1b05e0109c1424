/**
 * JSON as a tree of raw tokens, so that a mutation can also write what no value is: doubled names, numbers beyond any
 * range, half surrogates, nesting without end.
 */
import type { FuzzRandom } from "./FuzzRandom.ts"

/** A token is its own text, whatever that is. */
export type JsonNode = JsonToken | JsonList | JsonObject

interface JsonToken {
  readonly kind: "token"
  text: string
}

interface JsonList {
  readonly kind: "list"
  items: Array<JsonNode>
}

interface JsonObject {
  readonly kind: "object"
  /** Names as JSON text, quotes included. */
  members: Array<JsonMember>
}

interface JsonMember {
  name: string
  value: JsonNode
}

const token = (text: string): JsonToken => ({ kind: "token", text })

/** The tree of a value that JSON can write. */
export const nodeOf = (value: unknown): JsonNode => {
  if (Array.isArray(value)) return { kind: "list", items: value.map(nodeOf) }
  if (typeof value !== "object" || value === null) return token(JSON.stringify(value) ?? "null")
  return {
    kind: "object",
    members: Object.entries(value)
      .filter(([, each]) => each !== undefined)
      .map(([name, each]) => ({ name: JSON.stringify(name), value: nodeOf(each) }))
  }
}

/** The text of a tree, without white space. */
export const renderJson = (node: JsonNode): string => {
  if (node.kind === "token") return node.text
  if (node.kind === "list") return `[${node.items.map(renderJson).join(",")}]`
  return `{${node.members.map(({ name, value }) => `${name}:${renderJson(value)}`).join(",")}}`
}

/** A tree of its own with the same text. */
export const copyNode = (node: JsonNode): JsonNode => {
  if (node.kind === "token") return token(node.text)
  if (node.kind === "list") return { kind: "list", items: node.items.map(copyNode) }
  return { kind: "object", members: node.members.map(({ name, value }) => ({ name, value: copyNode(value) })) }
}

const scalars: ReadonlyArray<string> = [
  "null",
  "true",
  "false",
  "0",
  "-0",
  "1",
  "-1",
  "2",
  "0.5",
  "1e3",
  "1e400",
  "-1e400",
  "5e-324",
  "4294967296",
  "9999999999",
  "10000000000",
  "9007199254740991",
  "9007199254740992",
  "9007199254740993",
  "18446744073709551616",
  "\"\"",
  "\"0\"",
  "\"true\"",
  "\"a\"",
  "\"\\ud800\"",
  "\"\\u0000\"",
  "\"\\n\"",
  "\"\u2028\"",
  "\"\u{1f600}\"",
  "\"__proto__\"",
  `"${"f".repeat(32)}"`,
  `"${"x".repeat(300)}"`,
  "[]",
  "{}",
  "[[]]",
  "{\"__proto__\":{\"a\":1}}",
  "{\"constructor\":1,\"toString\":2}"
]

/** What is no JSON at all. */
const broken: ReadonlyArray<string> = [
  "",
  "NaN",
  "Infinity",
  "01",
  "1.",
  ".5",
  "'a'",
  "\"",
  "undefined",
  "[",
  "}",
  "\\"
]

const nested = (random: FuzzRandom): string => {
  const depth = random.pick([3, 65, 129, 1_001, 6_000])
  return random.oneIn(2)
    ? "[".repeat(depth) + "]".repeat(depth)
    : "{\"a\":".repeat(depth) + "0" + "}".repeat(depth)
}

/** One token, mostly of JSON. */
const anyToken = (random: FuzzRandom): string => {
  if (random.oneIn(60)) return nested(random)
  return random.oneIn(30) ? random.pick(broken) : random.pick(scalars)
}

const names: ReadonlyArray<string> = [
  "\"\"",
  "\"a\"",
  "\"__proto__\"",
  "\"constructor\"",
  "\"toString\"",
  "\"\\ud800\"",
  "\"version\"",
  "\"default\"",
  "\"\\u0061\""
]

type Parent = JsonList | JsonObject

const parentsOf = (node: JsonNode): ReadonlyArray<Parent> => {
  if (node.kind === "token") return []
  const children = node.kind === "list" ? node.items : node.members.map(({ value }) => value)
  return [node, ...children.flatMap(parentsOf)]
}

const mutateList = (random: FuzzRandom, list: JsonList): void => {
  const { items } = list
  const at = random.below(items.length)
  const item = items[at]
  random.perform(
    () => items.splice(at, 1),
    () => items.splice(at, 0, token(anyToken(random))),
    () => item !== undefined && items.splice(at, 0, copyNode(item)),
    () => item !== undefined && items.splice(at, 1, token(anyToken(random))),
    () => items.reverse(),
    () => items.push(...items.slice(0, 8).map(copyNode))
  )
}

const mutateObject = (random: FuzzRandom, object: JsonObject): void => {
  const { members } = object
  const member = members[random.below(members.length)]
  const other = members[random.below(members.length)]
  if (member === undefined || other === undefined) {
    members.push({ name: random.pick(names), value: token(anyToken(random)) })
    return
  }
  random.perform(
    () => members.splice(members.indexOf(member), 1),
    () => {
      member.value = token(anyToken(random))
    },
    () => {
      member.value = token(anyToken(random))
    },
    () => members.push({ name: random.pick(names), value: token(anyToken(random)) }),
    // The same name twice.
    () => members.push({ name: member.name, value: random.oneIn(2) ? copyNode(other.value) : token(anyToken(random)) }),
    () => {
      member.name = random.pick(names)
    },
    () => {
      member.value = copyNode(other.value)
    },
    () => {
      member.value = { kind: "list", items: [member.value] }
    },
    () => {
      member.value = { kind: "object", members: [{ name: random.pick(names), value: member.value }] }
    }
  )
}

/** Changes the tree in place, `times` times: a member or an item goes, comes, is doubled, renamed, moved or replaced. */
export const mutateJson = (random: FuzzRandom, root: JsonNode, times = random.between(1, 3)): void => {
  for (let time = 0; time < times; time++) {
    const parents = parentsOf(root)
    if (parents.length === 0) return
    const parent = random.pick(parents)
    if (parent.kind === "list") mutateList(random, parent)
    else mutateObject(random, parent)
  }
}
