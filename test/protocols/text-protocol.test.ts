import { describe, expect, it } from 'vitest'
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

/** What a protocol of these lines says of a text. */
function said(lines: Description['lines'], text: string, session: Session = newSession()) {
  const { reply, refusal, ...message } = made({ lines }).decode(Buffer.from(text), session)
  return { ...message, reply: reply?.toString(), refusal: refusal?.toString() }
}

function invalid(draft: Draft, session: Session): Fix | undefined {
  draft.valid = false
  return draft.fix(session)
}

/** The text between angle brackets. */
function withoutBrackets(text: string): string {
  if (!text.startsWith('<')) throw new DecodeError('malformed')
  return text.slice(1, -1)
}

describe('lines', () => {
  it('the first that is like a frame counts', () => {
    const lines = [
      { like: 'A{id}1', none: 'one' },
      { like: 'A{id}', none: 'two' },
      { like: '{id}', none: 'three' },
    ]
    expect(['Ax1', 'Ax2', 'Bx1'].map((text) => said(lines, text).none)).toEqual(['one', 'two', 'three'])
  })

  it('the ends of a frame, and blank lines in front of it, do not count', () => {
    const { decode } = made({ lines: [{ like: '{id}', none: 'login' }], ends: ';*' })
    expect(['7\r\n', '7;\n', '\r\n7*;\0', '7'].map((text) => decode(Buffer.from(text), newSession()).device)).toEqual([
      '7',
      '7',
      '7',
      '7',
    ])
  })

  it('NUL that fills up a field is not part of its text', () => {
    const { decode } = made({ lines: [{ like: '{imei},{secret},A', none: 'login' }] })
    const { device, secret } = decode(Buffer.from('356307042441013\0\0,1\0\0,A'), newSession())
    expect([device, secret]).toEqual(['356307042441013', '1'])
  })

  it('a frame that is like none is of another protocol', () => {
    expect(reasonOf(() => said([{ like: 'A{id}', none: 'login' }], 'B1'))).toBe('unsupported')
    expect(reasonOf(() => said([{ like: 'A{id}', none: 'login' }], '\r\n'))).toBe('truncated')
  })

  it('a place makes a fix; an empty one says why there is none', () => {
    expect(said([{ like: PLACED }], '7,1,2')).toMatchObject({ device: '7', fixes: [{ latitude: 1, longitude: 2 }] })
    expect(said([{ like: PLACED }], '7,,').none).toBe('no place')
    expect(said([{ like: PLACED, none: 'no fix' }], '7,,').none).toBe('no fix')
    expect(said([{ like: `${PLACED},{dmy}` }], '7,1,2,000000').none).toBe('no date')
  })

  it('of an unknown type says nothing, of an unknown layout that there may be fixes', () => {
    expect(said([{ like: '{id}', unknown: 'type' }], '7')).toEqual({ device: '7' })
    expect(said([{ like: '{id}', unknown: 'position' }], '7')).toEqual({ device: '7', fixes: [] })
  })

  it('a hook makes the fix, of one line or of all', () => {
    const { decode } = made({ lines: [{ like: 'A{lat},{lon}' }, { like: 'B', fix: () => undefined }], fix: invalid })
    expect(decode(Buffer.from('A1,2'), newSession()).fixes).toMatchObject([{ valid: false }])
    expect(decode(Buffer.from('B'), newSession()).none).toBe('no place')
  })

  it('are taken out of their envelope first', () => {
    const { decode } = made({ lines: [{ like: '{id}', none: 'login' }], before: withoutBrackets })
    expect(decode(Buffer.from('<7>'), newSession()).device).toBe('7')
    expect(reasonOf(() => decode(Buffer.from('7'), newSession()))).toBe('malformed')
  })

  it('are given to `before` with the bytes of their text, for a checksum', () => {
    const seen: string[] = []
    const before = (text: string, _: unknown, bytes: Buffer) => {
      seen.push(`${text} ${bytes.toString('hex')}`)
      return text
    }
    made({ lines: [{ like: '{id}', none: 'login' }], before }).decode(Buffer.from('\n7é\r\n', 'latin1'), newSession())
    expect(seen).toEqual(['7é 37e9'])
  })

  it('without a position, fixes without records, and unknown names in answers are refused at loading', () => {
    expect(() => made({ lines: [{ like: '{id}' }] })).toThrow('avl2: the line {id} has no place')
    expect(() => made({ lines: [{ like: '{id}', fixes: { split: '|', like: PLACED } }] })).toThrow('{records}')
    expect(() => made({ lines: [{ like: '{id}', none: 'login', answer: 'OK {event}' }] })).toThrow('{event}')
  })
})

