import { ByteWriter, crc16Xmodem } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '351535053000777'
const PLACE = 'GPS:A;9;N52.525000;E13.410000;36;270'
const FIX = { time: '2024-05-01T23:15:30Z', latitude: 52.525, longitude: 13.41, speed: 10, heading: 270, satellites: 9 }

const TIME = ((Date.UTC(2024, 4, 1, 23, 15, 30) - Date.UTC(2000, 0, 1)) / 1000).toString(16)
const PLACE_OF_BINARY = '032177c8 00cc9ed0 0024 010e 0022 005a'

/** A binary frame between its flags, with its checksum, escaped. */
function binary(content: string, type = '0601'): Buffer {
  const body = new ByteWriter().hex(type).hex(BigInt(ID).toString(16).padStart(14, '0')).bytes(bytes(content))
  const hex = body.crc16(crc16Xmodem).toBuffer().toString('hex')
  const escaped = (hex.match(/../g) ?? []).map((byte) => (byte === '1b' ? '1b00' : byte === 'f8' ? '1be3' : byte))
  return bytes(`f8${escaped.join('')}f8`)
}

/** Several records, behind the bytes that they take and their number. */
function batch(...records: readonly string[]): Buffer {
  const content = bytes(records.join(''))
  return binary(
    new ByteWriter()
      .u16(content.length + 1)
      .u8(records.length)
      .bytes(content)
      .toBuffer()
      .toString('hex'),
    '1604',
  )
}

