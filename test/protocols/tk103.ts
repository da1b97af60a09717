import { kmh } from '../../protocols/kit/index.ts'
import { eachPosition, eachSaid, many, type ProtocolCases } from '../support/protocol-cases.ts'
import type { Correction } from '../support/vectors/corrections.ts'

const ID = '088047365460'
const PLACE = '240501A5231.5000N01324.6000E045.0101530270.0000000000L00009AA3'
const BARE = { time: '2024-05-01T10:15:30Z', latitude: 52.525, longitude: 13.41, speed: kmh(45), heading: 270 }
const FIX = { ...BARE, said: { ignition: false, charging: true } }
const LETTERS = '0A1B2C3D4E5F'

export default {
  costly: {
    'digits without an end': `(${many('1')}`,
    'a position without an end': `(${ID}BR00${PLACE}${many('0')}`,
    'text between dollars': `(${ID},ZC03,${many('$)')}`,
    'empty fields': `(${ID},ZC13${many(',')})`,
  },
  frames: [
    {
      title: 'other codes in front of a position, short and long ids',
      frames: [
        { frame: `(${ID}BP04${PLACE})`, device: ID, fixes: [FIX] },
        { frame: `(${ID}BP03356${ID}${PLACE})`, device: ID, fixes: [FIX] },
        { frame: `(${ID}BP05${ID}${PLACE})`, device: ID, fixes: [FIX], reply: `(${ID}AP05)` },
        { frame: `(${ID}BP054${ID}${PLACE})`, device: ID, fixes: [FIX], reply: `(${ID}AP05)` },
        { frame: `(${ID}BQ87,1,2,${PLACE})`, device: ID, fixes: [FIX] },
        {
          frame: `(35630704244101312BR02${PLACE.replace('N', 'S').replace('E', 'W')})`,
          device: '35630704244101312',
          fixes: [{ ...FIX, latitude: -52.525, longitude: -13.41 }],
        },
      ],
    },
    {
      title: 'ids with letters',
      frames: [
        { frame: `(${LETTERS}BP00000${LETTERS}HSO)`, device: LETTERS, none: 'login', reply: `(${LETTERS}AP01HSO)` },
        { frame: `(${LETTERS}BP05000${LETTERS}${PLACE})`, device: LETTERS, fixes: [FIX], reply: `(${LETTERS}AP05)` },
        { frame: `(${LETTERS}BR00${PLACE})`, device: LETTERS, fixes: [FIX] },
        { frame: `(${LETTERS}BX99,1)`, device: LETTERS },
        { frame: `(ABC${LETTERS}BR00${PLACE})`, device: `ABC${LETTERS}`, fixes: [FIX] },
      ],
    },
    {
      title: 'short ids filled up with NUL or blanks',
      frames: [
        {
          frame: `(0270619925\0\0BP050000270619925\0\0${PLACE})`,
          device: '0270619925',
          fixes: [FIX],
          reply: '(0270619925AP05)',
        },
        {
          frame: `(0270619925  BP050000270619925  ${PLACE})`,
          device: '0270619925',
          fixes: [FIX],
          reply: '(0270619925  AP05)',
        },
        { frame: `(0270619925  BR00${PLACE})`, device: '0270619925', fixes: [FIX] },
        { frame: '(0270619925  BX99,1)', device: '0270619925' },
      ],
    },
    {
      title: 'a handshake, a login, positions',
      frames: [
        { frame: `(${ID}BP00000000000000000HSO)`, device: ID, none: 'login', reply: `(${ID}AP01HSO)` },
        { frame: `(${ID}BP05000000000000000${PLACE})`, device: ID, fixes: [FIX], reply: `(${ID}AP05)` },
        {
          frame: `(${ID}BP05000000000000000,{262,2,1,1},01000000)`,
          device: ID,
          none: 'cells',
          said: { ignition: true, charging: true },
          reply: `(${ID}AP05)`,
        },
        { frame: `(${ID}BR00${PLACE})`, isTypical: true, device: ID, fixes: [FIX] },
        {
          frame: `(${ID}BO012${PLACE.replace('00000000L', '1100000AL')})`,
          device: ID,
          fixes: [{ ...BARE, said: { ignition: true, alarms: ['sos'] } }],
          reply: `(${ID}AS012)`,
        },
        {
          frame: `(${ID}BO015${PLACE.replace('240501', '240231')})`,
          error: 'malformed',
          envelope: { device: ID, reply: `(${ID}AS015)` },
        },
        { frame: `(${ID}BR00${PLACE.replace('045.0', ' 45.0').replace('N013', 'N 13')})`, device: ID, fixes: [FIX] },
        { frame: `(${ID}BQ81,ALARM,1,164,${PLACE})`, device: ID, fixes: [FIX] },
        { frame: `(${ID}BR00${PLACE.replace('240501', '000007')})`, device: ID, none: 'no date', said: FIX.said },
      ],
    },
    {
      title: 'positions and notices with commas, and what is not known',
      frames: [
        {
          frame: '(356307042441013,ZC13,010524,V,5231.5000S,01324.6000W,45.00,101530,270.00,1)',
          device: '356307042441013',
          fixes: [{ ...BARE, latitude: -52.525, longitude: -13.41, valid: false, said: { alarms: ['power_cut'] } }],
        },
        {
          frame: '(356307042441013,BP05,010524,A,5231.5000N,01324.6000E,45.00,101530,270.00,01000000,L00000000)',
          device: '356307042441013',
          fixes: [{ ...BARE, said: { ignition: true, charging: true } }],
        },
        {
          frame: '(356307042441013,ZC20,010524,101530,6,421,112,0)',
          device: '356307042441013',
          none: 'status',
          said: { external_voltage: 11.2, battery_voltage: 4.21, battery_percent: 100 },
        },
        {
          frame: '(356307042441013,ZC20,010524,101530,3,362,65535,255)',
          device: '356307042441013',
          none: 'status',
          said: { battery_voltage: 3.62 },
        },
        { frame: '(356307042441013,ZC99,1)', device: '356307042441013' },
        {
          frame: '(356307042441013,ZC03,010524,101530,$)Notice: (1) on$)',
          device: '356307042441013',
          none: 'status',
        },
        { frame: `(${ID}BX99,1)`, device: ID },
      ],
    },
  ],
  corrections: [
    {
      reason: 'the id ends in front of BP02, and the date of this layout is YYMMDD, as in BR00',
      frames: ['tk103-017'],
      says: ofDevice('357593060760397', { time: '2017-03-04T09:44:55.000Z' }),
    },
    {
      reason: 'the parenthesis is not part of the id',
      frames: ['tk103-025'],
      says: ofDevice('01602009983'),
    },
    {
      reason: 'KX402 1.5: AS01 with the digit of the alarm answers BO01',
      says: ({ input: { text = '' } }) => {
        const [, id, alarm] = /^\((\d{12})BO01(\d)/.exec(text) ?? []
        return id === undefined ? undefined : { replies: [{ text: `(${id}AS01${alarm})` }] }
      },
    },
    {
      reason: 'KX402, state: 1 is "main power off", which does not say whether the battery is being charged',
      frames: ['tk103-025'],
      says: eachSaid((each) => ({ ...each, charging: undefined })),
    },
    { reason: 'a date without a month is a clock that was never set', frames: ['tk103-029'], says: { positions: [] } },
  ],
  exceptions: { 'tk103-030': 'its date has an 18th month: the frame was edited' },
} satisfies ProtocolCases

function ofDevice(deviceId: string, fields: { readonly time?: string } = {}): Correction['says'] {
  return (vector) => ({ deviceId, ...eachPosition(() => ({ ...fields, deviceId }))(vector) })
}
