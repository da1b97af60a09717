import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const FIX = {
  time: '2026-11-20T15:00:10Z',
  latitude: 52.525,
  longitude: -13.41,
  altitude: 34.5,
  speed: kmh(36),
  heading: 270,
}

export default {
  costly: { hashes: `PA$${ID}$D${many('#')}$AP`, 'one number': `PA$${ID}$D#261120#150010#1#${many('1')}$AP` },
  frames: [
    {
      title: 'positions and a heartbeat',
      frames: [
        {
          frame: `PA$${ID}$D#261120#150010#1#+52.52500#-13.41000#36.0#270.0#34.5#4104#000#8$AP`,
          device: ID,
          fixes: [{ ...FIX, said: { battery_voltage: 4.104 } }],
        },
        {
          frame: `PA$${ID}$D#261120#150010#0#+52.52500#-13.41000#36.0#270.0#34.5#4104#000#8#00#sz-w1001#B2600$AP`,
          device: ID,
          fixes: [{ ...FIX, valid: false, said: { ignition: false, battery_voltage: 4.104 } }],
        },
        { frame: `PA$${ID}$20$AP`, device: ID, none: 'heartbeat', reply: `PA$${ID}$20$AP` },
        { frame: `PA$${ID}$D#1$AP`, device: ID, fixes: [] },
        { frame: `PA$${ID}$21$AP`, device: ID },
      ],
    },
  ],
} satisfies ProtocolCases
