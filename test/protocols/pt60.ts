import { many, type ProtocolCases, eachSaid } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const answer = (type: string) => `@B#@|01|${type}|${ID}|0|20261120120000|@E#@`
const reply = '@G#@,V01,38,20261120120000,@R#@'

export default {
  costly: {
    commas: `@G#@,V01,6,${ID}${many(',')}@R#@`,
    'one number': `@G#@,V01,6,${ID},1,20261120171418,${many('1')}@R#@`,
  },
  frames: [
    {
      title: 'what a watch says',
      frames: [
        {
          frame: `@B#@|01|006|${ID}|9425010450971470|20261120171418|2|1|@R#@`,
          device: ID,
          none: 'time',
          reply: answer('007'),
        },
        {
          frame: `@B#@|01|001|${ID}|9425010450971470|1|84|20261120171418|40412,10461,1,425,10|2|@R#@`,
          device: ID,
          none: 'heartbeat',
          reply: answer('002'),
        },
        {
          frame: `@B#@|01|003|${ID}|9425010450971470|S6|0|66|20261120171418|2|@R#@`,
          device: ID,
          none: 'status',
          reply: answer('004'),
        },
        { frame: `@B#@|01|033|${ID}|9425010450971470|0|@E#@`, device: ID },
        { frame: `@G#@,V01,1,${ID},9404223001501310,@R#@`, device: ID, none: 'login' },
        {
          frame: `@G#@,V01,6,${ID},9404223001501310,20261120171418,52.52;-13.41,@R#@`,
          device: ID,
          fixes: [{ time: '2026-11-20T17:14:18Z', latitude: 52.52, longitude: -13.41 }],
          reply,
        },
        {
          frame: `@G#@,V01,6,${ID},9404223001501310,20261120171418,x,@R#@`,
          device: ID,
          fixes: [],
          reply,
        },
        { frame: `@G#@,V01,13,${ID},9404223001501310,20261120171418,1180,@R#@`, device: ID, none: 'status', reply },
        { frame: `@G#@,V01,14,${ID},9404223001501310,20261120171418,101,26,@R#@`, device: ID, none: 'status', reply },
        { frame: `@G#@,V01,99,${ID},1,@R#@`, device: ID },
      ],
    },
  ],
  corrections: [
    {
      reason: 'no watch has a battery of 26 V: type 14 is of the pulse',
      frames: ['pt60-008'],
      says: eachSaid((each) => ({ ...each, batteryV: undefined })),
    },
  ],
} satisfies ProtocolCases
