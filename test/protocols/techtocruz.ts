import { kmh, sum8 } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const FIX = {
  time: '2026-11-20T10:58:36Z',
  latitude: -52.52,
  longitude: 13.41,
  altitude: 34.5,
  speed: kmh(36),
  heading: 270,
  satellites: 9,
}

/** A frame with its length, which its own digits count in, and its sum. */
function frame(content: string): string {
  const length = content.length + 7
  const text = `$$A${length > 99 ? length : length - 1},${content}`
  return `${text}*${sum8(Buffer.from(text)).toString(16).toUpperCase().padStart(2, '0')}`
}

export default {
  costly: {
    commas: frame(`1${many(',').slice(0, 900)}`),
    'one number': `$$A9999,1,261120105836,A,F,K,${many('1')}*00`,
  },
  frames: [
    {
      title: 'a position and an answer',
      frames: [
        {
          frame: frame('42,261120105836,A,FLEX,KCB 947C,036.0,0,-52.52,S,13.41,E,34.5,270,9,28,12.1,3.7,0,1,0,0,0,'),
          device: '42',
          fixes: [{ ...FIX, said: { external_voltage: 12.1, battery_voltage: 3.7 } }],
        },
        {
          frame: frame('42,261120105836,A,FLEX,KCB 947C,036.0,0,-52.52,S,13.41,E,34.5,270,9,'),
          device: '42',
          fixes: [FIX],
        },
        { frame: frame('RESPO|G33|8612345678910|CRUZ,'), none: 'command answer' },
        { frame: frame('42,x,'), device: '42' },
      ],
    },
  ],
} satisfies ProtocolCases
