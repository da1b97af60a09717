import { describe, expect, it } from 'vitest'
import { cut } from '../../protocols/kit/index.ts'
import teltonika from '../../protocols/teltonika/index.ts'
import { type AvlRecord, avlContent, avlDatagram, avlEnvelope, avlLogin, avlPacket, bytes } from '../support/encode.ts'
import { decodesRough, flipped, framesOfParts, framesRough, newSession, reasonOf, within } from '../support/rough.ts'

const IMEI = '352093086403655'

const RECORD: AvlRecord = {
  time: Date.UTC(2026, 10, 20, 6, 30, 15, 250),
  latitude: 54.6872001,
  longitude: -25.2797003,
  altitude: -12,
  angle: 214,
  satellites: 9,
  speed: 54,
  io: {
    1: [
      [0xef, 1],
      [0x15, 4],
    ],
    2: [
      [0xb5, 13],
      [0xb6, 8],
      [0x18, 53],
    ],
    4: [[0xf1, 24601]],
    8: [[0x4e, 123456]],
  },
}

const FIX = {
  time: RECORD.time,
  latitude: 54.6872001,
  longitude: -25.2797003,
  valid: true,
  altitude: -12,
  speed: 15,
  heading: 214,
  satellites: 9,
  hdop: 0.8,
  said: { ignition: true, driver: '000000000001e240' },
}

const PACKET = avlPacket(0x08, [RECORD, { ...RECORD, time: RECORD.time + 1000 }])

