import { eachPosition, many, post, type ProtocolCases } from '../support/protocol-cases.ts'

const message = (esn: string) =>
  `<message>\n<id>1</id>\n<esn>${esn}</esn>\n<timestamp>2024-05-01T10:15:30.000Z</timestamp>\n` +
  '<latitude>52.525</latitude>\n<longitude>-13.41</longitude>\n</message>'
const list = (content: string) => post('/', `<?xml version="1.0"?>\n<messageList xmlns="x">${content}</messageList>`)
const FIX = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: -13.41 }

export default {
  costly: { 'beginnings of messages': list(many('<message>')), 'empty messages': list(many('<message></message>')) },
  frames: [
    {
      title: 'messages of one device and of two',
      frames: [
        { frame: list(message('0-1')), device: '0-1', fixes: [FIX] },
        {
          frame: list(message('0-1') + message('0-2')),
          fixes: [
            { ...FIX, device: '0-1' },
            { ...FIX, device: '0-2' },
          ],
        },
        {
          frame: list(
            message('0-1').replace(
              '</message>',
              '<messageType>NEWMOVEMENT</messageType><batteryState>LOW</batteryState></message>',
            ),
          ),
          device: '0-1',
          fixes: [{ ...FIX, said: { alarms: ['movement', 'low_battery'] } }],
        },
        {
          frame: list(message('0-1').replace('</message>', '<messageType>HELP</messageType></message>')),
          device: '0-1',
          fixes: [{ ...FIX, said: { alarms: ['sos'] } }],
        },
        { frame: list(''), none: 'no place' },
        { frame: post('/', '<x/>'), error: 'unsupported' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'esn is the serial number; esnName is a name that the owner chooses',
      frames: ['spot-000'],
      says: (vector) => ({
        deviceId: '0-3112123',
        positions: vector.positions.map((position) => ({ ...position, deviceId: '0-3112123' })),
      }),
    },
    {
      reason: 'NEWMOVEMENT says that it has been moved',
      frames: ['spot-000'],
      says: eachPosition(({ said }) => ({ said: { ...said, alarms: ['movement'] } })),
    },
  ],
} satisfies ProtocolCases
