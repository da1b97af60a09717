import { ByteWriter } from '../../protocols/kit/index.ts'
import { eachPosition, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '755881'
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: -13.41,
  altitude: 34.5,
  speed: 12.34,
  satellites: 9,
}
const CLOCK = '1e0f0a0105e807'
const HEADING = 57.2957795
const STATUS = { ...FIX, heading: HEADING, said: { ignition: true, charging: false } }
const ACK = new ByteWriter().ascii('MCGP').hex('04a9880b00').hex('000000000000').u8(7).hex('00'.repeat(11)).sum8(4)
const MODULAR_ACK = new ByteWriter().ascii('MCGP').hex('0ba9880b0007').hex('00000000800a0000000000090300000000').sum8(4)

export default {
  costly: {
    'modules of nothing': modular('080000'.repeat(20_000)),
    'modules of time': modular('07070001250a1004090e'.repeat(6500)),
  },
  frames: [
    {
      title: 'a status and a modular message in one datagram',
      transport: 'udp',
      frames: [
        { frame: status('MCGP'), device: ID, fixes: [STATUS], reply: ACK.toBuffer() },
        { frame: modular('080100ff'), device: ID, none: 'no place', reply: MODULAR_ACK.toBuffer() },
      ],
    },
    {
      title: 'a status, in radians and in degrees; a modular message',
      frames: [
        { frame: status('MCGP'), device: ID, fixes: [STATUS], reply: ACK.toBuffer() },
        ...(
          [
            ['46', 'sos'],
            ['50', 'power_cut'],
            ['51', 'low_power'],
            ['53', 'low_battery'],
            ['57', 'power_restored'],
            ['08', 'tow'],
            ['0f', 'accident'],
            ['91', 'sos'],
            ['9e', 'tampering'],
          ] as const
        ).map(([reason, alarm]) => ({
          frame: status('MCGP', CLOCK, `00${reason}`, '00000000'),
          device: ID,
          fixes: [{ ...STATUS, said: { ignition: false, charging: false, alarms: [alarm] } }],
          reply: ACK.toBuffer(),
        })),
        {
          frame: status('MCGP', CLOCK, '0208', '20000080'),
          device: ID,
          fixes: [{ ...STATUS, said: { ignition: true, charging: true } }],
          reply: ACK.toBuffer(),
        },
        {
          frame: status('MCGP', '1e0f0a2d05e807'),
          error: 'malformed',
          envelope: { device: ID, reply: ACK.toBuffer() },
        },
        {
          frame: status('MCGP', '00'.repeat(7)),
          device: ID,
          fixes: [{ ...STATUS, time: '2026-11-20T12:00:00Z', valid: false }],
          reply: ACK.toBuffer(),
        },
        { frame: status('MCPG'), device: ID, fixes: [STATUS], reply: ACK.toBuffer() },
        {
          frame: modular(`080600000000000000${location()}070700011e0f0a010518`),
          device: ID,
          fixes: [FIX],
          reply: MODULAR_ACK.toBuffer(),
        },
        { frame: modular(location()), device: ID, fixes: [], reply: MODULAR_ACK.toBuffer() },
        { frame: modular('080100ff'), device: ID, none: 'no place', reply: MODULAR_ACK.toBuffer() },
        { frame: framed('MCGP', 9, '0000'), device: ID, reply: ACK.toBuffer() },
        {
          frame: framed('MCGP', 9, `00 23 04 21 0000000000 ${stamp('MCGP')}`.replaceAll(' ', '')),
          device: ID,
          fixes: [{ ...FIX, heading: HEADING }],
          reply: ACK.toBuffer(),
        },
        { frame: framed('MCGP', 9, `001c${'00'.repeat(28)}`), device: ID, reply: ACK.toBuffer() },
        { frame: framed('MCGP', 3, '00'.repeat(18)), device: ID, none: 'command answer', reply: ACK.toBuffer() },
      ],
    },
  ],
  corrections: [
    {
      reason: 'module 06 has the modes of a fix (04 02), as valid positions of type 0 have',
      frames: ['cellocator-003', 'cellocator-004'],
      says: eachPosition(() => ({ valid: true })),
    },
  ],
} satisfies ProtocolCases

function framed(start: string, type: number, content: string): Buffer {
  const w = new ByteWriter().ascii(start).u8(type).u32le(Number(ID)).u16le(8).u8(7).hex(content)
  return w.sum8(4).toBuffer()
}

function inRadians(degrees: number): number {
  return Math.round(((degrees * Math.PI) / 180) * 1e8)
}

function place(start: string): ByteWriter {
  const scaled = start === 'MCGP' ? inRadians : (degrees: number) => Math.round(degrees * 1e7)
  return new ByteWriter().u32le(scaled(FIX.longitude)).u32le(scaled(FIX.latitude)).u32le(3450)
}

/** `clock`: zeros before the device knows the time; `reason`: with its detail in front; `wires`: inputs and outputs. */
function status(start: string, clock = CLOCK, reason = '0020', wires = '20000000'): Buffer {
  return framed(start, 0, `${'00'.repeat(5)}${reason}00${wires}${'00'.repeat(17)}${stamp(start, clock)}`)
}

/** What a status ends with, from the modes of the fix on. */
function stamp(start: string, clock = CLOCK): string {
  const w = new ByteWriter().hex('0402').u8(9).bytes(place(start).toBuffer())
  return w.u32le(1234).u16le(1000).hex(clock).toBuffer().toString('hex')
}

function location(): string {
  const content = new ByteWriter().hex('05040209').bytes(place('MCGP').toBuffer()).u16le(1234).u8(0).toBuffer()
  return `061300${content.toString('hex')}`
}

function modular(modules: string): Buffer {
  const w = new ByteWriter()
    .u8(0)
    .u16le((4 + modules.length / 2) & 0xffff)
    .hex('00000000')
    .hex(modules)
  return framed('MCGP', 0x0b, w.toBuffer().toString('hex'))
}
