import { expect, it } from 'vitest'
import { DecodeError, type Draft, endsWith, type Fix, type Session, textProtocol } from '../../protocols/kit/index.ts'
import { newSession, reasonOf } from '../support/rough.ts'

type Description = Parameters<typeof textProtocol>[0]

const DESCRIPTION = {
  name: 'avl2',
  devices: 'AVL-2',
  acknowledges: 'some',
  port: 5998,
  frame: endsWith('\r\n'),
  lines: [{ like: '{lat},{lon}' }],
} satisfies Description

const PLACED = '{id},{lat},{lon}'

const made = (changes: Partial<Description>) => textProtocol({ ...DESCRIPTION, ...changes })

/** Returns what a protocol with these lines reads from a text. */
function said(lines: Description['lines'], text: string, session: Session = newSession()) {
  const { reply, refusal, ...message } = made({ lines }).decode(Buffer.from(text), session)
  return { ...message, reply: reply?.toString(), refusal: refusal?.toString() }
}

function invalid(draft: Draft, session: Session): Fix | undefined {
  draft.valid = false
  return draft.fix(session)
}

/** Returns the text between angle brackets. */
function withoutBrackets(text: string): string {
  if (!text.startsWith('<')) throw new DecodeError('malformed')
  return text.slice(1, -1)
}

it('reads a frame by the first line pattern that matches', () => {
  const lines = [
    { like: 'A{id}1', none: 'one' },
    { like: 'A{id}', none: 'two' },
    { like: '{id}', none: 'three' },
  ]
  expect(['Ax1', 'Ax2', 'Bx1'].map((text) => said(lines, text).none)).toEqual(['one', 'two', 'three'])
})

it('ignores the ends of a frame and blank lines in front of it', () => {
  const { decode } = made({ lines: [{ like: '{id}', none: 'login' }], ends: ';*' })
  expect(['7\r\n', '7;\n', '\r\n7*;\0', '7'].map((text) => decode(Buffer.from(text), newSession()).device)).toEqual([
    '7',
    '7',
    '7',
    '7',
  ])
})

it('removes NUL bytes that pad a field', () => {
  const { decode } = made({ lines: [{ like: '{imei},{secret},A', none: 'login' }] })
  const { device, secret } = decode(Buffer.from('356307042441013\0\0,1\0\0,A'), newSession())
  expect([device, secret]).toEqual(['356307042441013', '1'])
})

it('refuses a frame that matches no line pattern', () => {
  expect(reasonOf(() => said([{ like: 'A{id}', none: 'login' }], 'B1'))).toBe('unsupported')
  expect(reasonOf(() => said([{ like: 'A{id}', none: 'login' }], '\r\n'))).toBe('truncated')
})

it('makes a fix of a place, and says why there is none if the place is empty', () => {
  expect(said([{ like: PLACED }], '7,1,2')).toMatchObject({ device: '7', fixes: [{ latitude: 1, longitude: 2 }] })
  expect(said([{ like: PLACED }], '7,,').none).toBe('no place')
  expect(said([{ like: PLACED, none: 'no fix' }], '7,,').none).toBe('no fix')
  expect(said([{ like: `${PLACED},{dmy}` }], '7,1,2,000000').none).toBe('no date')
})

it('reads nothing from an unknown type, and reports a possible fix in an unknown layout', () => {
  expect(said([{ like: '{id}', unknown: 'type' }], '7')).toEqual({ device: '7' })
  expect(said([{ like: '{id}', unknown: 'position' }], '7')).toEqual({ device: '7', fixes: [] })
})

it('makes the fix by the hook of a line, or of the protocol', () => {
  const { decode } = made({ lines: [{ like: 'A{lat},{lon}' }, { like: 'B', fix: () => undefined }], fix: invalid })
  expect(decode(Buffer.from('A1,2'), newSession()).fixes).toMatchObject([{ valid: false }])
  expect(decode(Buffer.from('B'), newSession()).none).toBe('no place')
})

it('removes the envelope of a frame by `before`, and refuses a frame without it', () => {
  const { decode } = made({ lines: [{ like: '{id}', none: 'login' }], before: withoutBrackets })
  expect(decode(Buffer.from('<7>'), newSession()).device).toBe('7')
  expect(reasonOf(() => decode(Buffer.from('7'), newSession()))).toBe('malformed')
})

it('gives `before` the text and its bytes, for a checksum', () => {
  const seen: string[] = []
  const before = (text: string, _: unknown, bytes: Buffer) => {
    seen.push(`${text} ${bytes.toString('hex')}`)
    return text
  }
  made({ lines: [{ like: '{id}', none: 'login' }], before }).decode(Buffer.from('\n7é\r\n', 'latin1'), newSession())
  expect(seen).toEqual(['7é 37e9'])
})

