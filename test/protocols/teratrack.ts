import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const PLACE = '"DateTime":"2026-11-20 10:56:01","Latitude":"52.52","Longitude":"-13.41","Speed":"36"'
const FIX = { time: '2026-11-20T10:56:01Z', latitude: 52.52, longitude: -13.41, speed: kmh(36) }

export default {
  costly: { braces: many('{'), 'one text': `{"MDeviceID":"${many('1')}`, members: `{"a":0${many(',"a":0')}}` },
  frames: [
    {
      title: 'positions, and a message without one',
      frames: [
        {
          frame: `{"MDeviceID":"0220","note":"a } \\\\\\" b",${PLACE},"MessageAck":"1","Slave":[{"SDeviceId":"68"}]}`,
          device: '0220',
          fixes: [FIX],
          reply: '{01}',
        },
        { frame: `{"MDeviceID":"0220",${PLACE},"MessageAck":"0"}`, device: '0220', fixes: [FIX] },
        {
          frame: `{"MDeviceID":"0220",${PLACE},"CardNo":"60000644","Power":"79","LowPower":"1","LockCutOff":"1"}`,
          device: '0220',
          fixes: [{ ...FIX, said: { battery_percent: 79, driver: '60000644', alarms: ['low_battery', 'tampering'] } }],
          reply: '{01}',
        },
        { frame: '{"MDeviceID":"0220","DataType":"9"}', device: '0220' },
      ],
    },
  ],
} satisfies ProtocolCases
