import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases, eachSaid } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const PLACE = '20261120111252,13.41,-52.52,36.0,270,34,9'
const FIX = {
  time: '2026-11-20T11:12:52Z',
  latitude: -52.52,
  longitude: 13.41,
  speed: kmh(36),
  heading: 270,
  altitude: 34,
}
const reply = '$$hb,1#'

export default {
  costly: { commas: `$$STATUS,${ID}${many(',')}#`, 'one number': `${many('1')}#` },
  frames: [
    {
      title: 'positions of each head',
      frames: [
        { frame: `$$STATUS,${ID},${PLACE},2,0.000#`, device: ID, fixes: [{ ...FIX, satellites: 9 }], reply },
        { frame: `$$STATUS${ID},${PLACE.replace(/9$/, '-1')},2,0.000#`, device: ID, fixes: [FIX], reply },
        { frame: `${ID},${PLACE},2,0.000#`, device: ID, fixes: [{ ...FIX, satellites: 9 }], reply },
        {
          frame: `$$STATUS,VAN4B,${PLACE},2,7472.967,13697,0.00,0,0#`,
          device: 'VAN4B',
          fixes: [{ ...FIX, satellites: 9, said: { ignition: false } }],
          reply,
        },
        {
          frame: `VAN4B,${PLACE},2,7472,2147489155#`,
          device: 'VAN4B',
          fixes: [{ ...FIX, satellites: 9, said: { ignition: true } }],
          reply,
        },
        { frame: '$$HELLO#' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'a field that is 0 while the vehicle drives with its ignition on is not its voltage',
      says: eachSaid((each) => ({ ...each, powerV: undefined })),
    },
  ],
} satisfies ProtocolCases
