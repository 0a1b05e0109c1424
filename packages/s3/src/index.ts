export * as S3ObjectStore from "./S3ObjectStore.ts"
export * as S3Options from "./S3Options.ts"