describe('teltonika', () => {
  it('answers the login of an IMEI with 01, or refuses it with 00', () => {
    expect(decode(avlLogin(IMEI))).toEqual({ device: IMEI, none: 'login', reply: bytes('01'), refusal: bytes('00') })
  })

  it.each([
    ['8', 0x08],
    ['8 Extended', 0x8e],
    ['16', 0x10],
  ] as const)('reads codec %s, and answers with the number of records', (_, codec) => {
    const packet = avlPacket(codec, [RECORD, { ...RECORD, latitude: -1.5, satellites: 0 }])
    expect(decode(packet)).toEqual({
      fixes: [FIX, { ...FIX, latitude: -1.5, valid: false, satellites: 0 }],
      reply: bytes('00000002'),
    })
  })

  it('skips values that come with their length', () => {
    const variable = [[0x181, bytes('112233445566')] as const, [0x24, Buffer.alloc(0)] as const]
    expect(decode(avlPacket(0x8e, [{ ...RECORD, variable }, RECORD])).fixes).toEqual([FIX, FIX])
  })

  it('skips 16-byte values if the device has the setting `extended`', () => {
    const packet = avlPacket(0x08, [
      { ...RECORD, io: { ...RECORD.io, 16: [[0xcb, 1]] } },
      { ...RECORD, io: { 16: [] } },
    ])
    const session = { ...newSession(), settingsOf: () => ({ extended: true }) }
    expect(teltonika.decode(packet, session).fixes).toEqual([FIX, { ...FIX, hdop: undefined, said: undefined }])
  })

  it('takes the GNSS speed from element 24 if the model has it', () => {
    const session = { ...newSession(), settingsOf: () => ({ model: 'FMB920' }) }
    expect(teltonika.decode(PACKET, session).fixes?.[0].speed).toBeCloseTo(53 / 3.6, 10)
  })

  it('reads a datagram, and answers with its ids and the number of records', () => {
    expect(decode(avlDatagram(IMEI, 0x8e, [RECORD, RECORD, RECORD]))).toEqual({
      device: IMEI,
      fixes: [FIX, FIX, FIX],
      reply: bytes('0005 cafe 01 05 03'),
    })
  })

  it("reads the wiki's example of a datagram", () => {
    const example =
      '003DCAFE0105000F3335323039333038363430333635350801000001' +
      '6B4F815B30010000000000000000000000000000000103021503010101425DBC000001'
    expect(decode(bytes(example))).toMatchObject({
      device: IMEI,
      fixes: [{ time: Date.UTC(2019, 5, 13, 6, 23, 26), latitude: 0, longitude: 0, valid: false }],
      reply: bytes('0005cafe010501'),
    })
  })

  it.each([
    [
      '8',
      '3608010000016B40D8EA30010000000000000000000000000000000105021503010101425E0F01F10000601A014E0000000000000000010000C7CF',
    ],
    [
      '8 Extended',
      '4A8E010000016B412CEE000100000000000000000000000000000000010005000100010100010011001D00010010015E2C880002000B000000003544C87A000E000000001DD7E06A00000100002994',
    ],
    [
      '16',
      '5F10020000016BDBC7833000000000000000000000000000000000000B05040200010000030002000B00270042563A00000000016BDBC7871800000000000000000000000000000000000B05040200010000030002000B00260042563A00000200005FB3',
    ],
  ])("accepts the checksum of the wiki's example of codec %s", (_, example) => {
    expect(decode(bytes(`00000000000000${example}`)).fixes?.[0]).toMatchObject({ latitude: 0, valid: false })
  })

  it('reads codec 7 by its masks, and no fix without coordinates', () => {
    const content = bytes(
      // Records: all GPS fields with one element of each size; a time alone; 0 satellites.
      '07 03 52aa1432 0f ff 425ac000 41ca2000 006f 40 48 07 0001 0002 1f 00005208 01 f001 01 43100c 01 05 00000005' +
        '12aa1433 00 12aa1434 01 11 425ac000 41ca2000 00 03',
    )
    const place = { latitude: 54.6875, longitude: 25.265625 }
    const time = Date.UTC(2007, 0, 1) + 0x12aa1432 * 1000
    const said = { moving: true, battery_voltage: 4.108 }
    expect(decode(avlEnvelope(content))).toEqual({
      fixes: [
        { ...place, time, valid: true, altitude: 111, heading: 90, speed: 20, satellites: 7, said },
        { ...place, time: time + 2000, valid: false, satellites: 0 },
      ],
      reply: bytes('00000003'),
    })
  })

  it('reads no fix of codec 7 from coordinates that are no numbers', () => {
    const content = bytes('07 02 52aa1432 01 01 7fc00000 41ca2000 52aa1433 01 01 425ac000 ff800000 02')
    expect(decode(avlEnvelope(content))).toEqual({ none: 'no place', reply: bytes('00000002') })
  })

  it.each(['0c', '0d', '0e', '0f'])('reads no position from commands of codec %s', (codec) => {
    expect(decode(avlEnvelope(bytes(`${codec} 01 06 00000002 4f4b 01`)))).toEqual({ none: 'command' })
  })

  it('does not request the photo that a camera offers', () => {
    const offer = avlEnvelope(bytes('0c 01 0d 00000005 01 0a0b0c0d 01'))
    const data = Buffer.concat([bytes('0c 01 0d 0000080b 02 0a0b0c0d 00001000 0800'), Buffer.alloc(2048), bytes('01')])
    expect(decode(offer)).toEqual({ none: 'command' })
    expect(decode(avlEnvelope(data))).toEqual({ none: 'command' })
  })

  it('reads a ping as a frame that says nothing', () => {
    expect(decode(bytes('ff'))).toEqual({ none: 'ping' })
  })

  it('refuses a packet with any byte damaged, unless the session is lenient', () => {
    for (let at = 8; at < PACKET.length; at++) {
      expect(reasonOf(() => decode(flipped(PACKET, at * 8)))).toBe('checksum')
    }
    expect(teltonika.decode(flipped(PACKET, 9 * 8 + 70), newSession(true)).fixes).toHaveLength(2)
  })

  it('refuses a packet whose two record counts differ', () => {
    const content = avlContent(0x08, [RECORD])
    content[content.length - 1] = 2
    expect(reasonOf(() => decode(avlEnvelope(content)))).toBe('malformed')
  })

  it('refuses a packet with a wrong length field', () => {
    const packet = Buffer.from(PACKET)
    packet[7]++
    expect(reasonOf(() => decode(packet))).toBe('malformed')
  })

  it('refuses an unknown codec', () => {
    expect(reasonOf(() => decode(avlEnvelope(bytes('99 01 00 01'))))).toBe('unsupported')
  })

  it('refuses a login that is no text', () => {
    expect(reasonOf(() => decode(bytes('0003 31 00 32')))).toBe('malformed')
  })

  it.each([
    ['a login', avlLogin(IMEI)],
    ['a packet', PACKET],
    ['a datagram', avlDatagram(IMEI, 0x10, [RECORD])],
  ])('refuses %s cut short at any byte, and survives any flipped bit', (_, frame) => {
    for (let end = 1; end < frame.length; end++) {
      expect(
        reasonOf(() => decode(frame.subarray(0, end))),
        `${end} bytes`,
      ).toBeDefined()
    }
    within(60_000, () => decodesRough(teltonika, frame, frame.length * 8))
  })

  it('cuts a stream into the same frames wherever its parts end', () => {
    const { frame } = teltonika.tcp
    const frames = [avlLogin(IMEI), bytes('ff'), PACKET, avlPacket(0x8e, [RECORD])]
    const stream = Buffer.concat(frames)
    framesRough(frame, stream)
    const expected = [...frames.map((each) => each.toString('hex')), 'left over: ']
    for (let at = 0; at < stream.length; at++) expect(framesOfParts(frame, stream, at)).toEqual(expected)
  })

  it('cuts a run of pings as one frame', () => {
    const { frames, rest } = cut(
      Buffer.concat([Buffer.alloc(65_536, 0xff), avlLogin(IMEI)]),
      teltonika.tcp.frame,
      newSession(),
    )
    expect([frames.map(({ length }) => length), rest.length]).toEqual([[65_536, 17], 0])
    expect(decode(frames[0])).toEqual({ none: 'ping' })
  })

  it.each([
    ['12 zeros, as of a packet without content', '000000000000000000000000'],
    ['one zero', '00'],
    ['three zeros', '000000'],
    ['a line end', '0d0a'],
    ['words', Buffer.from('HELLO, WORLD').toString('hex')],
  ])('finds the next frame behind %s, wherever the parts of the stream end', (_, stray) => {
    const { frame } = teltonika.tcp
    const long = avlPacket(
      0x8e,
      Array.from({ length: 8 }, () => RECORD),
    )
    for (const next of [avlLogin(IMEI), PACKET, long]) {
      const stream = Buffer.concat([PACKET, bytes(stray), next, PACKET])
      const expected = [PACKET, next, PACKET].map((each) => each.toString('hex'))
      for (let at = 0; at < stream.length; at++)
        expect(framesOfParts(frame, stream, at), `${next.length} bytes, cut at ${at}`).toEqual([
          ...expected,
          'left over: ',
        ])
    }
  })

  it('skips 64 KB of zeros in one step', () => {
    expect(cut(Buffer.alloc(65_536), teltonika.tcp.frame, newSession(), 1)).toMatchObject({ noise: 65_529 })
  })

  it('skips bytes that begin no frame', () => {
    expect(framesOfParts(teltonika.tcp.frame, Buffer.concat([bytes('0102030405060708'), avlLogin(IMEI)]), 0)).toEqual([
      avlLogin(IMEI).toString('hex'),
      'left over: ',
    ])
  })

  it.each([
    ['000f333532', 'yes'],
    ['00', 'maybe'],
    ['000f', 'maybe'],
    ['', 'maybe'],
    ['000f41', 'no'],
    ['7878', 'no'],
    ['2a48512c', 'no'],
  ])('answers whether a stream that begins with %s may be Teltonika: %s', (start, match) => {
    expect(teltonika.tcp.starts(bytes(start))).toBe(match)
  })
})

function decode(frame: Buffer) {
  return teltonika.decode(frame, newSession())
}

it('reads Codec JSON over HTTP with the settings of the device that the secret of the request proves', () => {
  const asked: unknown[] = []
  const settingsOf = (...sender: unknown[]) => {
    asked.push(sender)
    return { model: 'FMB920' }
  }
  const report = { state: { reported: { ts: 1_714_558_530_000, latlng: '52.5,13.4', sp: 90, 24: 36, sat: 9 } } }
  const request = {
    method: 'POST',
    uri: '/352093086403663/data?token=s',
    headers: {},
    body: Buffer.from(JSON.stringify(report)),
  }
  expect(teltonika.request?.(request, { ...newSession(), settingsOf }).fixes?.[0].speed).toBe(10)
  expect(asked).toEqual([['352093086403663', 's']])
})
