import { COSTLY_SIZE, type ProtocolCases } from '../support/protocol-cases.ts'

const HEAD = '785634127E7E00007E7E'
const PLACE = '018052423150001325167802522145'
const FIX = {
  time: '2026-11-20T06:30:15Z',
  latitude: 52.70525,
  longitude: 13.419463,
  speed: (25.2 / 3600) * 1852,
  heading: 214.5,
}

export default {
  costly: { 'a line of digits': `${HEAD}0203${PLACE}261120063015${'0'.repeat(COSTLY_SIZE - 100)}` },
  frames: [
    {
      title: 'positions',
      frames: [
        { frame: `${HEAD}0203${PLACE}26112006301525132655F12345F0\r\n`, device: '12345678', fixes: [FIX] },
        {
          frame: `${HEAD}0203${PLACE.slice(0, -8)}FFFFFFFF261120063015\r\n`,
          device: '12345678',
          fixes: [{ ...FIX, speed: undefined, heading: undefined }],
        },
        { frame: `${HEAD}0303${PLACE}\r\n`, device: '12345678' },
        { frame: `${HEAD}0203${PLACE}26112006\r\n`, error: 'truncated', envelope: { device: '12345678' } },
        {
          frame: `${HEAD}0203${PLACE.replace('5242', '52F2')}261120063015\r\n`,
          error: 'malformed',
          envelope: { device: '12345678' },
        },
        { frame: 'hello\r\n', error: 'unsupported' },
      ],
    },
  ],
} satisfies ProtocolCases
