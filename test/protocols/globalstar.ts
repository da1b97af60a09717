import { many, type ProtocolCases, post } from '../support/protocol-cases.ts'

const stu = (content: string) =>
  post('/', `<?xml version="1.0"?>\n<stuMessages timeStamp="x" messageID="ab12">${content}</stuMessages>`)
const entry = (esn: string, payload: string) =>
  `<stuMessage><esn>${esn}</esn><unixTime>1714558530</unixTime><payload length="9">0x${payload}</payload></stuMessage>`
/** 52.5 and −13.5 degrees. */
const PLACE = '4aaaab f66666'.replace(' ', '')
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: (0x4aaaab * 90) / 2 ** 23,
  longitude: (-0x09999a * 180) / 2 ** 23,
}
const RESTING = { moving: false }
const OK = {
  headers: { 'content-type': 'text/xml' },
  body:
    '<?xml version="1.0" encoding="UTF-8" standalone="no"?><stuResponseMsg xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" ' +
    `correlationID="ab12" deliveryTimeStamp="20/11/2026 12:00:00 UTC" messageID="${'0'.repeat(32)}" ` +
    'xsi:noNamespaceSchemaLocation="http://cody.glpconnect.com/XSD/StuResponse_Rev1_0.xsd"><state>pass</state><stateMessage>Store OK</stateMessage></stuResponseMsg>',
}
const JSON_OK = { headers: { 'content-type': 'application/json' }, body: '{"status":"ok"}' }
const json = (latitude: string, gpsDataValid: string) =>
  post(
    '/',
    JSON.stringify({
      entry: {
        devices: [
          {
            gpsCoordinate: { latitude, longitude: latitude },
            deviceIdentify: { esn: '0-1', unixTime: 1714558530 },
            deviceInfo: { gpsDataValid },
          },
        ],
      },
    }),
  )

export default {
  costly: {
    'messages without a payload': stu(many('<stuMessage><esn>1</esn></stuMessage>')),
    'beginnings of messages': stu(many('<stuMessage>')),
    attributes: post('/', many('<stuMessages ')),
  },
  frames: [
    {
      title: 'positions and diagnoses as XML, positions as JSON',
      frames: [
        { frame: stu(entry('0-1', `00${PLACE}0a00`)), device: '0-1', fixes: [{ ...FIX, said: RESTING }], response: OK },
        {
          frame: stu(entry('0-1', `08${PLACE}0a00`) + entry('0-2', `04${PLACE}0a40`)),
          fixes: [
            { ...FIX, device: '0-1', valid: false, said: RESTING },
            { ...FIX, device: '0-2', said: { moving: true, alarms: ['low_battery'] } },
          ],
          response: OK,
        },
        { frame: stu(entry('0-1', '63ffff1bb4ffffffff')), device: '0-1', none: 'status', response: OK },
        { frame: stu(entry('0-1', '01ffff1bb4ffffffff')), device: '0-1', response: OK },
        {
          frame: json('1.5', 'Valid'),
          device: '0-1',
          fixes: [{ time: FIX.time, latitude: 1.5, longitude: 1.5 }],
          response: JSON_OK,
        },
        { frame: json('', 'Invalid'), device: '0-1', none: 'no fix', response: JSON_OK },
        { frame: json('x', 'Valid'), error: 'malformed', envelope: { device: '0-1', response: JSON_OK } },
        { frame: post('/', '<other/>'), error: 'unsupported' },
      ],
    },
  ],
} satisfies ProtocolCases
