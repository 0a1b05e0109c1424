import { fuzzSuite } from "@effect-wal/testing/fuzz/FuzzSuite"
import { answerTarget } from "./AnswerTarget.ts"

fuzzSuite(answerTarget, {
  inputs: 2_000,
  kept: [],
  reaches: [
    "answer: remove UnexpectedResponse",
    "answer: remove Unavailable",
    "answer: remove Throttled",
    "answer: remove AccessDenied",
    "answer: remove NoSuchBucket",
    "answer: remove CredentialsUnavailable",
    "error-in-success: remove Unavailable",
    "transport: the connection closed"
  ]
})
