import { ByteWriter } from '../../protocols/kit/index.ts'
import { eachPosition, many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const FIX = {
  time: '2026-11-20T06:30:15.250Z',
  latitude: -33.925,
  longitude: -18.4238,
  altitude: 120.5,
  speed: 15,
  heading: 270.5,
  hdop: 0.87,
  satellites: 12,
}
const MS = 1_795_156_215_250
const PLACE = `${MS};-33.92500;-18.42380;120.50;B;54.00;12;31;0.87;270.50`
const PART = { time: FIX.time, latitude: FIX.latitude, longitude: FIX.longitude }

export default {
  costly: {
    'fields without content': `~000000000003FFFF${many(';')}$`,
    'objects in objects': many('{"a":'),
    'a frame without an end': `^${many('\0')}`,
  },
  frames: [
    {
      title: 'text',
      frames: [
        {
          frame: text('000000041FE3FFFF', `1-2-3;${ID};8224;A;${PLACE};1;0;52.50;4.74;11750;3875;TIM`),
          device: ID,
          fixes: [{ ...FIX, said: { ignition: true, external_voltage: 11.75, battery_voltage: 3.875 } }],
          reply: 'ACK',
        },
        { frame: text('72', `${ID};${MS};-33.925;-18.4238`), device: ID, fixes: [PART], reply: 'ACK' },
        { frame: text('2', ID), device: ID, none: 'no place', reply: 'ACK' },
        { frame: text('x', ID), error: 'malformed' },
        { frame: text('72', `${ID};${MS};-33.925;west`), error: 'malformed', envelope: { device: ID, reply: 'ACK' } },
      ],
    },
    {
      title: 'binary',
      frames: [
        {
          frame: binary('000000041fe3ffff', full(0x0b)),
          device: ID,
          fixes: [{ ...FIX, said: { ignition: true } }],
          reply: 'ACK',
        },
        { frame: binary('000000041fe3ffff', full(0x01)), device: ID, fixes: [], reply: 'ACK' },
        {
          frame: binary('0000000000000002', imei()),
          device: ID,
          none: 'no place',
          reply: 'ACK',
        },
      ],
    },
    {
      title: 'JSON',
      frames: [
        {
          frame: `{"cnt":1,"ts":${MS},"gps":[-33.925,-18.4238],"alt":120.5,"speed":54,"nsat":12,"hdop":0.87,"azi":270.5,"fix":1,"imei":${ID}}`,
          device: ID,
          fixes: [FIX],
          reply: 'ACK',
        },
        {
          frame: `{"ts":${MS},"gps":[-33.925,-18.4238],"fix":0,"imei":${ID}}`,
          device: ID,
          fixes: [{ ...PART, valid: false }],
          reply: 'ACK',
        },
        { frame: `{"imei":${ID}}`, device: ID, none: 'no place', reply: 'ACK' },
        { frame: '{"imei":"x"}', error: 'malformed' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'the voltages are in mV',
      says: eachPosition(({ said }) =>
        said?.batteryV === undefined ? {} : { said: { ...said, batteryV: said.batteryV / 1000 } },
      ),
    },
  ],
} satisfies ProtocolCases

function text(mask: string, fields: string): string {
  return `~${mask};${fields}|00000000000041DF;180.00;7$`
}

function binary(mask: string, fields: ByteWriter): Buffer {
  return new ByteWriter().ascii('^').hex(mask).bytes(fields.toBuffer()).hex('00010000').ascii('$').toBuffer()
}

function imei(w = new ByteWriter()): ByteWriter {
  return w.u64(Number(ID))
}

function full(signs: number): ByteWriter {
  const w = imei(new ByteWriter().hex('0000012d0000022d000003')).u32(8224).hex('00'.repeat(10)).u64(MS)
  w.u32(3_392_500).u32(1_842_380).u8(0).u16(12_050).u8(signs)
  return w.u8(0).u16(5400).u8(12).u8(31).u16(87).u16(27_050)
}