it('refuses to load a line without a place, fixes without {records}, and an answer with an unknown field', () => {
  expect(() => made({ lines: [{ like: '{id}' }] })).toThrow('avl2: the line {id} has no place')
  expect(() => made({ lines: [{ like: '{id}', fixes: { split: '|', like: PLACED } }] })).toThrow('{records}')
  expect(() => made({ lines: [{ like: '{id}', none: 'login', answer: 'OK {event}' }] })).toThrow('{event}')
})

it('fills an answer with the device, the time of arrival, and fields of the line', () => {
  const answer = '{id} {clock} {date} {ymd} {hhmmss} {unix} {event} \\{\\}'
  const fields = { event: { like: '\\d+' } }
  const { decode } = made({ fields, lines: [{ like: '[{id}],{event}', none: 'status', answer }] })
  const reply = (text: string, device?: string) =>
    decode(Buffer.from(text), { ...newSession(), device }).reply?.toString()
  expect(reply('7,42')).toBe('7 20261120120000 20261120 261120 120000 1795176000 42 {}')
  expect(reply(',42', '8')).toMatch(/^8 /)
  expect(reply(',42')).toMatch(/^ 2026/)
})

it('takes an answer from a function, which may return none', () => {
  const lines: Description['lines'] = [
    { like: 'A{id}', none: 'login', answer: (draft, { transport }) => `${draft.device} ${transport}` },
    { like: 'B{id}', none: 'login', answer: () => Buffer.of(6) },
    { like: 'C{id}', none: 'login', answer: () => undefined },
  ]
  expect(['A7', 'B7', 'C7'].map((text) => said(lines, text).reply)).toEqual(['7 tcp', '\x06', undefined])
})

it('refuses a device with the refusal of the line', () => {
  expect(said([{ like: '{id}', none: 'login', answer: 'OK', refusal: 'NO {id}' }], '7').refusal).toBe('NO 7')
})

const recordLines = (like: string | string[]): Description['lines'] => [
  { like: '[{id}]#{records}#', fixes: { split: '|', like }, answer: '{count}' },
]

it('reads records that match one of the patterns, and reports the positions of the others', () => {
  const { fixes, unreadable, reply } = said(recordLines(['{lat};{lon}', 'x{lat};{lon}']), '7#1;2|a|x3;4|#')
  expect(fixes).toMatchObject([{ latitude: 1 }, { latitude: 3 }])
  expect([unreadable, reply]).toEqual([[1], '2'])
})

it('counts a record without coordinates as read', () => {
  expect(said(recordLines('{lat};{lon}'), '7#;|1;2#')).toMatchObject({ fixes: [{ latitude: 1 }], reply: '2' })
  expect(said(recordLines('{lat};{lon}'), '7#;#')).toMatchObject({ none: 'no place', reply: '1' })
})

it('refuses a frame if none of its records can be read', () => {
  expect(reasonOf(() => said(recordLines('{lat};{lon}'), '7#a|b#'))).toBe('malformed')
})

it('takes the device of a frame from its records, and keeps the device of a record that differs', () => {
  const { device, fixes } = said(recordLines('{id};{lat};{lon}'), '#7;1;2|7;1;2|8;1;2#')
  expect([device, fixes?.map((fix) => fix.device)]).toEqual(['7', [undefined, undefined, '8']])
})

const checked = (integrity: Description['integrity'], text: string, session: Session) =>
  made({ integrity, lines: [{ like: '{any}${id}[*{any}]', none: 'login' }] }).decode(Buffer.from(text), session)

const sum = { sum: 'xor', from: '$', to: '*', digits: 2 } as const
it.each([
  ['from a text to a text', sum, '$7*37\r\n'],
  ['of lower case', { ...sum, sum: 'CRC-16/ARC', digits: 4 } as const, '$7*d641\r\n'],
  ['with the text behind it', { ...sum, from: 0, includesTo: true } as const, '$7*39'],
  ['with more behind it', sum, 'x$7*37,and more'],
])('checks a checksum, and ignores it if the session is lenient: %s', (_, integrity, text) => {
  const session = newSession()
  expect([checked(integrity, text, session).device, session.hasVerified]).toEqual(['7', true])
  expect(reasonOf(() => checked(integrity, text.replace('7', '8'), newSession()))).toBe('checksum')
  expect(checked(integrity, text.replace('7', '8'), newSession(true)).device).toBe('8')
})

it('refuses a missing checksum, unless it is optional', () => {
  expect(reasonOf(() => checked(sum, '$7', newSession()))).toBe('checksum')
  expect(reasonOf(() => checked(sum, '$7*3', newSession()))).toBe('checksum')
  const session = newSession()
  expect([checked({ ...sum, optional: true }, '$7', session).device, session.hasVerified]).toEqual(['7', undefined])
})
