import { many, type ProtocolCases, post } from '../support/protocol-cases.ts'

const ID = 'e00fce6845b1a2c3d4e5f607'
const webhook = (data: unknown, event = 'loc') =>
  post('/', JSON.stringify({ event, data, coreid: ID, published_at: '2024-05-01T10:15:33.000Z' }))
const LOC = { lck: 1, time: 1714558530, lat: 52.525, lon: -13.41, alt: 34, hd: 270, spd: 10, h_acc: 4.5, v_acc: 6 }
const published = (loc: object) => ({ cmd: 'loc', time: 1714558532, loc, trig: ['time'], req_id: 2 })
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: -13.41,
  altitude: 34,
  speed: 10,
  heading: 270,
  accuracy: 4.5,
}
const { h_acc: hAcc, v_acc: _, ...REST } = LOC

export default {
  costly: {
    arrays: webhook(many('[')),
    escapes: post('/', `{"event":"loc","coreid":"1","data":"${many('\\u005b')}"}`),
  },
  frames: [
    {
      title: 'locations as text and as an object, without a fix, and another event',
      frames: [
        { frame: webhook(JSON.stringify(published(LOC))), device: ID, fixes: [FIX] },
        { frame: webhook(published({ ...REST, hAcc })), device: ID, fixes: [FIX] },
        {
          frame: webhook(published({ ...LOC, lck: 0, time: undefined })),
          device: ID,
          fixes: [{ ...FIX, time: '2024-05-01T10:15:32Z', valid: false }],
        },
        { frame: webhook(published({ lck: 0, cell: 37.1, batt: 98.8 })), device: ID, none: 'no fix' },
        { frame: webhook('online', 'spark/status'), device: ID },
        { frame: webhook('not JSON'), error: 'malformed' },
        { frame: post('/', '{"event":"loc"}'), error: 'malformed' },
      ],
    },
  ],
} satisfies ProtocolCases
