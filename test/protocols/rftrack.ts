import { many, type ProtocolCases, post } from '../support/protocol-cases.ts'

const GPS = '{"a":30.0,"y":52.525,"s":4,"t":1714558530654,"z":34.5,"x":-13.41}'
const BATTERY = { battery_percent: 92 }
const OK = { device: '358477000000017', response: { headers: { 'content-type': 'application/json' }, body: '{}' } }
const report = (fields: string) => post('/deviceDataUpload.do', `gsm={"n":0}&i=358477000000017&bat=12380${fields}`)

export default {
  costly: { parameters: report(many('&a=1')), 'a list as place': report(`&gps=${many('[')}`) },
  frames: [
    {
      title: 'a place, no fix and cells alone',
      frames: [
        {
          frame: report(`&gps=${GPS}`),
          fixes: [
            {
              time: '2024-05-01T10:15:30.654Z',
              latitude: 52.525,
              longitude: -13.41,
              altitude: 34.5,
              accuracy: 30,
              said: BATTERY,
            },
          ],
          ...OK,
        },
        { frame: report('&gps={}'), none: 'no fix', said: BATTERY, ...OK },
        { frame: report(''), none: 'no place', said: BATTERY, ...OK },
        { frame: post('/', ''), error: 'malformed' },
      ],
    },
  ],
} satisfies ProtocolCases
