import { type Alarm, ByteWriter, kmh, type Said, sum8 } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { eachPosition, many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const AAA = 'AAA,35,52.525000,-13.410000,240501101530,A,7,20,45,270,0.9,34,1000,2000,262|2|1|1,0000,0|0|0'
const TIME = '2024-05-01T10:15:30Z'
const FIX = {
  time: TIME,
  latitude: 52.525,
  longitude: -13.41,
  speed: kmh(45),
  heading: 270,
  hdop: 0.9,
  altitude: 34,
  satellites: 7,
}
const TAGGED = { ...FIX, said: { ...volts(4.22, 14.25, 'tow'), battery_percent: 100, driver: '12165644' } }
const SECONDS = (Date.parse(TIME) - Date.UTC(2000, 0, 1)) / 1000

export default {
  costly: {
    'one field': frame(many('1')),
    'empty fields': frame(`AAA${many(',')}`),
    'records without content': frame(
      Buffer.concat([Buffer.from('CCE,\0\0\0\0\xff\xff', 'latin1'), Buffer.alloc(60_000)]),
    ),
    'compact records that are too short': frame(
      Buffer.concat([Buffer.from('CCC,\0\0\x18\0\0\0\0\0'), Buffer.alloc(60_000)]),
    ),
  },
  frames: [
    {
      title: 'a record without a place',
      frames: [{ frame: frame(cce(bytes('0100 01 0507 00 00 00'))), device: ID, none: 'no place' }],
    },
    {
      title: 'positions as text',
      frames: [
        { frame: frame(AAA), device: ID, fixes: [FIX] },
        {
          frame: frame(AAA.replace(',A,', ',V,').replace('0.9', '0.0')),
          device: ID,
          fixes: [{ ...FIX, hdop: undefined, valid: false }],
        },
        { frame: frame(AAA.replace(',A,', ',,')), device: ID, fixes: [{ ...FIX, valid: false }] },
        { frame: frame(AAA.replace('AAA', 'AFF')), device: ID, fixes: [FIX] },
        { frame: frame(AAA.replace('AAA,35', 'AAC,12,35')), device: ID, fixes: [FIX] },
        {
          frame: said('AAA,17', '0|0|0|0190|0020'),
          device: ID,
          fixes: [{ ...FIX, said: volts(4, 0.32, 'low_battery') }],
        },
        { frame: said('AAA,1', '0|0|0|0258|0100'), device: ID, fixes: [{ ...FIX, said: volts(3.515625, 12, 'sos') }] },
        {
          frame: said('AAA,23', '|||0a00|0400'),
          device: ID,
          fixes: [{ ...FIX, said: volts(4.125, 13.2, 'power_cut') }],
        },
        { frame: said('AAA,35', '4.33|12.96|1.92'), device: ID, fixes: [{ ...FIX, said: volts(4.33, 12.96) }] },
        {
          frame: said('AAA,37', '|||0190|0000,006380DF'),
          device: ID,
          fixes: [{ ...FIX, said: { ...volts(4, 0), driver: '006380DF' } }],
        },
        {
          frame: frame('AAA,35,-52.525,-13.41,240501101530,A,7,20,45,270'),
          device: ID,
          fixes: [{ ...FIX, latitude: -52.525, longitude: -13.41, hdop: undefined, altitude: undefined }],
        },
        ...[',1000', ',1000,2000', ',1000,2000,262|2|1|1', ',1000,2000,262|2|1|1,0000'].map((more) => ({
          frame: frame(`AAA,35,52.525000,-13.410000,240501101530,A,7,20,45,270,0.9,34${more}`),
          device: ID,
          fixes: [FIX],
        })),
        { frame: frame('AAA,35,other layout'), device: ID, fixes: [] },
        { frame: frame(AAA.replace('AAA', 'A10')), device: ID, fixes: [FIX] },
        { frame: frame('A10,OK'), device: ID, none: 'command answer' },
        { frame: frame('XYZ,1'), device: ID },
        { frame: Buffer.concat([frame(AAA).subarray(0, -4), Buffer.from('00\r\n')]), error: 'checksum' },
      ],
    },
    {
      title: 'positions as records',
      frames: [
        {
          frame: frame(ccc(compact(), compact())),
          device: ID,
          fixes: [
            { ...FIX, said: volts(4.17, 12.18) },
            { ...FIX, said: volts(4.17, 12.18) },
          ],
          reply: answered(2),
        },
        { frame: frame(ccc(compact().subarray(0, 24))), device: ID, fixes: [FIX], reply: answered(1) },
        {
          frame: frame(ccc(compact().subarray(0, 20))),
          error: 'truncated',
          envelope: { device: ID, reply: answered(1) },
        },
        { frame: frame(ccc(compact()).subarray(0, 12)), device: ID, none: 'no place', reply: answered(0) },
        { frame: frame(Buffer.from('CCC,\0\0\0\0\0\0\0\0')), device: ID, none: 'no place', reply: answered(0) },
        { frame: frame(Buffer.from('CCC,\0\0\0\0\0\0\0\0\0')), error: 'malformed' },
        { frame: frame(cce(tagged(), tagged())), device: ID, fixes: [TAGGED, TAGGED] },
        { frame: frame(cce()), device: ID, none: 'no place' },
        { frame: frame(cce(tagged(), bytes('0100 05'))), device: ID, fixes: [TAGGED], unreadable: [1] },
      ],
    },
  ],
  corrections: [
    {
      reason: 'V1.6, §1.2: how much a unit of the voltages is depends on the model, which the peer was not told',
      frames: [
        'meitrack-017',
        'meitrack-026',
        'meitrack-029',
        'meitrack-031',
        'meitrack-033',
        'meitrack-034',
        'meitrack-035',
        'meitrack-036',
        'meitrack-037',
        'meitrack-039',
        'meitrack-040',
        'meitrack-041',
        'meitrack-043',
        'meitrack-044',
        'meitrack-045',
        'meitrack-046',
        'meitrack-049',
      ],
      says: eachPosition((position) => ({ said: { ...position.said, batteryV: undefined, powerV: undefined } })),
    },
    {
      reason: 'the HDOP of CCE is in tenths, as that of CCC',
      says: (vector) =>
        'hex' in vector.input && Buffer.from(vector.input.hex ?? '', 'hex').includes(',CCE,')
          ? eachPosition(({ hdop = 0 }) => ({ hdop: hdop / 10 }))(vector)
          : undefined,
    },
    {
      reason: 'event 1 is the SOS button in CCC too',
      frames: ['meitrack-049'],
      says: ({ positions }) => ({
        positions: positions.map((each, i) => (i < 3 ? { ...each, said: { ...each.said, alarms: ['sos'] } } : each)),
      }),
    },
  ],
} satisfies ProtocolCases

/** A position with an event, and voltages with what is behind them. */
function said(event: string, voltages: string): Buffer {
  return frame(AAA.replace('AAA,35', event).replace('0|0|0', voltages))
}

function volts(battery_voltage: number, external_voltage: number, alarm?: Alarm): Said {
  return alarm ? { battery_voltage, external_voltage, alarms: [alarm] } : { battery_voltage, external_voltage }
}

/** A frame `$$AL,I,…*CC`. */
function frame(content: string | Buffer): Buffer {
  return summed(Buffer.concat([Buffer.from(`,${ID},`), Buffer.from(content), Buffer.from('*')]), '$$')
}

function answered(count: number): Buffer {
  return summed(Buffer.from(`,${ID},CCC,${count}*`), '@@')
}

/** The length counts from the comma to the line feed. */
function summed(content: Buffer, start: string): Buffer {
  const covered = Buffer.concat([Buffer.from(`${start}A${content.length + 4}`), content])
  const sum = sum8(covered).toString(16).toUpperCase().padStart(2, '0')
  return Buffer.concat([covered, Buffer.from(`${sum}\r\n`)])
}

function ccc(...records: readonly Buffer[]): Buffer {
  const head = new ByteWriter().ascii('CCC,').u16le(0x0102).u16le(records[0].length).u32le(records.length)
  return Buffer.concat([head.toBuffer(), ...records])
}

function compact(): Buffer {
  const place = new ByteWriter().u8(35).u32le(52_525_000).u32le(-13_410_000).u32le(SECONDS)
  const rest = place.u8(1).u8(7).u8(20).u16le(45).u16le(270).u16le(9).u16le(34)
  return rest.bytes(Buffer.alloc(16)).u16le(1).u16le(3).u16le(417).u16le(1218).bytes(Buffer.alloc(4)).toBuffer()
}

function cce(...records: readonly Buffer[]): Buffer {
  const head = new ByteWriter().ascii('CCE,').u32le(0).u16le(records.length)
  return Buffer.concat([
    head.toBuffer(),
    ...records.map((record) => new ByteWriter().u16le(record.length).bytes(record).toBuffer()),
  ])
}

/** Parameters of 1, 2, 4 bytes and of any length; FE 69 is an id of two bytes. */
function tagged(): Buffer {
  const w = new ByteWriter().u16le(15).u8(4).u8(1).u8(36).u8(5).u8(1).u8(6).u8(7).u8(0xfe).u8(0x69).u8(100)
  w.u8(6).u8(0x19).u16le(422).u8(0x1a).u16le(1425).u8(8).u16le(45).u8(9).u16le(270).u8(0x0a).u16le(9).u8(0x0b).u16le(34)
  return w
    .u8(4)
    .u8(0x25)
    .u32le(12_165_644)
    .u8(2)
    .u32le(52_525_000)
    .u8(3)
    .u32le(-13_410_000)
    .u8(4)
    .u32le(SECONDS)
    .u8(1)
    .u8(0x4b)
    .u8(1)
    .u8(0)
    .toBuffer()
}
