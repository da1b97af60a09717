import { kmh } from '../../protocols/kit/index.ts'
import { eachPosition, eachSaid, many, post, type ProtocolCases } from '../support/protocol-cases.ts'

const IMEI = '861230000000017'
const record = (fixed: number, north: string, alert = '01') =>
  `${alert}L${fixed}010524101530052.525000${north}013.410000E404x19601d000037596036.00270.0008021401S`
const report = (text: string) => post('/', `vltdata=${text}`)
const FIX = {
  time: '2024-05-01T10:15:30Z',
  latitude: 52.525,
  longitude: 13.41,
  speed: kmh(36),
  heading: 270,
  hdop: 2,
  satellites: 8,
  said: { ignition: false, moving: false },
}

export default {
  costly: { 'records that are none': report(`BTH${IMEI}999${many('1')}`), digits: report(many('1')) },
  frames: [
    {
      title: 'one record, a batch, and frames without a position',
      frames: [
        { frame: report(`NRM${IMEI}${record(1, 'N')}`), device: IMEI, fixes: [FIX] },
        {
          frame: report(`BTH${IMEI}002${record(1, 'S')}${record(0, 'N')}`),
          device: IMEI,
          fixes: [
            { ...FIX, latitude: -52.525 },
            { ...FIX, valid: false },
          ],
        },
        {
          frame: report(`NRM${IMEI}${record(1, 'N', '03').replace('401S', '411M')}`),
          device: IMEI,
          fixes: [{ ...FIX, said: { ignition: true, moving: true, alarms: ['power_cut'] } }],
        },
        {
          frame: report(`NRM${IMEI}${record(1, 'N').replaceAll('0', 'O')}`),
          error: 'malformed',
          envelope: { device: IMEI },
        },
        { frame: report(`HLM${IMEI}100`), device: IMEI, none: 'status' },
        { frame: report(`LGN${IMEI}`), device: IMEI, none: 'login' },
        { frame: report(`NRM${IMEI}01L1`), device: IMEI, fixes: [] },
        { frame: report(''), error: 'malformed' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'AIS 140 has speeds in km/h',
      says: eachPosition(({ speedKnots }) => ({ speedKnots: (speedKnots * 1000) / 1852 })),
    },
    {
      reason: 'AIS 140 has the state of the main power here, not whether the battery is charged',
      says: eachSaid((each) => ({ ...each, charging: undefined })),
    },
  ],
} satisfies ProtocolCases
