export * as DirectoryObjectStore from "./DirectoryObjectStore.ts"
export * as DiskFile from "./DiskFile.ts"
export * as NodeCompression from "./NodeCompression.ts"
export * as NodeDigest from "./NodeDigest.ts"
