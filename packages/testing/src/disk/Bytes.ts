/**
 * The bytes of a file: they grow when written behind the end, and what lies between is zero.
 */
export class Bytes {
  private buffer: Uint8Array
  private size: number

  constructor(content: Uint8Array = new Uint8Array(0)) {
    this.buffer = content
    this.size = content.length
  }

  get length(): number {
    return this.size
  }

  copy(): Bytes {
    return new Bytes(this.read(0, this.size))
  }

  /** Up to `length` bytes from `position` on, as a copy. */
  read(position: number, length: number): Uint8Array {
    return this.buffer.slice(position, Math.min(this.size, position + length))
  }

  write(position: number, bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.resize(Math.max(this.size, position + bytes.length))
    this.buffer.set(bytes, position)
  }

  resize(length: number): void {
    if (length > this.buffer.length) {
      const larger = new Uint8Array(Math.max(length, 2 * this.buffer.length))
      larger.set(this.buffer.subarray(0, this.size))
      this.buffer = larger
    }
    // What was cut off must not come back when the file grows again.
    this.buffer.fill(0, Math.min(length, this.size), this.size)
    this.size = length
  }
}
