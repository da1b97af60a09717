import { ByteWriter, crc16Modbus } from '../../protocols/kit/index.ts'
import { eachPosition, type ProtocolCases } from '../support/protocol-cases.ts'

const IMEI = '868204005958466'
const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: -13.41, speed: 10 }
const VOLTS = { external_voltage: 12.5, battery_voltage: 4.1 }
const FULL = { ...FIX, satellites: 9, heading: 270.5, altitude: 34, hdop: 0.9, said: VOLTS }

export default {
  costly: { 'records of zeros': frame(5, `1a2000${'00'.repeat(17 * 240)}`) },
  frames: [
    {
      title: 'a login, records without groups and with all of them',
      frames: [
        answered(frame(1, `e407${Buffer.from(IMEI).toString('hex')}2a06`), { device: IMEI, none: 'login' }),
        answered(frame(5, `1a2000${record()}${record()}`), { fixes: [FIX, FIX] }),
        answered(frame(5, `1a203f${full()}`), { fixes: [FULL] }),
        answered(frame(5, `1a2001${record()}0102`), { fixes: [] }),
      ],
    },
  ],
  corrections: [
    {
      reason: '15 satellites with a HDOP of 0.6 are a fix; no flag of the frames says otherwise',
      says: eachPosition(() => ({ valid: true })),
    },
  ],
} satisfies ProtocolCases

function answered<Meaning extends object>(bytes: Buffer, meaning: Meaning) {
  return { frame: bytes, ...meaning, reply: Buffer.from([1, ...bytes.subarray(-2)]) }
}

function frame(type: number, content: string): Buffer {
  const w = new ByteWriter().u16le((type << 12) | (content.length / 2)).hex(content)
  return w.crc16le(crc16Modbus).toBuffer()
}

function record(): string {
  const w = new ByteWriter()
    .hex('950b0b')
    .u32le(Date.parse(FIX.time) / 1000)
    .u32le(52_525_000)
    .u32le(-13_410_000)
  return w.u16le(360).toBuffer().toString('hex')
}

function full(): string {
  const w = new ByteWriter().u8(0xff).u8(9).u16le(2705).u16le(34).u8(9).u16le(12_500).u16le(4100)
  return `${record()}${w.toBuffer().toString('hex')}`.padEnd(360, '0')
}
