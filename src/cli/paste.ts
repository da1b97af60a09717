/** One way to read a pasted text. */
export interface PasteReading {
  readonly as: 'hex' | 'escapes' | 'base64' | 'text'
  readonly bytes: Buffer
}

/**
 * Pure. Returns the frames that a paste may contain: hex with blanks, colons or `0x`; C escapes; base64; text; each also
 * within a line of a log. Likeliest first, without repetitions, at most `MOST`.
 */
export function readPaste(paste: string): PasteReading[] {
  const line = paste.trim()
  if (line === '') return []
  const words = line.split(/[\s"'`,;=()[\]{}<>|]+/).filter((word) => word.length >= LEAST)
  const readings = [
    ...[line, ...runs(line, HEX_RUN), ...words].flatMap((text) => reading('hex', fromHex(text))),
    ...reading('escapes', fromEscapes(line)),
    ...[line, ...words].flatMap((text) => reading('base64', fromBase64(text))),
    ...texts(line).flatMap((text) => [`${text}\r\n`, text].flatMap((each) => reading('text', Buffer.from(each)))),
  ]
  const unique = new Map(readings.map((each) => [each.bytes.toString('latin1'), each] as const).toReversed())
  return [...unique.values()].toReversed().slice(0, MOST)
}

function reading(as: PasteReading['as'], bytes: Buffer | undefined): PasteReading[] {
  return bytes && bytes.length > 0 ? [{ as, bytes }] : []
}

function runs(line: string, pattern: RegExp): string[] {
  return (line.match(pattern) ?? []).toSorted((one, other) => other.length - one.length)
}

function fromHex(text: string): Buffer | undefined {
  const digits = text.replaceAll(/0x|\\x|[\s:,;-]/gi, '')
  if (digits.length < LEAST || digits.length % 2 === 1 || !/^[0-9a-f]+$/i.test(digits)) return undefined
  return Buffer.from(digits, 'hex')
}

/** As C, JSON and Python write bytes: `\x24`, `\u0024`, `\r`, `\n`, `\0`. */
function fromEscapes(line: string): Buffer | undefined {
  if (!ESCAPE.test(line)) return undefined
  const quoted = /^b?(["'])(.*)\1$/s.exec(line)?.[2] ?? line
  const text = quoted.replaceAll(ESCAPES, (_, hex?: string, unicode?: string, other = '') =>
    hex || unicode
      ? String.fromCharCode(Number.parseInt(hex || unicode || '', 16) & 0xff)
      : (CONTROLS.get(other) ?? other),
  )
  return Buffer.from(text, 'latin1')
}

function fromBase64(text: string): Buffer | undefined {
  if (text.length < LEAST || text.length % 4 !== 0 || !/^[\w+/-]+={0,2}$/.test(text)) return undefined
  return Buffer.from(text, 'base64')
}

/** The line, and what begins in it with a character that frames of text begin with. */
function texts(line: string): string[] {
  const plain = Buffer.from(fromEscapes(line) ?? line).toString()
  const starts = Array.from(plain.matchAll(/[$*#([+!@&%<{]|(?<=[\s"'])\w/g), ({ index }) => index)
  return [plain, ...starts.map((at) => plain.slice(at).replace(/["'\s]+$/, ''))]
}

const HEX_RUN = /(?:(?:0x)?[0-9a-f]{2}[\s:,-]{0,2}){8,}/gi
const ESCAPE = /\\(?:x[0-9a-f]{2}|u00[0-9a-f]{2}|[rnt0\\])/i
const ESCAPES = /\\(?:x([0-9a-f]{2})|u00([0-9a-f]{2})|([rnt0\\"']))/gi
const CONTROLS = new Map([
  ['r', '\r'],
  ['n', '\n'],
  ['t', '\t'],
  ['0', '\0'],
])
/** Shorter words are no frames. */
const LEAST = 8
const MOST = 40
