import { knots, xor } from '../../protocols/kit/index.ts'
import { get, many, type ProtocolCases } from '../support/protocol-cases.ts'

const signed = (text: string) => `$${text}*${xor(Buffer.from(text)).toString(16).toUpperCase().padStart(2, '0')}\r\n`
const FIX = { time: '2026-11-20T18:35:22Z', latitude: -52.525, longitude: 13.41, speed: knots(12.5), heading: 270 }
const SENT = 'FRCMD,0097,_SendMessage,,5231.5000,S,01324.6000,E,34.5,12.5,270.0,201126,183522.000'

export default {
  costly: { commas: signed(`FRCMD,0097${many(',')}`), 'one number': signed(`FRCMD,0097,_SendMessage,,${many('1')}`) },
  frames: [
    {
      title: 'a login, positions',
      frames: [
        {
          frame: signed('FRLIN,,van,8IVHF'),
          device: 'van',
          secret: '8IVHF',
          none: 'login',
          reply: signed('FRSES,embedded'),
        },
        {
          frame: signed('FRLIN,IMEI,356307042441013,'),
          device: '356307042441013',
          none: 'login',
          reply: signed('FRSES,embedded'),
        },
        { frame: signed('FRVER,1,0,GpsGate'), none: 'status' },
        { frame: signed('FRWDT,NMEA'), none: 'status' },
        { frame: signed('GPRMC,183522.000,A,5231.5000,S,01324.6000,E,12.5,270.0,201126,,'), fixes: [FIX] },
        {
          frame: signed('FRCMD,0097,_SendMessage,,5231.5000,S,01324.6000,E,34.5,12.5,270.0,201126,183522.000,0'),
          device: '0097',
          fixes: [{ ...FIX, altitude: 34.5, valid: false }],
        },
        {
          frame: signed('FRCMD,0097,_SendPosition,,5231.5000,S,01324.6000,E,34.5,12.5,270.0,201126,183522.000'),
          device: '0097',
          fixes: [{ ...FIX, altitude: 34.5 }],
        },
        {
          frame: signed(`${SENT},1,BatteryLow=0,SosButton=1`),
          device: '0097',
          fixes: [{ ...FIX, altitude: 34.5, said: { alarms: ['sos'] } }],
        },
        { frame: signed('FRCMD,0097,_Ping'), device: '0097' },
        { frame: signed('GPGSV,1') },
        { frame: '$GPGSV,1*00\r\n', error: 'checksum' },
      ],
    },
    {
      title: 'a position over UDP',
      transport: 'udp',
      frames: [{ frame: signed(`${SENT},1`), device: '0097', fixes: [{ ...FIX, altitude: 34.5 }] }],
    },
    {
      title: 'a position over HTTP, with and without a checksum',
      transport: 'http',
      frames: [
        {
          frame: get(`/comGpsGate/protocols/gpsgate/?cmd=$${SENT},1`),
          device: '0097',
          fixes: [{ ...FIX, altitude: 34.5 }],
          response: { body: signed('FRRET,0097,_SendMessage') },
        },
        {
          frame: get(`/?cmd=${encodeURIComponent(signed(`${SENT},0`).trim())}`),
          device: '0097',
          fixes: [{ ...FIX, altitude: 34.5, valid: false }],
          response: { body: signed('FRRET,0097,_SendMessage') },
        },
        { frame: get(`/?cmd=$${SENT},0*00`), error: 'checksum' },
        { frame: get('/?cmd='), error: 'malformed' },
      ],
    },
  ],
} satisfies ProtocolCases
