import { between, type Stream } from '../kit/index.ts'

const inParentheses = between('(', ')')
const DOLLAR = 0x24
const CLOSE = 0x29

/** Length of the first frame: it ends with `)`, which does not count within text between two `$`. */
export function frameLength(bytes: Buffer, stream: Stream): number {
  const length = inParentheses(bytes, stream)
  const begin = bytes.indexOf(DOLLAR)
  if (length < 0 || begin < 0 || (length > 0 && begin > length)) return length
  const end = bytes.indexOf(DOLLAR, begin + 1)
  return end < 0 ? 0 : bytes.indexOf(CLOSE, end) + 1
}
