import { EndSearch, lengthField, type Stream } from '../kit/index.ts'
import { isAngle } from './text.ts'

const CR = 0x0d
const ZIP = 0x02

const zip = lengthField({ at: 1, width: 2, add: 4, end: 3, most: 2048 })
const universalZip = lengthField({ at: 1, width: 2, add: 3, most: 2048 })
const end = new EndSearch(CR)
const isUserData = /^(?:(?:ST|SA)\d{3,4})?UEX;/

/** A report ends with CR. A report with user data says how many bytes of them follow; the CR is behind these bytes. */
export function frameLength(bytes: Buffer, stream: Stream): number {
  const first = bytes[0]
  if (first === ZIP) return zip(bytes, stream)
  if (first >= 0x80) return universalZip(bytes, stream)
  // Control characters behind a frame, such as the LF of CR LF, are skipped.
  if (first < 0x20) return -1
  return end.after(bytes, endOfData(bytes), stream)
}

/** The longest header of a report with data. */
const HEADER = 256

/** Index behind the user data; 1 in a report without user data. */
function endOfData(bytes: Buffer): number {
  const header = bytes.toString('latin1', 0, HEADER)
  if (!isUserData.test(header)) return 1
  const fields = header.split(';')
  const place = fields.findIndex((field, i) => isAngle(field) && isAngle(fields[i + 1] ?? ''))
  const at = place < 0 ? -1 : place + (fields[0] === 'UEX' ? 8 : 9)
  if (at < 0 || at + 1 >= fields.length || !/^\d{1,4}$/.test(fields[at])) return 1
  return fields.slice(0, at + 1).join(';').length + 1 + Number(fields[at])
}
