import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'

export default {
  costly: {
    entries: `{"imei":"${ID}","data":[${many('{},').slice(0, -1)}]}`,
    brackets: `{"imei":"${ID}","data":${many('[')}`,
  },
  frames: [
    {
      title: 'reports without a position',
      frames: [
        {
          frame: message('{"tm":1795186810,"ba":3},{"tm":1795186810,"st":638,"ba":4,"sn":60}'),
          device: ID,
          none: 'status',
          said: { battery_percent: 100 },
        },
        { frame: message('{"tm":1795186810,"ba":3}'), device: ID, none: 'status', said: { battery_percent: 80 } },
        { frame: message('{"tm":1795186810,"ba":2}'), device: ID, none: 'status' },
        { frame: message('{"tm":1795186810,"ci":"505,1,8218,133179149,-108"}'), device: ID, none: 'cells' },
        {
          frame: message('{"tm":1795186810,"wn":7},{"tm":1795186811,"wi":"101331c17f4f,-74"}'),
          device: ID,
          none: 'wifi',
        },
        { frame: message('{"tm":1795186810,"xy":"1"}'), device: ID, fixes: [] },
        { frame: '{"data":1}', error: 'unsupported' },
        { frame: 'GET /', error: 'malformed' },
      ],
    },
  ],
} satisfies ProtocolCases

function message(entries: string): string {
  return `{"imei":"${ID}","data":[${entries}]}`
}