describe('answers', () => {
  it('hold the device, the time of arrival, and fields of the line', () => {
    const answer = '{id} {clock} {date} {ymd} {hhmmss} {unix} {event} \\{\\}'
    const fields = { event: { like: '\\d+' } }
    const { decode } = made({ fields, lines: [{ like: '[{id}],{event}', none: 'status', answer }] })
    const reply = (text: string, device?: string) =>
      decode(Buffer.from(text), { ...newSession(), device }).reply?.toString()
    expect(reply('7,42')).toBe('7 20261120120000 20261120 261120 120000 1795176000 42 {}')
    expect(reply(',42', '8')).toMatch(/^8 /)
    expect(reply(',42')).toMatch(/^ 2026/)
  })

  it('may be code, or nothing', () => {
    const lines: Description['lines'] = [
      { like: 'A{id}', none: 'login', answer: (draft, { transport }) => `${draft.device} ${transport}` },
      { like: 'B{id}', none: 'login', answer: () => Buffer.of(6) },
      { like: 'C{id}', none: 'login', answer: () => undefined },
    ]
    expect(['A7', 'B7', 'C7'].map((text) => said(lines, text).reply)).toEqual(['7 tcp', '\x06', undefined])
  })

  it('refuse a device that is not configured', () => {
    expect(said([{ like: '{id}', none: 'login', answer: 'OK', refusal: 'NO {id}' }], '7').refusal).toBe('NO 7')
  })
})

const recordLines = (like: string | string[]): Description['lines'] => [
  { like: '[{id}]#{records}#', fixes: { split: '|', like }, answer: '{count}' },
]

describe('records', () => {
  it('are fixes if they fit one of the patterns; the positions of the others are reported', () => {
    const { fixes, unreadable, reply } = said(recordLines(['{lat};{lon}', 'x{lat};{lon}']), '7#1;2|a|x3;4|#')
    expect(fixes).toMatchObject([{ latitude: 1 }, { latitude: 3 }])
    expect([unreadable, reply]).toEqual([[1], '2'])
  })

  it('without coordinates count as read', () => {
    expect(said(recordLines('{lat};{lon}'), '7#;|1;2#')).toMatchObject({ fixes: [{ latitude: 1 }], reply: '2' })
    expect(said(recordLines('{lat};{lon}'), '7#;#')).toMatchObject({ none: 'no place', reply: '1' })
  })

  it('of which none can be read are refused', () => {
    expect(reasonOf(() => said(recordLines('{lat};{lon}'), '7#a|b#'))).toBe('malformed')
  })

  it('may name the device of all of them, or another one', () => {
    const { device, fixes } = said(recordLines('{id};{lat};{lon}'), '#7;1;2|7;1;2|8;1;2#')
    expect([device, fixes?.map((fix) => fix.device)]).toEqual(['7', [undefined, undefined, '8']])
  })
})

const checked = (integrity: Description['integrity'], text: string, session: Session) =>
  made({ integrity, lines: [{ like: '{any}${id}[*{any}]', none: 'login' }] }).decode(Buffer.from(text), session)

describe('a checksum', () => {
  const sum = { sum: 'xor', from: '$', to: '*', digits: 2 } as const
  it.each([
    ['from a text to a text', sum, '$7*37\r\n'],
    ['of lower case', { ...sum, sum: 'CRC-16/ARC', digits: 4 } as const, '$7*d641\r\n'],
    ['with the text behind it', { ...sum, from: 0, includesTo: true } as const, '$7*39'],
    ['with more behind it', sum, 'x$7*37,and more'],
  ])('%s', (_, integrity, text) => {
    const session = newSession()
    expect([checked(integrity, text, session).device, session.hasVerified]).toEqual(['7', true])
    expect(reasonOf(() => checked(integrity, text.replace('7', '8'), newSession()))).toBe('checksum')
    expect(checked(integrity, text.replace('7', '8'), newSession(true)).device).toBe('8')
  })

  it('that is missing is refused, unless it may be', () => {
    expect(reasonOf(() => checked(sum, '$7', newSession()))).toBe('checksum')
    expect(reasonOf(() => checked(sum, '$7*3', newSession()))).toBe('checksum')
    const session = newSession()
    expect([checked({ ...sum, optional: true }, '$7', session).device, session.hasVerified]).toEqual(['7', undefined])
  })
})
