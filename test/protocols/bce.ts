import { ByteWriter } from '../../protocols/kit/index.ts'
import { eachPosition, type ProtocolCases } from '../support/protocol-cases.ts'

const IMEI = '867459045649688'
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.5,
  longitude: -13.25,
  altitude: -12,
  speed: 10,
  heading: 270,
  satellites: 9,
  hdop: 2,
}
const ACK = new ByteWriter().u64le(Number(IMEI)).u16le(2).hex('1905').sum8().toBuffer()

const [PLACE_END, ALWAYS, CARD] = ['00'.repeat(4), '01'.repeat(11), '17b5c40000000000']
const DRIVER = PLACE_END + ALWAYS + CARD
const BY_DRIVER = { driver: '12891415' }
/** Values without a place: bits 1 and 14 of the first mask, and the driver. */
const UNPLACED = `1d77a7651002c000804000${ALWAYS}${CARD}`

/** Masks, what follows the place, and what it says: the driver's card stands behind all values of the masks before its own. */
const DRIVEN: readonly (readonly [masks: string, values: string, said: typeof BY_DRIVER | undefined])[] = [
  ['03c000804000', DRIVER, BY_DRIVER],
  ['03c00080c000', `${DRIVER}01`, BY_DRIVER],
  ['0bc000804000', `${PLACE_END}${ALWAYS}0102${CARD}`, BY_DRIVER],
  ['ffc300804000', `${PLACE_END}${ALWAYS}${'0102'.repeat(8)}${CARD}`, BY_DRIVER],
  ['03c0db804000', `${PLACE_END}${ALWAYS}${'02'.repeat(11)}${CARD}`, BY_DRIVER],
  ['03c0ffff4000', `${PLACE_END}${ALWAYS}${'02'.repeat(43)}${CARD}`, BY_DRIVER],
  // Nobody; values of unknown width before it; cut short; another value alone.
  ['03c000804000', `${PLACE_END}${ALWAYS}${'00'.repeat(8)}`, undefined],
  ['03c001804000', DRIVER, undefined],
  ['03c400804000', DRIVER, undefined],
  ['01c000804000', DRIVER, undefined],
  ['03c000804100', DRIVER, undefined],
  ['03c000804000', DRIVER.slice(2), undefined],
  ['03c000808000', DRIVER, undefined],
]

/** The fixes of two vectors whose longitude nothing on earth has. */
const FAR_EAST = {
  time: '2022-10-14T04:41:24.000Z',
  valid: true,
  lat: 50.971867,
  lon: 1137.966675,
  speedKnots: 3.239741,
  altitude: 252,
  course: 168,
}
const FARTHER_EAST = {
  time: '2026-07-02T07:24:22.000Z',
  valid: true,
  lat: 49.402149,
  lon: 1295.233276,
  speedKnots: 10.259179,
  altitude: 342,
  course: 346,
}

export default {
  costly: {
    'structures of nothing but events': frame(0xa5, '0406000000'.repeat(13_000)),
    'structures of nothing but masks': frame(0xa5, `ff07000000${'ff80'.repeat(125)}00`.repeat(254)),
  },
  frames: [
    {
      title: 'a stack, a position of now, events',
      frames: [
        { frame: frame(0xa5, values('03c00100', '00000000')), device: IMEI, fixes: [FIX], reply: ACK },
        { frame: frame(0xa0, values('0100', '')), device: IMEI, fixes: [FIX] },
        {
          frame: frame(0xa5, values('03c00100', '00000000').repeat(10)),
          isTypical: true,
          device: IMEI,
          fixes: Array.from({ length: 10 }, () => FIX),
          reply: ACK,
        },
        { frame: frame(0xa5, `${values('0200', '')}05d67a765100`), device: IMEI, none: 'no place', reply: ACK },
        { frame: frame(0xa5, '05d97a765100'), device: IMEI, reply: ACK },
        {
          frame: new ByteWriter()
            .bytes(frame(0xa5, values('0100', '')).subarray(0, -1))
            .bytes(frame(0xa0, values('0300', '00000000')).subarray(8, -1))
            .sum8()
            .toBuffer(),
          device: IMEI,
          fixes: [FIX, FIX],
          reply: ACK,
        },
        ...DRIVEN.map(([masks, before, said]) => ({
          frame: frame(0xa5, values(masks, before)),
          device: IMEI,
          fixes: [{ ...FIX, said }],
          reply: ACK,
        })),
        // The last values have no place: what they say is the message's own, unless values with a place follow.
        {
          frame: frame(0xa5, values('03c000804000', DRIVER) + UNPLACED),
          device: IMEI,
          fixes: [{ ...FIX, said: BY_DRIVER }],
          said: BY_DRIVER,
          reply: ACK,
        },
        { frame: frame(0xa5, UNPLACED), device: IMEI, none: 'no place', said: BY_DRIVER, reply: ACK },
        { frame: frame(0xa5, UNPLACED + values('0100', '')), device: IMEI, fixes: [FIX], reply: ACK },
        { frame: frame(0xa5, '06d77a76510100'), error: 'truncated', envelope: { device: IMEI, reply: ACK } },
        { frame: frame(0xc1, ''), device: IMEI, none: 'command answer' },
        { frame: frame(0x33, ''), device: IMEI },
      ],
    },
  ],
  corrections: [
    {
      reason: '28 bits of two seconds begin anew after 2^28 of them, not one earlier',
      says: eachPosition(({ time = '' }) =>
        Date.parse(time) > Date.UTC(2025, 0, 4) ? { time: new Date(Date.parse(time) + 2000).toISOString() } : {},
      ),
    },
    {
      reason: 'a longitude above 180 is passed on: filters count it, where the peer drops it',
      frames: ['bce-000', 'bce-001'],
      says({ id, positions }) {
        const fixes = positions.filter(({ noPosition }) => !noPosition)
        return { positions: id === 'bce-000' ? [...fixes, FAR_EAST] : [FARTHER_EAST, ...fixes] }
      },
    },
  ],
} satisfies ProtocolCases

function frame(service: number, structures: string): Buffer {
  const w = new ByteWriter().u64le(Number(IMEI)).u16le((2 + structures.length / 2) & 0xffff)
  return w.u8(service).u8(0x85).hex(structures).sum8().toBuffer()
}

/** `extra`: what follows the altitude. */
function values(masks: string, extra: string): string {
  const time = (Date.parse(FIX.time) - Date.UTC(2008, 0, 1)) / 2000
  const place = Buffer.alloc(8)
  place.writeFloatLE(FIX.longitude, 0)
  place.writeFloatLE(FIX.latitude, 4)
  const w = new ByteWriter()
    .u32le((time << 4) | 7)
    .hex(masks)
    .bytes(place)
    .u8(36)
    .u8(0x29)
    .u8(135)
    .u16le(-12 & 0xffff)
  const data = w.hex(extra).toBuffer().toString('hex')
  return (data.length / 2).toString(16).padStart(2, '0') + data
}
