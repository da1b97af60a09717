import { knots } from '../../protocols/kit/index.ts'
import { bytes, u } from '../support/encode.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const le = (size: number, value: number) => u(size, value).toReversed()
const packet = (kind: number, content: Buffer) =>
  Buffer.concat([
    bytes('4b04 11223344'),
    le(4, 77),
    bytes('0000'),
    le(4, content.length),
    u(4, 0),
    le(2, 7),
    le(2, kind),
    bytes('00'),
    content,
  ])
const answer = (kind: number, content: string) =>
  Buffer.concat([
    bytes('4b03 0000000000000000 0000'),
    le(4, content.length),
    u(4, 0),
    le(2, 7),
    le(2, kind),
    bytes('00'),
    Buffer.from(content),
  ])
const section = (tag: number, text: string) => Buffer.concat([le(2, tag), le(2, text.length), Buffer.from(text)])
/** The tag of the external voltage, 12.8 V. */
const INPUTS = bytes('2300 0500 0000800002')
const TOLD = { external_voltage: 12.8 }
const report = (position: string) =>
  Buffer.concat([bytes('0200'), INPUTS, section(0x34, '{"s":"1"}'), section(0x32, position)])
const OK = { device: '77', reply: answer(0x379a, 'OK') }
const PLACE =
  '{"f":"DE","t":"101530","d":"010524","la":"5231.50000","lo":"01324.6000","a":"34","s":"12.5","c":"270.5","sv":"08"}'

export default {
  costly: { sections: packet(0x3713, Buffer.alloc(65_000)), json: packet(0x3713, report(many('[').slice(0, 65_000))) },
  frames: [
    {
      title: 'a login, reports with and without a place, another kind and a ping',
      frames: [
        { frame: packet(0x0114, Buffer.from('hello')), device: '77', none: 'login', reply: answer(0x0114, 'hello') },
        {
          frame: packet(0x3768, report(PLACE)),
          fixes: [
            {
              time: '2024-05-01T10:15:30Z',
              latitude: 52.525,
              longitude: 13.41,
              altitude: 34,
              speed: knots(12.5),
              heading: 270.5,
              satellites: 8,
              said: TOLD,
            },
          ],
          ...OK,
        },
        { frame: packet(0x3713, report('{"f":"24"}')), none: 'no fix', said: TOLD, ...OK },
        { frame: packet(0x3713, report('{"f"')), error: 'malformed', envelope: OK },
        { frame: packet(0x0200, Buffer.alloc(2)), ...OK },
        { frame: 'P\x03', none: 'heartbeat', reply: 'PO' },
      ],
    },
  ],
} satisfies ProtocolCases
