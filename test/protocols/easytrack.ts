import { kmh } from '../../protocols/kit/index.ts'
import { eachSaid, many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
/** 15:00:10 on 20 November 2026, 52.525 S, 13.41 E, 36 km/h, 270 degrees. */
const PLACE = 'A,1a0b14,0F000A,81E0E178,007AC5B0,0E10,6978,00400000,20,4,0000,00F123'
const FIX = {
  time: '2026-11-20T15:00:10Z',
  latitude: -52.525,
  longitude: 13.41,
  speed: kmh(36),
  heading: 270,
  said: { ignition: false },
}

export default {
  costly: { commas: `*ET,${ID},HB${many(',')}#`, digits: `*ET,${ID},HB,A,1a0b14,0F000A,${many('1')}#` },
  frames: [
    {
      title: 'positions and other reports',
      frames: [
        { frame: `*ET,${ID},MQ#`, device: ID, none: 'heartbeat', reply: `*ET,${ID},MQ#` },
        {
          frame: `*ET,${ID},TX,A,100b06,053230#`,
          device: ID,
          none: 'heartbeat',
          reply: `*ET,${ID},TX,A,100b06,053230#`,
        },
        { frame: `*ET,${ID},HB,${PLACE}#`, device: ID, fixes: [FIX] },
        { frame: `*ET,${ID},SO,${PLACE}#`, device: ID, fixes: [FIX] },
        {
          frame: `*ET,${ID},HB,${PLACE.slice(0, PLACE.indexOf(',00400000'))}#`,
          device: ID,
          fixes: [{ ...FIX, said: undefined }],
        },
        { frame: `*ET,${ID},DW,${PLACE},34#`, device: ID, fixes: [{ ...FIX, altitude: 34 }] },
        {
          frame: `*ET,${ID},HB,${PLACE.replace('A', 'V').replace('6978', 'F000').replace('00400000', '00800000')},34,12,0091564212,0B45,10.00,9\r\n`,
          device: ID,
          fixes: [
            {
              ...FIX,
              valid: false,
              heading: undefined,
              altitude: 34,
              satellites: 9,
              said: { ignition: true, driver: '0091564212' },
            },
          ],
        },
        { frame: `*ET,${ID},OB,BD$V14.2;R08258#`, device: ID, none: 'status', said: { external_voltage: 14.2 } },
        { frame: `*ET,${ID},OB,TD$1#`, device: ID, none: 'status' },
        { frame: `*ET,${ID},GZ,0001,0005#`, device: ID },
      ],
    },
    {
      title: 'a model that waits for answers',
      settings: { model: 'E3+4G' },
      frames: [{ frame: `*ET,${ID},HB,${PLACE}#`, device: ID, fixes: [FIX], reply: `*ET,${ID},HB,ACK#` }],
    },
  ],
  corrections: [
    {
      reason: 'a field that holds 100, 99, 4 and 0 is not the voltage of what feeds a tracker',
      says: eachSaid((each) => ({ ...each, powerV: undefined })),
    },
    {
      reason: 'of the OBD plug, 14.2 V is the battery of the vehicle',
      frames: ['easytrack-001'],
      says: eachSaid(({ batteryV }) => ({ powerV: batteryV })),
    },
  ],
} satisfies ProtocolCases
