import { many, type ProtocolCases, post } from '../support/protocol-cases.ts'

const coordinate = (fix: number) =>
  `<coordinate>\n<fix>${fix}</fix>\n<time>1714558530</time>\n<latitude>13.41</latitude>\n<longitude>52.525</longitude>\n` +
  '<altitude>34</altitude>\n<speed>12.5</speed>\n<track>270</track>\n<satellites>8</satellites>\n</coordinate>'
const gps = (content: string) => post('/', `<gps id="912">\n<coordinates>${content}</coordinates>\n</gps>`)
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: 13.41,
  altitude: 34,
  speed: 12.5,
  heading: 270,
  satellites: 8,
}

export default {
  costly: {
    'beginnings of coordinates': gps(many('<coordinate>')),
    'coordinates without content': gps(many('<coordinate></coordinate>')),
    'other elements': gps(many('<coordinates')),
  },
  frames: [
    {
      title: 'coordinates with and without a fix',
      frames: [
        { frame: gps(coordinate(3) + coordinate(1)), device: '912', fixes: [FIX, { ...FIX, valid: false }] },
        { frame: gps(`${coordinate(3)}<coordinate></coordinate>`), device: '912', fixes: [FIX], unreadable: [1] },
        { frame: gps('<coordinate></coordinate>'), error: 'malformed', envelope: { device: '912' } },
        { frame: gps(''), device: '912', none: 'no place' },
        { frame: post('/', '<x/>'), error: 'unsupported' },
      ],
    },
  ],
} satisfies ProtocolCases
