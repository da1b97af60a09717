import { crc16Modbus, knots } from '../../protocols/kit/index.ts'
import { bytes, u } from '../support/encode.ts'
import { COSTLY_SIZE, eachPosition, type ProtocolCases, eachSaid } from '../support/protocol-cases.ts'

const IMEI = '860041020000016'
const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.525, speed: knots(12.5), heading: 270, satellites: 8 }
const DATE = '180501 0a0f1e'
const STATUS = '0010 aac000000c37 0185 04e5 000000008000'
const ACK = '@ACK,7#@UTC time:2026-11-20 12:00:00'

function packet(hardware: number, block: string | Buffer): Buffer {
  const head = Buffer.concat([u(2, 0x2424), u(2, hardware), bytes(`01020304 0${IMEI} ${DATE}`)])
  const content = Buffer.concat([head, typeof block === 'string' ? bytes(block) : block, u(2, 7)])
  return Buffer.concat([bytes('545a'), u(2, content.length + 2), content, u(2, crc16Modbus(content)), bytes('0d0a')])
}

function avl(perDegree: number, flags: number): Buffer {
  const angles = Buffer.concat([u(4, Math.round(52.525 * perDegree)), u(4, Math.round(13.41 * perDegree))])
  return Buffer.concat([bytes('0016 08'), angles, bytes(`${DATE} 04e2 000000`), u(2, flags | 270), bytes('0000')])
}

export default {
  costly: { 'a long block': packet(0x010b, Buffer.alloc(COSTLY_SIZE - 100, 0xff)) },
  frames: [
    {
      title: 'fixes of the AVL series and of TT19, and reports without GPS',
      frames: [
        { frame: packet(0x010b, avl(6e5, 0x0e00)), device: IMEI, fixes: [{ ...FIX, longitude: -13.41 }], reply: ACK },
        { frame: packet(0x0153, avl(6e6, 0x0c00)), device: IMEI, fixes: [{ ...FIX, longitude: 13.41 }], reply: ACK },
        {
          frame: packet(0x0413, `0018 05 ${DATE} 12c8ceb0 04cbb8e0 000c 0022 04e2 010e 08`),
          device: IMEI,
          fixes: [{ ...FIX, longitude: 13.41, hdop: 1.2, altitude: 34 }],
          reply: ACK,
        },
        {
          frame: packet(0x010b, Buffer.concat([avl(6e5, 0x0e00).subarray(0, -2), bytes(`0004 00281373 ${STATUS}`)])),
          device: IMEI,
          fixes: [{ ...FIX, longitude: -13.41, said: { external_voltage: 12.53, battery_voltage: 3.89 } }],
          reply: ACK,
        },
        {
          frame: packet(0x0153, '0000 0000 000d aae4000537 016c 049e 00000000'),
          device: IMEI,
          none: 'no fix',
          said: { external_voltage: 11.82, battery_voltage: 3.64 },
          reply: ACK,
        },
        {
          frame: packet(0x0407, '0000 0004 01020304 000b aa102837 016a 0114025500'),
          device: IMEI,
          none: 'sensors',
          said: { battery_voltage: 3.62 },
          reply: ACK,
        },
        { frame: packet(0x010a, '0100 0000'), error: 'truncated', envelope: { device: IMEI, reply: ACK } },
        { frame: packet(0x010a, '0000 0000'), device: IMEI, none: 'no fix', reply: ACK },
        { frame: packet(0x0403, '0008 00000000'), device: IMEI, none: 'sensors', reply: ACK },
        { frame: packet(0x0477, '0000'), device: IMEI, reply: ACK },
      ],
    },
  ],
  corrections: [
    {
      reason:
        'an alarm is a code, not bits: AA and 88 are a regular report and a heartbeat, and A0 comes with a list of tags',
      frames: ['tzone-014', 'tzone-015'],
      says: eachSaid((each) => ({ ...each, alarms: undefined })),
    },
    {
      reason: 'the external voltage is in 0.01 V, as that of the battery is',
      says: eachSaid(({ powerV, ...rest }) => ({ ...rest, powerV: powerV && powerV / 100 })),
    },
    {
      reason:
        'the status of this hardware begins a byte earlier: 016C and 049E are 3.64 V and 11.82 V; AA is a report without an alarm',
      frames: ['tzone-009'],
      says: eachSaid(() => ({ batteryV: 3.64, powerV: 11.82 })),
    },
    {
      reason: 'the block has an angle of 22.54° and 114.06°, 5 satellites, HDOP 1.0 and a time 4 s before the report',
      frames: ['tzone-004'],
      says: eachPosition(() => ({ valid: true, lat: 135_233_040 / 6e6, lon: 684_378_160 / 6e6 })),
    },
    {
      reason: 'a time of zeros: the receiver never had a fix',
      frames: ['tzone-012'],
      says: { positions: [] },
    },
  ],
} satisfies ProtocolCases