export default {
  costly: {
    'many records': `*GS06,${ID},${many('$')}#`,
    'many items': `*GS06,${ID},231530010524,,${many('A:1,')}#`,
    'many values': `*GS06,${ID},231530010524,,GPS:${many(';')}#`,
  },
  frames: [
    {
      title: 'a heartbeat and a position in one datagram',
      transport: 'udp',
      frames: [
        { frame: `*GS16,${ID}#`, device: ID, none: 'heartbeat', reply: '1234' },
        { frame: `*GS16,${ID},231530010524,,${PLACE}#`, device: ID, fixes: [FIX], reply: '1234' },
      ],
    },
    {
      title: 'text: records of one line, the first version, no position',
      frames: [
        {
          frame: `*GS06,${ID},231530010524,1C,SYS:G3C;V1.40,${PLACE};34;0.9;1.2,COT:,ADC:13.1$231530010524,,${PLACE}#`,
          device: ID,
          fixes: [{ ...FIX, altitude: 34, hdop: 0.9, said: { external_voltage: 13.1 } }, FIX],
          reply: '1234',
        },
        {
          frame: `*GS16,${ID},231530010524,,GPS:V;0;S52.525;W13.41;0;0;0;0.00#`,
          device: ID,
          fixes: [
            {
              ...FIX,
              latitude: -52.525,
              longitude: -13.41,
              speed: 0,
              heading: 0,
              altitude: 0,
              satellites: 0,
              valid: false,
            },
          ],
          reply: '1234',
        },
        {
          frame: `*GS02,${ID},GPS:231530;A;N52.525;E13.41;36;270;010524,STT:20;0#`,
          device: ID,
          fixes: [{ time: FIX.time, latitude: 52.525, longitude: 13.41, speed: 10, heading: 270 }],
          reply: '1234',
        },
        {
          frame: `*GS02,${ID},GPS:231530;A;N52.525;E13.41;36;270;010524,STT:20;0,ADC:0;11.2;1;28.3;2;4.1#`,
          device: ID,
          fixes: [
            {
              time: FIX.time,
              latitude: 52.525,
              longitude: 13.41,
              speed: 10,
              heading: 270,
              said: { external_voltage: 11.2, battery_voltage: 4.1 },
            },
          ],
          reply: '1234',
        },
        {
          frame: `*GS26,${ID},231530010524,,GPS:A;;S52.525;W13.41;;;;#`,
          device: ID,
          fixes: [{ time: FIX.time, latitude: -52.525, longitude: -13.41 }],
          reply: '1234',
        },
        {
          frame: `*GS16,${ID},GPS:231530;A;N52.525;E13.41;36;270;010524,STT:20;0#`,
          device: ID,
          fixes: [{ time: FIX.time, latitude: 52.525, longitude: 13.41, speed: 10, heading: 270 }],
          reply: '1234',
        },
        {
          frame: `*GS26,${ID},231530010524,,GPS:A;9;N52.525;E13.41;36,GSM:1#`,
          device: ID,
          fixes: [{ ...FIX, heading: undefined }],
          reply: '1234',
        },
        { frame: `*GS06,${ID},231530010524,,GPS:L,GSM:1;4;416#`, device: ID, none: 'no place', reply: '1234' },
        { frame: `*GS26,${ID},231530010524,,GPS:V;0;;;;#`, device: ID, none: 'no place', reply: '1234' },
        { frame: `*GS02,${ID}#`, device: ID, none: 'heartbeat', reply: '1234' },
        { frame: `*GS06,${ID},231530010524,,SYS:G3C#`, device: ID, none: 'no place', reply: '1234' },
        {
          frame: `*GS06,${ID},231530010524,,${PLACE}$2315,,${PLACE}#`,
          device: ID,
          fixes: [FIX],
          unreadable: [1],
          reply: '1234',
        },
        {
          frame: `*GS06,${ID},231530010524,,${PLACE},ADC:12.96;4.06,DTT:4004;E7;0;0;0;1$231530010524,,${PLACE},DTT:4004;C6;0#`,
          device: ID,
          fixes: [
            { ...FIX, said: { ignition: true, external_voltage: 12.96, battery_voltage: 4.06 } },
            { ...FIX, said: { ignition: false } },
          ],
          reply: '1234',
        },
        {
          frame: `*GS06,${ID},231530010524,,GSM:1,ADC:12.96;;1,DTT:4004;;0#`,
          device: ID,
          none: 'no place',
          said: { external_voltage: 12.96 },
          reply: '1234',
        },
        {
          frame: `*GS06,${ID},231530010524,,GPS:A;9#`,
          error: 'malformed',
          envelope: { device: ID, reply: '1234' },
        },
        { frame: '*HQ,8800000001#', error: 'unsupported' },
      ],
    },
    {
      title: 'binary: a position with some fields; others are not read',
      frames: [
        {
          frame: binary(`${TIME} 000a 13 003f 49 ${PLACE_OF_BINARY} 021bf8`),
          device: ID,
          fixes: [{ ...FIX, altitude: 34, hdop: 0.9 }],
          reply: '1234',
        },
        {
          frame: binary(`${TIME} 0002 12 003e ${PLACE_OF_BINARY}`),
          device: ID,
          fixes: [{ ...FIX, satellites: undefined, altitude: 34, hdop: 0.9 }],
          reply: '1234',
        },
        {
          frame: binary(
            `${TIME} 0003 1d 0f50726f6d612053617420313030302015 56312e31302656312e312e34 15 007f 49 ${PLACE_OF_BINARY} 0064`,
          ),
          device: ID,
          fixes: [{ ...FIX, altitude: 34, hdop: 0.9 }],
          reply: '1234',
        },
        { frame: binary(`${TIME} 0004 0a 03120fa0142b8475a157`), device: ID, none: 'no place', reply: '1234' },
        { frame: binary(`${TIME} 0002 13 003e 49 ${PLACE_OF_BINARY}`, '4604'), error: 'unsupported' },
        {
          frame: binary(`${TIME} 0002 13 003e 49 ${PLACE_OF_BINARY}`),
          error: 'unsupported',
          envelope: { device: ID, reply: '1234' },
        },
      ],
    },
    {
      title: 'binary: several records',
      frames: [
        {
          frame: batch(
            `${TIME} 0022 15 007f 49 ${PLACE_OF_BINARY} 0064 02 1bf8`,
            `${TIME} 0020 02 1bf8`,
            `${TIME} 0002 0f 000f 09 032177c8 00cc9ed0 0024 010e`,
          ),
          device: ID,
          fixes: [{ ...FIX, altitude: 34, hdop: 0.9 }, FIX],
          reply: '1234',
        },
        { frame: batch(`${TIME} 0020 02 1bf8`), device: ID, none: 'no place', reply: '1234' },
      ],
    },
  ],
} satisfies ProtocolCases
