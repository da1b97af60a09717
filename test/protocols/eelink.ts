import { bytes, u } from '../support/encode.ts'
import { COSTLY_SIZE, many, type ProtocolCases } from '../support/protocol-cases.ts'

const IMEI = '356307042441013'

const FIX = {
  time: '2026-11-20T06:30:15Z',
  latitude: 54.687205,
  longitude: -25.27973,
  speed: 15,
  heading: 214,
}
const TIME = u(4, Date.UTC(2026, 10, 20, 6, 30, 15) / 1000).toString('hex')
const PLACE = [54.687205, -25.27973].map((angle) => u(4, Math.round(angle * 1.8e6) >>> 0).toString('hex')).join('')
const CELL = '01cc 0000 2495 001420'

const OLD = bytes(`${TIME} ${PLACE} 36 00d6 ${CELL} 01 01`)
const GPS = `${PLACE} fff4 0036 00d6 09`
const NEW = bytes(`${TIME} 03 ${GPS} ${CELL} 42 22 0011 0f11`)
/** What state 0011 and battery 0F11 say. */
const TOLD = { battery_voltage: 3.857 }
const BEAT = { ignition: false, moving: false }
const TEXT = 'Lat:N54.687205,Lon:W25.279730,Course:214.00,Speed:54.00km/h,DateTime:2026-11-20 06:30:15'

