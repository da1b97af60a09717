import { ByteWriter, crc16Modbus, kmh } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { COSTLY_SIZE, type ProtocolCases, eachSaid } from '../support/protocol-cases.ts'

const ID = '861234560000777'
const SECONDS = (Date.UTC(2024, 4, 1, 23, 15, 30) - Date.UTC(1980, 0, 6)) / 1000

function packet(start: string, head: string, reports: readonly Buffer[]): Buffer {
  const body = Buffer.concat(reports)
  const w = new ByteWriter()
    .ascii(start)
    .u16(12 + bytes(head).length + body.length)
    .bytes(bytes(head))
  return w.u32(86_123_456).u8(0).u16(777).bytes(body).crc16(crc16Modbus).toBuffer()
}

/** A report of protocol K: with or without 12 bytes more. */
function reportK(number: number, isLong = false): Buffer {
  const w = new ByteWriter().u8(number).u32(52_525_000).u32(13_410_000).u32(SECONDS).hex('1287')
  return w
    .hex(`00000100080000643e${'00'.repeat(11)}`)
    .hex('029900')
    .hex(isLong ? '0100001920c43d0000960042' : '')
    .toBuffer()
}

function reportX(number: number, mask = '000000000003', rest = '', status = '0009'): Buffer {
  const w = new ByteWriter()
    .u8(number)
    .hex(mask)
    .u32(SECONDS + 1)
    .hex(`00102000${status}3d23`)
  return w.u32(SECONDS).u32(52_525_000).u32(13_410_000).hex(`120087020000${rest}`).toBuffer()
}

/** A packet of protocol X of a device that has logged in. */
function packetOfLogin(count: string, reports: readonly Buffer[]): Buffer {
  const body = Buffer.concat(reports)
  const w = new ByteWriter().ascii('X').u16(6 + body.length)
  return w.hex(count).bytes(body).crc16(crc16Modbus).toBuffer()
}

const PLACE = { time: '2024-05-01T23:15:30Z', latitude: 52.525, longitude: 13.41, speed: kmh(36), heading: 270 }
const POWER = { external_voltage: 12.4, battery_percent: 100 }
const FIX = { ...PLACE, altitude: 40, satellites: 9, said: POWER }
const FIX_OF_DRIVER = { ...PLACE, said: { ...POWER, driver: '0100001920c43d' } }
const SAID_OF_X = { ignition: true, external_voltage: 12.2, battery_percent: 35 }
const FIX_OF_X = { ...PLACE, altitude: 40, said: SAID_OF_X }
/** Inputs, analogues, behaviour, signal, and a driver's card. */
const MODULES = `${'00'.repeat(16)}7e 02 00000019 20c43d00`.replaceAll(' ', '')
const ACK = bytes('06')

export default {
  costly: {
    'many reports': packet(
      'K',
      '',
      Array.from({ length: 1700 }, (_, i) => reportK(i & 0xff)),
    ),
    'reports of one byte': packet('X', 'ff', [Buffer.alloc(COSTLY_SIZE - 16)]),
  },
  frames: [
    {
      title: 'protocol K: reports of two lengths',
      frames: [
        { frame: packet('K', '', [reportK(0xff), reportK(0)]), device: ID, fixes: [FIX, FIX], reply: ACK },
        { frame: packet('K', '', [reportK(7, true), reportK(8)]), device: ID, fixes: [FIX_OF_DRIVER, FIX], reply: ACK },
        { frame: packet('K', '', []), device: ID, none: 'no place', reply: ACK },
        { frame: packet('K', '', [reportK(7).subarray(1)]), error: 'malformed', envelope: { device: ID, reply: ACK } },
      ],
    },
    {
      title: 'packets of both protocols in one datagram',
      transport: 'udp',
      frames: [
        { frame: packet('K', '', [reportK(7)]), device: ID, fixes: [FIX], reply: ACK },
        { frame: packet('X', '01', [reportX(1)]), device: ID, fixes: [FIX_OF_X], reply: ACK },
      ],
    },
    {
      title: 'protocol X',
      frames: [
        { frame: packet('X', '02', [reportX(1), reportX(2)]), device: ID, fixes: [FIX_OF_X, FIX_OF_X], reply: ACK },
        {
          frame: packet('X', '02', [reportX(1, '00000000013f', MODULES), reportX(2)]),
          device: ID,
          fixes: [{ ...FIX_OF_X, satellites: 14, said: { ...SAID_OF_X, driver: '0000001920c43d00' } }, FIX_OF_X],
          reply: ACK,
        },
        {
          frame: packet('X', '01', [reportX(1, '000001000003', '0000')]),
          device: ID,
          fixes: [FIX_OF_X],
          reply: ACK,
        },
        {
          frame: packet('X', '01', [reportX(1, undefined, '', '000c')]),
          device: ID,
          fixes: [{ ...FIX_OF_X, valid: false, said: { ...SAID_OF_X, ignition: false } }],
          reply: ACK,
        },
        { frame: packet('X', '01', [bytes(`01${'00'.repeat(16)}`)]), device: ID, none: 'no place', reply: ACK },
        { frame: packet('X', '00', []), error: 'malformed' },
      ],
    },
    {
      title: 'protocol X after a login',
      frames: [
        { frame: `$ASTRA;AT402;${ID};;7.0.70.3;X;1;8A1B\r\n`, device: ID, none: 'login', reply: ACK },
        { frame: packetOfLogin('02', [reportX(1), reportX(2)]), fixes: [FIX_OF_X, FIX_OF_X], reply: ACK },
        { frame: '$ASTRA;AT402;;;7.0.70.3;X;1;8A1B\r\n', error: 'malformed' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'protocol K has the external voltage in 0.2 V, the charge in percent, and a card that is no text',
      says: eachSaid(({ powerV = 0, batteryV, driver, ...rest }) =>
        batteryV === undefined
          ? { ...rest, powerV, driver }
          : {
              ...rest,
              powerV: powerV / 5,
              batteryPercent: batteryV,
              driver: driver && Buffer.from(driver, 'latin1').toString('hex'),
            },
      ),
    },
  ],
  exceptions: { 'astra-001': 'the peer leaves out its second report; nothing in it says that it has no fix' },
} satisfies ProtocolCases
