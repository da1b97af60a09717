type Marks = readonly (readonly [mark: number, code: number])[]

/** What stands for FAAF and FBBF within a frame. */
const MARKS: Marks = [
  [0xfaaf, 1],
  [0xfbbf, 2],
]
/** The same in frames of kind 0020. */
const TAGGED_MARKS: Marks = [
  [0xfaaf, 2],
  [0xfbbf, 1],
]
const TAGGED = 0x0020
const ESCAPE = 0xfbbf

/** By the kind, with which a content begins. */
const marksOf = (content: Buffer): Marks =>
  content.length > 1 && content.readUInt16BE() === TAGGED ? TAGGED_MARKS : MARKS

/** A content as it was before FAAF and FBBF in it were replaced. */
export function unescapeMarks(content: Buffer): Buffer {
  const marks = marksOf(content)
  const result = Buffer.alloc(content.length)
  let to = 0
  for (let from = 0; from < content.length; ) {
    const code = from + 2 < content.length && content.readUInt16BE(from) === ESCAPE ? content[from + 2] : 0
    const mark = marks.find((each) => each[1] === code)
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
  const marks = marksOf(content)
  const result: number[] = []
  for (let from = 0; from < content.length; ) {
    const mark = marks.find(([each]) => from + 1 < content.length && content.readUInt16BE(from) === each)
    if (mark) {
      result.push(ESCAPE >> 8, ESCAPE & 0xff, mark[1])
      from += 2
    } else result.push(content[from++])
  }
  return Buffer.from(result)
}
