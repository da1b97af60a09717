/** What stands for FAAF and FBBF within a frame. */
const MARKS: readonly (readonly [mark: number, code: number])[] = [
  [0xfaaf, 1],
  [0xfbbf, 2],
]
const ESCAPE = 0xfbbf

/** A content as it was before FAAF and FBBF in it were replaced. */
export function unescapeMarks(content: Buffer): Buffer {
  const result = Buffer.alloc(content.length)
  let to = 0
  for (let from = 0; from < content.length; ) {
    const code = from + 2 < content.length && content.readUInt16BE(from) === ESCAPE ? content[from + 2] : 0
    const mark = MARKS.find((each) => each[1] === code)
    if (mark) {
      result.writeUInt16BE(mark[0], to)
      from += 3
      to += 2
    } else result[to++] = content[from++]
  }
  return result.subarray(0, to)
}

/** A content in which FAAF and FBBF are replaced. */
export function escapeMarks(content: Buffer): Buffer {
  const result: number[] = []
  for (let from = 0; from < content.length; ) {
    const mark = MARKS.find(([each]) => from + 1 < content.length && content.readUInt16BE(from) === each)
    if (mark) {
      result.push(ESCAPE >> 8, ESCAPE & 0xff, mark[1])
      from += 2
    } else result.push(content[from++])
  }
  return Buffer.from(result)
}
