import { bytes, u } from '../support/encode.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const frame = (kind: string, n: number) => {
  const text = `YX868704000000017|V1.0|${n}|{${kind}}\r\n`
  return Buffer.concat([bytes('000102'), u(2, text.length), Buffer.from(text), bytes('fffefc')])
}
const device = '868704000000017'

export default {
  costly: { 'a long text': frame(`F03#${many('}').slice(100)}`, 1) },
  frames: [
    {
      title: 'each kind of text',
      frames: [
        {
          frame: frame('F01#94,1,100', 1),
          device,
          none: 'heartbeat',
          said: { battery_percent: 94 },
          reply: frame('F01#1', 0),
        },
        { frame: frame('F02#1', 1), device, fixes: [] },
        { frame: frame('F03#08:05:81:d8:18:87,-76', 1), device, none: 'wifi' },
        { frame: frame('F04#18,07,3,590192,30', 1), device, none: 'cells' },
        { frame: frame('F64#1', 0), device, none: 'status', reply: frame('F64#1', 0) },
        { frame: frame('F91#01|00', 1), device },
        { frame: Buffer.concat([bytes('000102 0001 41 fffefc')]), error: 'unsupported' },
      ],
    },
  ],
  exceptions: {
    'wristband-005':
      'the answer names the address to report to from then on: a server that guesses it loses the device',
  },
} satisfies ProtocolCases
