import { knots } from '../../protocols/kit/index.ts'
import { get, many, type ProtocolCases } from '../support/protocol-cases.ts'

const RMC = '$GPRMC,101530.25,A,5231.5000,N,01324.6000,W,12.5,360.0,010524,1.2,E,A'
const FIX = {
  time: '2024-05-01T10:15:30.250Z',
  latitude: 52.525,
  longitude: -13.41,
  speed: knots(12.5),
  heading: 0,
}

export default {
  costly: { parameters: get(`/?${many('a=1&')}`), commas: get(`/?id=1&gprmc=$GPRMC${many(',')}`) },
  frames: [
    {
      title: 'sentences with and without a checksum and a place',
      frames: [
        { frame: get(`/?id=van-12&gprmc=${RMC}&alt=34.5`), device: 'van-12', fixes: [{ ...FIX, altitude: 34.5 }] },
        {
          frame: get(`/?id=van-12&batt=85&code=0xF841&gprmc=${RMC}`),
          device: 'van-12',
          fixes: [{ ...FIX, said: { battery_percent: 85, alarms: ['sos'] } }],
        },
        {
          frame: get(`/?id=van-12&code=0xF403&gprmc=${RMC}`),
          device: 'van-12',
          fixes: [{ ...FIX, said: { ignition: false } }],
        },
        { frame: get(`/data?dev=van-12&acct=a&gprmc=${RMC}*2E`), error: 'checksum' },
        { frame: get('/?id=van-12&gprmc=$GPRMC,101530,V,,,,,,,010524,,'), device: 'van-12', none: 'no place' },
        { frame: get('/?id=van-12'), device: 'van-12', none: 'no place' },
        { frame: get('/'), error: 'malformed' },
      ],
    },
  ],
} satisfies ProtocolCases
