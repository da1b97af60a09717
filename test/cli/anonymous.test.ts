import { describe, expect, it } from 'vitest'
import { loadProtocol } from '../../protocols/index.ts'
import { crc16X25, DecodeError, decodeFrame, type Message, type Protocol } from '../../protocols/kit/index.ts'
import { repairChecksum, standInFor, withoutId, withoutPlaces } from '../../src/cli/anonymous.ts'
import { anonymousCase } from '../../src/cli/anonymous-case.ts'
import { frameOf, heard, sessionOf } from '../support/own-frames.ts'
import { casesOf } from '../support/protocol-cases.ts'
import { newSession } from '../support/rough.ts'

const IMEI = '356307042441013'
const OTHER = standInFor(IMEI)

it('the substitute of an id has the same form, and that of an IMEI a right check digit', () => {
  expect(OTHER).toMatch(/^\d{15}$/)
  expect(OTHER).not.toBe(IMEI)
  expect([standInFor('dev:86A0'), standInFor('007')]).toEqual(['abc:56A0', '003'])
})

it.each([
  ['text', Buffer.from(`$X,${IMEI},1`), Buffer.from(`$X,${OTHER},1`)],
  ['packed decimals', Buffer.from(`aa0${IMEI}bb`, 'hex'), Buffer.from(`aa0${OTHER}bb`, 'hex')],
  [
    'packed decimals without the check digit',
    Buffer.from(IMEI.slice(0, 14), 'hex'),
    Buffer.from(OTHER.slice(0, 14), 'hex'),
  ],
  ['a number', number(IMEI), number(OTHER)],
  ['a little-endian number', backwards(number(IMEI)), backwards(number(OTHER))],
])('an id is replaced as %s', (_, before, after) => {
  expect(withoutId(before, IMEI)).toEqual(after)
})

describe('a place', () => {
  const around = [{ lat: 52.52, lon: -13.41 }]
  const shown = (text: string) => withoutPlaces(Buffer.from(text), around).bytes.toString()

  it('a place is replaced in text in any notation', () => {
    expect(shown('A,52.5301,-13.4102,17')).toBe('A,12.3451,-12.3451,17')
    expect(shown('A,5231.2,N,01324.6,W')).toBe('A,1234.5,N,12345.1,W')
    expect(shown('A,52520000,-1341000,120')).toBe('A,12345123,-1234512,120')
  })

  it('a place is replaced in bytes only if latitude and longitude stand together', () => {
    const frame = Buffer.alloc(14, 0x11)
    frame.writeInt32LE(52_530_100, 2)
    frame.writeInt32LE(-13_410_200, 6)
    const { bytes, isFound } = withoutPlaces(frame, around)
    expect([bytes.readInt32LE(2), bytes.readInt32LE(6), isFound]).toEqual([12_345_678, -23_456_789, true])
    expect([bytes.subarray(0, 2), bytes.subarray(10)]).toEqual([frame.subarray(0, 2), frame.subarray(10)])
    const lone = Buffer.alloc(40, 0x11)
    lone.writeInt32LE(52_530_100, 2)
    expect(withoutPlaces(lone, around)).toEqual({ bytes: lone, isFound: false, isDoubtful: false })
  })
})

