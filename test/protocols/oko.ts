import { knots } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const PLACE = 'A,5231.5000,S,01324.6000,W,12.5,270,201126,09,0.27,F9,11.3,1'
const FIX = {
  time: '2026-11-20T09:07:45.500Z',
  latitude: -52.525,
  longitude: -13.41,
  speed: knots(12.5),
  heading: 270,
  satellites: 9,
  said: { external_voltage: 11.3 },
}

export default {
  costly: { commas: `{${ID}${many(',')}}`, 'one number': `{090745.000,A,${many('1')}}` },
  frames: [
    {
      title: 'positions',
      frames: [
        { frame: `{${ID},090745.500,${PLACE}}`, device: ID, fixes: [FIX] },
        { frame: `{090745.500,${PLACE.replace('A', 'V')}}`, fixes: [{ ...FIX, valid: false }] },
        {
          frame: `{${ID},090745.500,${PLACE.split(',').slice(0, 10).join(',')}}`,
          device: ID,
          fixes: [{ ...FIX, said: undefined }],
        },
        { frame: `{${ID},090745.500,${PLACE.replace('11.3', '71')}}`, device: ID, fixes: [FIX] },
        {
          frame: `{${ID},090745.500,${PLACE.split(',').slice(0, 8).join(',')}}`,
          device: ID,
          fixes: [{ ...FIX, satellites: undefined, said: undefined }],
        },
        { frame: `{${ID},090745.500,V,,,,,,,201126,0,0.27}`, device: ID, none: 'no fix' },
        { frame: `{${ID},x}`, device: ID },
      ],
    },
  ],
} satisfies ProtocolCases
