import { TextWriter } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const FIX = { time: '2026-11-20T06:30:15Z', latitude: -33.925, longitude: 18.4238 }
const EARLIER = { ...FIX, time: '2026-11-20T06:30:14Z' }

export default {
  costly: { 'many records': positions(many('80').slice(0, 65_000), 255), 'a long id': `%99${many('1')}` },
  frames: [
    {
      title: 'login, positions',
      frames: [
        { frame: login('123456'), device: '123456', none: 'login' },
        { frame: positions(record('261120063015'), 1), device: '123456', fixes: [FIX] },
        {
          frame: positions(record('261120063015') + record('261320063014') + record('261120063014'), 3),
          device: '123456',
          fixes: [FIX, EARLIER],
          unreadable: [1],
        },
        { frame: positions(record('2611200630Z5'), 1), error: 'malformed', envelope: { device: '123456' } },
        { frame: positions(record('261120063015'), 1).replace('Y00', 'Y01'), error: 'checksum' },
        { frame: 'hello\r\n', error: 'unsupported' },
        { frame: '%010E\r\n', error: 'checksum' },
      ],
    },
  ],
} satisfies ProtocolCases

function login(id: string): string {
  return `${new TextWriter().text(`%06${id}01`).xor().toBuffer().toString()}\r\n`
}

function positions(records: string, count: number): string {
  const w = new TextWriter().text('Y000007C6999999061234564649003C00A7').hex(count, 2).text(records)
  return `${w.sum8().toBuffer().toString()}\r\n`
}

function record(time: string): string {
  const place = new TextWriter().hex(Math.round((FIX.longitude + 180) * 30_000), 6)
  return `80${place
    .hex(Math.round((FIX.latitude + 180) * 30_000), 6)
    .toBuffer()
    .toString()}${time}00000000`
}