export default {
  costly: {
    'packets without content': datagram(Array.from({ length: 9000 }, () => packet(0x03, 0, Buffer.alloc(0)))),
    'a text of latitudes': packet(0x80, 1, Buffer.concat([Buffer.alloc(4), Buffer.from(many('Lat:N1.1'))])),
    starts: many('\x67'),
    'starts of datagrams': many('EL'),
    'a length of zeros': Buffer.concat([bytes('676712ffff'), Buffer.alloc(COSTLY_SIZE)]),
  },
  frames: [
    {
      title: 'a login and packets over TCP',
      frames: [
        {
          frame: packet(0x01, 0x1234, bytes(`0${IMEI} 01 20`)),
          device: IMEI,
          none: 'login',
          reply: bytes('676701 0009 1234 6b003640 0001 00'),
        },
        { frame: packet(0x02, 1, OLD), fixes: [FIX] },
        {
          frame: packet(0x04, 2, OLD),
          fixes: [{ ...FIX, said: { alarms: ['power_cut'] } }],
          reply: bytes('676704 0002 0002'),
        },
        { frame: packet(0x02, 1, OLD.subarray(0, 15)), fixes: [FIX] },
        { frame: packet(0x02, 1, OLD.subarray(0, -2)), fixes: [FIX] },
        { frame: packet(0x04, 2, OLD.subarray(0, -2)), fixes: [FIX], reply: bytes('676704 0002 0002') },
        {
          frame: packet(0x06, 2, Buffer.concat([OLD, Buffer.from('+4912345')])),
          fixes: [FIX],
          reply: bytes('676706 0002 0002'),
        },
        {
          frame: packet(0x05, 3, Buffer.concat([OLD.subarray(0, -2), bytes('00 01')])),
          fixes: [{ ...FIX, valid: false }],
          reply: bytes('676705 0002 0003'),
        },
        {
          frame: packet(0x12, 4, NEW),
          fixes: [{ ...FIX, altitude: -12, satellites: 9, said: TOLD }],
          reply: bytes('676712 0002 0004'),
        },
        {
          frame: packet(0x12, 4, bytes(`${TIME} 13 ${GPS} ${CELL} 42 22 f0b429dd82ca d3 0488 0f11`)),
          fixes: [
            { ...FIX, altitude: -12, satellites: 9, valid: false, said: { ...TOLD, moving: false, charging: false } },
          ],
          reply: bytes('676712 0002 0004'),
        },
        {
          frame: packet(0x12, 4, bytes(`${TIME} 81 ${GPS} 0010 0f11`)),
          fixes: [{ ...FIX, altitude: -12, satellites: 9 }],
          reply: bytes('676712 0002 0004'),
        },
        {
          frame: packet(0x14, 4, bytes(`${TIME} 01 ${GPS} 25 0010`)),
          fixes: [{ ...FIX, altitude: -12, satellites: 9, valid: false, said: { alarms: ['tampering'] } }],
          reply: bytes('676714 0002 0004'),
        },
        {
          frame: packet(0x11, 4, NEW),
          fixes: [{ ...FIX, altitude: -12, satellites: 9 }],
          reply: bytes('676711 0002 0004'),
        },
        { frame: packet(0x11, 4, bytes('0102030405')), reply: bytes('676711 0002 0004') },
        {
          frame: packet(0x14, 5, bytes(`${TIME} 02 ${CELL} 22`)),
          none: 'no place',
          reply: bytes('676714 0002 0005'),
        },
        {
          frame: packet(0x80, 6, Buffer.concat([Buffer.alloc(4), Buffer.from(TEXT)])),
          fixes: [FIX],
          reply: bytes('676780 0002 0006'),
        },
        {
          frame: packet(
            0x80,
            7,
            Buffer.concat([Buffer.alloc(4), Buffer.from(TEXT.replace('W', 'E').replace('N', 'S'))]),
          ),
          fixes: [{ ...FIX, latitude: -54.687205, longitude: 25.27973 }],
          reply: bytes('676780 0002 0007'),
        },
        {
          frame: packet(0x80, 7, Buffer.from('\0\0\0\0APN is set')),
          none: 'command answer',
          reply: bytes('676780 0002 0007'),
        },
        { frame: packet(0x03, 8, bytes('006a')), none: 'heartbeat', said: BEAT, reply: bytes('676703 0002 0008') },
        { frame: packet(0x55, 9, bytes('006a')), reply: bytes('676755 0002 0009') },
        {
          frame: packet(0x02, 9, Buffer.concat([OLD.subarray(0, -1), bytes('030e 1145 0031')])),
          fixes: [{ ...FIX, said: { ignition: true, moving: true, battery_voltage: 4.421 } }],
        },
        {
          frame: packet(0x05, 9, Buffer.concat([OLD.subarray(0, -1), bytes('02'), bytes(TIME), bytes('0182')])),
          fixes: [{ ...FIX, said: { ignition: false, charging: true } }],
          reply: bytes('676705 0002 0009'),
        },
        {
          frame: packet(0x12, 10, NEW.subarray(0, 12)),
          error: 'truncated',
          envelope: { reply: bytes('676712 0002 000a') },
        },
      ],
    },
    {
      title: 'datagrams',
      transport: 'udp',
      frames: [
        {
          frame: datagram([packet(0x12, 4, NEW), packet(0x03, 5, bytes('006a')), packet(0x02, 6, OLD)]),
          device: IMEI,
          fixes: [{ ...FIX, altitude: -12, satellites: 9, said: TOLD }, FIX],
          reply: [bytes('676712 0002 0004'), bytes('676703 0002 0005')],
        },
        {
          frame: datagram([packet(0x03, 5, bytes('006a')), Buffer.alloc(9)]),
          device: IMEI,
          none: 'heartbeat',
          said: BEAT,
          reply: bytes('676703 0002 0005'),
        },
        {
          frame: datagram([packet(0x03, 5, bytes('006a')), packet(0x55, 6, bytes('01'))]),
          device: IMEI,
          said: BEAT,
          reply: [bytes('676703 0002 0005'), bytes('676755 0002 0006')],
        },
        {
          frame: datagram([packet(0x12, 4, NEW.subarray(0, 12)), packet(0x02, 6, OLD)]),
          device: IMEI,
          fixes: [FIX],
          unreadable: [0],
          reply: [bytes('676712 0002 0004')],
        },
        { frame: datagram([]), error: 'truncated' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'Login packet: it names the device; the vectors name that of an earlier datagram',
      says: ({ input: { hex = '' } }) =>
        hex.startsWith('676701') ? { deviceId: hex.slice(14, 30).replace(/^0/, '') } : undefined,
    },
  ],
} satisfies ProtocolCases

function packet(type: number, serial: number, body: Buffer): Buffer {
  return Buffer.concat([bytes('6767'), u(1, type), u(2, (2 + body.length) & 0xffff), u(2, serial), body])
}

function datagram(packets: readonly Buffer[]): Buffer {
  const content = Buffer.concat([bytes(`0000 0${IMEI}`), ...packets])
  return Buffer.concat([Buffer.from('EL'), u(2, content.length & 0xffff), content])
}
