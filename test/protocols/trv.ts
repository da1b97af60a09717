import { kmh } from '../../protocols/kit/index.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const PLACE = '261120A5231.5000N01324.6000W036.0150010270.0006000908000502'
const FIX = {
  time: '2026-11-20T15:00:10Z',
  latitude: 52.525,
  longitude: -13.41,
  speed: kmh(36),
  heading: 270,
  satellites: 9,
  said: { battery_percent: 80 },
}

export default {
  costly: { commas: `IWAP10${many(',')}#`, digits: `TRVAP01261120A${many('1')}#` },
  frames: [
    {
      title: 'IW: a login, positions and other reports',
      frames: [
        { frame: `IWAP00${ID},89012,31024#`, device: ID, none: 'login', reply: 'IWBP00,20261120120000,0#' },
        { frame: `IWAP01${PLACE},460,0,9520,3671#`, fixes: [FIX], reply: 'IWBP01#' },
        { frame: `IWAP10${PLACE},460,0,9520,3671,00,zh-cn,00#`, fixes: [FIX], reply: 'IWBP10#' },
        { frame: `IWAP01,${PLACE},460,0,9520,3671#`, fixes: [FIX], reply: 'IWBP01#' },
        { frame: 'IWAP02,zh_cn,0,0#', none: 'cells', reply: 'IWBP02#' },
        {
          frame: 'IWAP03,06000908000102,5555,30#',
          none: 'heartbeat',
          said: { battery_percent: 80 },
          reply: 'IWBP03#',
        },
        { frame: 'IWAP03#', none: 'heartbeat', reply: 'IWBP03#' },
        {
          frame: `IWAP10${PLACE},460,0,9520,3671,01,zh-cn,00#`,
          fixes: [{ ...FIX, said: { battery_percent: 80, alarms: ['sos'] } }],
          reply: 'IWBP10#',
        },
        {
          frame: `IWAP01${PLACE.slice(0, -8)}#`,
          fixes: [{ ...FIX, said: undefined }],
          reply: 'IWBP01#',
        },
        ...['---00502', '08', '0x8'].map((battery) => ({
          frame: `IWAP01${PLACE.slice(0, -8)}${battery},460,0#`,
          fixes: [{ ...FIX, said: undefined }],
          reply: 'IWBP01#',
        })),
        {
          frame: `IWAP01${PLACE.slice(0, -8)}080,460,0,9520,3671#`,
          fixes: [FIX],
          reply: 'IWBP01#',
        },
        { frame: 'IWAP49,68#', none: 'health', reply: 'IWBP49#' },
        { frame: 'IWAPHP,60,130,85,95#', none: 'health', reply: 'IWBPHP#' },
        { frame: 'IWAP50,36.7,90#', none: 'health', said: { battery_percent: 90 }, reply: 'IWBP50#' },
        { frame: 'IWAP12,080835,+49#' },
      ],
    },
    {
      title: 'TRV: a login, positions, a heartbeat',
      frames: [
        { frame: `TRVAP00${ID}#`, device: ID, none: 'login', reply: 'TRVBP00#' },
        { frame: `TRVYP14${PLACE.replace('A', 'V')}00011,460#`, fixes: [{ ...FIX, valid: false }], reply: 'TRVZP14#' },
        {
          frame: 'TRVCP01,06000908000102#',
          none: 'heartbeat',
          said: { battery_percent: 80 },
          reply: 'TRVDP01#',
        },
        {
          frame: `TRVAP01${PLACE.replace('08000502', '08010000')},424,030,3011,27003#`,
          fixes: [{ ...FIX, said: { battery_percent: 80, ignition: true } }],
          reply: 'TRVBP01#',
        },
        { frame: 'TRVYP02,6|2,460#', none: 'identifiers', reply: 'TRVZP02#' },
        { frame: 'TRVYP16,100000023000101200002040000#', none: 'heartbeat', reply: 'TRVZP16#' },
        { frame: 'TRVYP17,1#', reply: 'TRVZP17#' },
        { frame: 'TRVAP01261120A5231.5000N#', fixes: [], reply: 'TRVBP01#' },
        { frame: 'TRVAP03,080835,1#', none: 'command answer' },
        { frame: 'TRVAP21,13800000000#', none: 'settings', reply: 'TRVBP21#' },
      ],
    },
  ],
  corrections: [
    {
      reason: '"Protocol for GPS Watch", AP01: three digits are the charge of the battery in percent',
      says: ({ positions }) => ({
        positions: positions.map((position) => {
          const { batteryV, ...rest } = position.said ?? {}
          return batteryV === undefined ? position : { ...position, said: { ...rest, batteryPercent: batteryV } }
        }),
      }),
    },
  ],
} satisfies ProtocolCases
