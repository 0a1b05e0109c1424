import { assert, describe, it } from "@effect/vitest"
import { leftOutMessage, realS3, realS3Variables } from "../src/RealS3.ts"

const complete = {
  S3_ENDPOINT: "http://127.0.0.1:7480",
  AWS_ACCESS_KEY_ID: "id",
  AWS_SECRET_ACCESS_KEY: "secret",
  S3_BUCKET: "bucket"
}

describe("RealS3", () => {
  it("is what the environment names, and nothing when a variable is missing or blank", () => {
    const server = realS3(complete)
    assert.deepStrictEqual([server?.endpoint, server?.region, server?.bucket], [
      "http://127.0.0.1:7480",
      "us-east-1",
      "bucket"
    ])
    assert.notInclude(JSON.stringify(server), "secret\"")
    for (const name of realS3Variables) {
      assert.isUndefined(realS3({ ...complete, [name]: undefined }), name)
      assert.isUndefined(realS3({ ...complete, [name]: " " }), name)
    }
  })

  it("a run without a server says which tests it left out, and the command that installs one", () => {
    const message = leftOutMessage(["packages/s3/test/a.integration.test.ts"])
    assert.include(message, "NOT TESTED")
    assert.include(message, "packages/s3/test/a.integration.test.ts")
    assert.include(message, "scripts/radosgw.sh install")
  })
})
