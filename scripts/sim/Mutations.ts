/** All mutations that walks have to find. */
import type { Mutation } from "./Mutation.ts"
import { protocolMutations } from "./ProtocolMutations.ts"
import { readMutations } from "./ReadMutations.ts"
import { writeMutations } from "./WriteMutations.ts"

export type { Mutation } from "./Mutation.ts"

export const mutations: ReadonlyArray<Mutation> = [...protocolMutations, ...writeMutations, ...readMutations]
