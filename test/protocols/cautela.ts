import { many, type ProtocolCases } from '../support/protocol-cases.ts'

export default {
  costly: { commas: `20,010907000000${many(',')}\n`, 'one number': `20,010907000000,14,02,26,${many('1')}\n` },
  frames: [
    {
      title: 'positions',
      frames: [
        {
          frame: '20,010907000042,20,11,26,52.52,-13.41,1325,S,*2E\r\n',
          device: '010907000042',
          fixes: [{ time: '2026-11-20T13:25:00Z', latitude: 52.52, longitude: -13.41 }],
        },
        { frame: '21,010907000042,x,*2E\r\n', device: '010907000042' },
      ],
    },
  ],
} satisfies ProtocolCases