describe('a case that is not anonymous', () => {
  const ABOUT = { device: IMEI, places: [{ lat: 52.52, lon: -13.41 }] }

  it.each([
    ['if it holds no known place', `*HQ,${IMEI},V9,101010,A#`],
    ['if a long number is left', `{"id":"${IMEI}","lat":52.5301,"la":481371540}`],
    ['if base64 is left', `{"id":"${IMEI}","lat":52.5301,"data":"AQIDBGxvbmcgZW5vdWdo"}`],
  ])('a case does not count as anonymous %s', async (_, text) => {
    const { isReplaced, lines } = await anonymousCase(kept(Buffer.from(text), ABOUT.device, 'h02'), ABOUT.places, 1)
    expect(isReplaced).toBe(false)
    expect(JSON.stringify(lines)).not.toContain(IMEI)
  })

  it('a case does not count as anonymous if its request still names a driver', async () => {
    const uri = `/?id=${IMEI}&lat=52.5301&lon=-13.4102&driverUniqueId=Meier`
    const frame = { ...kept(Buffer.alloc(0), IMEI, 'osmand'), method: 'GET', uri }
    expect((await anonymousCase(frame, ABOUT.places, 1)).isReplaced).toBe(false)
    const other = { ...frame, uri: uri.replace('&driverUniqueId=Meier', '') }
    const { isReplaced, lines } = await anonymousCase(other, ABOUT.places, 1)
    expect(isReplaced).toBe(true)
    expect(lines[0].input.uri).toBe(`/?id=${OTHER}&lat=12.3451&lon=-12.3451`)
  })

  it('an anonymous case contains no id of the other devices of a relay, in any notation', async () => {
    const text = `[{"ident":"0086612345","lat":52.5301},{"ident":"truck7","lat":52.5302}]`
    const frame = kept(Buffer.from(text), '86612345', 'flespi')
    const { lines } = await anonymousCase(
      { ...frame, content: { ...frame.content, others: ['TRUCK7'] } },
      ABOUT.places,
      1,
    )
    expect(JSON.stringify(lines)).not.toMatch(/86612345|truck7/i)
  })
})

it('a checksum is corrected if the original frame had a right one', () => {
  const frame = Buffer.from('78780501000700000d0a', 'hex')
  frame.writeUInt16BE(crc16X25(frame.subarray(2, 6)), 6)
  const changed = Buffer.from(frame)
  changed[4] = 0x55
  expect(repairChecksum(changed, frame, [3, -4])).toBe(true)
  expect(changed.readUInt16BE(6)).toBe(crc16X25(changed.subarray(2, 6)))
  expect(repairChecksum(Buffer.from('short'), Buffer.from('short'), [3, -4])).toBe(false)
})

for (const name of [
  'gt06',
  'h02',
  'teltonika',
  'jt808',
  'gl200',
  'watch',
  'meitrack',
  'egts',
  'astra',
  'xirgo',
  'noran',
])
  it(`the anonymous case of ${name} contains neither the id nor the place of the device`, async () => {
    const protocol = (await loadProtocol(name)) as Protocol
    const { frames } = await casesOf(name)
    for (const conversation of frames) {
      const session = sessionOf(protocol, conversation)
      for (const own of conversation.frames) {
        const frame = frameOf(own)
        const message = heard(protocol, frame, session)
        if (!Buffer.isBuffer(frame) || message instanceof DecodeError || !message.fixes?.length) continue
        const places = message.fixes.map(({ latitude: lat, longitude: lon }) => ({ lat, lon }))
        const device = message.device ?? session.device ?? ''
        const { lines, isReplaced } = await anonymousCase(kept(frame, device, protocol.name), places, 1)
        if (!isReplaced) continue
        const [line] = lines
        const { hex, text = '' } = line.input as { hex?: string; text?: string }
        const bytes = hex === undefined ? Buffer.from(text) : Buffer.from(hex, 'hex')
        const read = reread(() => decodeFrame(protocol, bytes, newSession(true)))
        expect(read?.device).not.toBe(device)
        for (const { latitude, longitude } of read?.fixes ?? [])
          expect(places.filter(({ lat, lon }) => Math.hypot(latitude - lat, longitude - lon) < 0.05)).toEqual([])
      }
    }
  })

function kept(frame: Buffer, device: string, protocol: string) {
  const content = { body: frame.toString('base64'), opening: [], others: [], places: [] }
  const about = {
    id: '1',
    at: '',
    transport: 'tcp',
    reason: 'not_read',
    read: { fixes: 0, unreadable: [] },
    opening: 0,
  }
  return { ...about, device, protocol, bytes: frame.length, content }
}

function reread(read: () => Message): Message | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof DecodeError) return error.envelope
    throw error
  }
}

function backwards(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toReversed())
}

function number(digits: string): Buffer {
  return Buffer.from(BigInt(digits).toString(16).padStart(14, '0'), 'hex')
}
