import { ByteWriter, crc16Xmodem } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import type { ProtocolCases } from '../support/protocol-cases.ts'

const ID = '862221087000777'

function packet(type: string, content: string, properties = 0x10): Buffer {
  const body = bytes(`${type} ${content}`)
  const w = new ByteWriter().u8(0xab).u8(properties).u16le(body.length).u16le(crc16Xmodem(body))
  return w.hex('0201').bytes(body).toBuffer()
}

/** A key with its length in front. */
const key = (name: string, value: string) => (bytes(value).length + 1).toString(16).padStart(2, '0') + name + value
const le = (value: number) => new ByteWriter().u32le(value).toBuffer().toString('hex')
const SECONDS = Date.UTC(2024, 4, 1, 23, 15, 30) / 1000
const IMEI = key('01', Buffer.from(ID).toString('hex'))
const status = (seconds: number) => key('24', `${le(seconds)} 00000000`.replace(' ', ''))
/** What a status of zeros says. */
const IDLE = { charging: false, moving: false, battery_percent: 0 }
const PLACE = le(525_250_000) + le(134_100_000)
const GPS = key('20', `${PLACE}24000e01220009000000000009`)
const FIX = {
  time: '2024-05-01T23:15:30Z',
  latitude: 52.525,
  longitude: 13.41,
  speed: 10,
  heading: 270,
  altitude: 34,
  hdop: 0.9,
  satellites: 9,
}
const KNOWN = { time: FIX.time, latitude: 52.525, longitude: 13.41 }
const BEACONS = [
  key('23', `001122334455${PLACE}484f4d45`),
  key('28', `80001122334455dec3${PLACE}`),
  key('2a', `c0001122334455c5${PLACE}4f`),
  key('2c', `c0001122334455d1c364${PLACE}4f`),
]
const REPLY = packet('7f', '0100', 0)

export default {
  costly: {
    'empty keys': packet('01', '00'.repeat(64_000)),
    'keys without a value': packet('01', '0124'.repeat(32_000)),
    'many positions': packet('01', GPS.repeat(2900)),
  },
  frames: [
    {
      title: 'positions of satellites and of known networks and beacons, by the time of their records',
      frames: [
        {
          frame: packet('01', IMEI + status(SECONDS) + GPS + status(SECONDS + 60) + GPS),
          device: ID,
          fixes: [
            { ...FIX, said: IDLE },
            { ...FIX, time: '2024-05-01T23:16:30Z', said: IDLE },
          ],
          reply: REPLY,
        },
        {
          frame: packet('01', IMEI + key('24', `${le(SECONDS)}10020064`) + key('02', `01100000${le(SECONDS)}`) + GPS),
          device: ID,
          fixes: [
            { ...FIX, said: { charging: true, moving: true, battery_percent: 100, alarms: ['low_battery', 'sos'] } },
          ],
          reply: REPLY,
        },
        {
          frame: packet('01', key('24', `${le(SECONDS)}10020064`) + key('02', '00010000') + status(SECONDS) + GPS),
          fixes: [{ ...FIX, said: IDLE }],
          reply: REPLY,
        },
        { frame: packet('01', key('20', '0000')), error: 'truncated', envelope: { reply: REPLY } },
        ...BEACONS.map((beacon) => ({
          frame: packet('01', IMEI + key('02', `00100000${le(SECONDS)}`) + beacon, 0),
          device: ID,
          fixes: [{ ...KNOWN, said: { alarms: ['sos' as const] } }],
        })),
        {
          frame: packet('01', status(SECONDS) + BEACONS.join('') + status(SECONDS + 60) + BEACONS[0]),
          fixes: [
            { ...KNOWN, said: IDLE },
            { ...KNOWN, time: '2024-05-01T23:16:30Z', said: IDLE },
          ],
          reply: REPLY,
        },
        {
          frame: packet('01', status(SECONDS) + BEACONS[0] + GPS + BEACONS[1]),
          fixes: [{ ...FIX, said: IDLE }],
          reply: REPLY,
        },
        {
          frame: packet('01', GPS),
          fixes: [{ ...FIX, time: '2026-11-20T12:00:00Z' }],
          reply: REPLY,
        },
      ],
    },
    {
      title: 'no position',
      frames: [
        {
          frame: packet('01', IMEI + status(SECONDS) + key('22', 'ae646a22a76ce8')),
          device: ID,
          none: 'no place',
          said: IDLE,
          reply: REPLY,
        },
        {
          frame: packet(
            '01',
            [IMEI, status(SECONDS), key('28', '40001122334455dec3484f4d45'), key('2a', '40001122334455c54f')].join(''),
          ),
          device: ID,
          none: 'no place',
          said: IDLE,
          reply: REPLY,
        },
        { frame: REPLY, none: 'command answer' },
        { frame: packet('03', '0110'), none: 'services', reply: REPLY },
        { frame: packet('05', '0110'), reply: REPLY },
      ],
    },
  ],
  corrections: [
    {
      reason:
        'a message without a fix says one state, that of its last record; records without a place say nothing of fixes',
      frames: ['minifinder2-006', 'minifinder2-018', 'minifinder2-025'],
      says: ({ positions }) => {
        const state = positions.every(({ noPosition }) => noPosition) ? positions.at(-1)?.said : undefined
        return { positions: positions.map((each) => (each.noPosition ? { ...each, said: state } : each)) }
      },
    },
  ],
} satisfies ProtocolCases
