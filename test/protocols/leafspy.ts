import { get, many, type ProtocolCases, eachSaid } from '../support/protocol-cases.ts'

const OK = { device: 'jane', secret: 's', response: { body: '"status":"0"' } }

export default {
  costly: { parameters: get(`/?${many('a=1&')}`) },
  frames: [
    {
      title: 'a report, one without a place and one without a user',
      frames: [
        {
          frame: get('/?user=jane&pass=s&DevBat=80&Lat=52.525&Long=-13.41&Elv=34&SOC=99.9&RPM=2268'),
          fixes: [
            {
              time: '2026-11-20T12:00:00Z',
              latitude: 52.525,
              longitude: -13.41,
              altitude: 34,
              speed: 10,
              said: { battery_percent: 80 },
            },
          ],
          ...OK,
        },
        { frame: get('/?user=jane&pass=s&Lat=&Long='), none: 'no place', ...OK },
        {
          frame: get('/?user=jane&pass=s&PwrSw=1&DevBat=7'),
          none: 'no place',
          said: { ignition: true, battery_percent: 7 },
          ...OK,
        },
        {
          frame: get('/?user=jane&pass=s&Lat=north&Long=2'),
          error: 'malformed',
          envelope: { device: 'jane', secret: 's', response: OK.response },
        },
        { frame: get('/?Lat=1&Long=2'), fixes: [], response: { status: 400 } },
      ],
    },
  ],
  corrections: [
    {
      reason: 'SOC is that of the car, DevBat that of the phone; PwrSw says that the car is on; "user" is the device',
      frames: ['leafspy-001'],
      says: eachSaid(() => ({ batteryPercent: 80, ignition: true })),
    },
    {
      reason: '"user" names the device, "pass" is its secret',
      frames: ['leafspy-001'],
      says: (vector) => ({
        deviceId: 'driver',
        positions: vector.positions.map((position) => ({ ...position, deviceId: 'driver' })),
      }),
    },
  ],
} satisfies ProtocolCases
