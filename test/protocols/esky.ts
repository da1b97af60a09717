import { eachPosition, many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const FIX = { time: '2026-11-20T17:14:18Z', latitude: 52.52, longitude: -13.41, speed: 10, heading: 270, satellites: 9 }

export default {
  costly: { pluses: `ET;0;${ID};R;9${many('+')}`, 'one number': `ET;0;${ID};R;9+261120171418+${many('1')}` },
  frames: [
    {
      title: 'a login and positions',
      frames: [
        { frame: `EL;1;${ID};261120171418;`, device: ID, none: 'login' },
        {
          frame: `ET;0;${ID};R;9+261120171418+52.52+-13.41+10.00+270+0x2+8+40381744+0+1409+11`,
          device: ID,
          fixes: [{ ...FIX, said: { ignition: true, external_voltage: 14.09 } }],
        },
        { frame: `EO;0;${ID};R;9;261120171418;52.52;-13.41;10.00;270;3398;1;|`, device: ID, fixes: [FIX] },
        { frame: `ET;0;${ID};R;9+261120171418+52.52+-13.41+10.00+270`, device: ID, fixes: [FIX] },
        {
          frame: `EO;0;${ID};R;9+261120171418+52.52+-13.41+10.00+270+0x1`,
          device: ID,
          fixes: [{ ...FIX, said: { ignition: false } }],
        },
        ...['+8', '+8+40381744', '+8+40381744+0', '+8+40381744+0+14.1V+11'].map((more) => ({
          frame: `ET;0;${ID};R;9+261120171418+52.52+-13.41+10.00+270+0x2${more}`,
          device: ID,
          fixes: [{ ...FIX, said: { ignition: true } }],
        })),
        { frame: `ET;0;${ID};X;9`, device: ID },
      ],
    },
  ],
  corrections: [
    {
      reason: '12.3 to 14.1 V are the battery of the vehicle',
      says: eachPosition(({ said }) => ({ said: { ...said, batteryV: undefined, powerV: said?.batteryV } })),
    },
  ],
} satisfies ProtocolCases
