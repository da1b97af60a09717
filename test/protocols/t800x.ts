import { ByteWriter } from '../../protocols/kit/index.ts'
import { bytes } from '../support/encode.ts'
import { COSTLY_SIZE, eachSaid, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '861234567890123'

/** A packet of a family and a type, such as '252502', with the serial number 0102. */
function packet(kind: string, content = ''): Buffer {
  const body = bytes(content.replaceAll(' ', ''))
  return new ByteWriter()
    .hex(kind)
    .u16(15 + body.length)
    .hex(`01020${ID}`)
    .bytes(body)
    .toBuffer()
}

/** 2024-05-01 23:15:30, 34 m, 13.5° E, 52.5° N, 36 km/h, 270°. */
const PLACE = '240501231530 00000842 00005841 00005242 0360 010e'
const FIX = {
  time: '2024-05-01T23:15:30Z',
  latitude: 52.5,
  longitude: 13.5,
  altitude: 34,
  speed: 10,
  heading: 270,
  satellites: 9,
}
const { satellites: _, ...BEHAVIOUR } = FIX
/** What the zeros around a place say: no ignition, a full battery. */
const IDLE = { ignition: false, battery_percent: 100 }
const tracker = (flags: string) => `${'00'.repeat(9)}${flags}${'00'.repeat(12)}16${'00'.repeat(6)}${PLACE}00`
const asset = (flags: string) => `${'00'.repeat(9)}${flags}${'00'.repeat(20)}13${'00'.repeat(6)}${PLACE}00`

const tag = (flags: string, place: string) => `240501231530 00 0003 ffff9702eff8 2001 ${flags} ${place}`

/** A date, what stands between, and the rest of the place. */
const entry = (between: string) => `${PLACE.slice(0, 12)} ${between} ${PLACE.slice(13)}`

const STATE = '02 05 0755 600f3c 619000 620024 a10000320a'
/** Axes, a charge, a temperature, light, two voltages, a distance, a state. */
const RADIO_STATE = '0000000000 88 1d ff 39 00 00038470 8004'
const RADIO_SAID = { ignition: true, charging: true, battery_percent: 88, battery_voltage: 3.9 }
const TYPED = '0001 11 00000842 00005841 00005242 010e ffff 09'

export default {
  costly: {
    'many places': packet('262605', `01${`${PLACE}0360`.repeat(2000)}`),
    zeros: Buffer.concat([packet('252502'), Buffer.alloc(COSTLY_SIZE)]),
  },
  frames: [
    {
      title: 'the oldest family: login, heartbeat, position, alarm; its answers are numbered 1',
      frames: [
        { frame: packet('232301', '208625'), device: ID, none: 'login', reply: bytes(`232301000f00010${ID}`) },
        { frame: packet('232303'), device: ID, none: 'heartbeat', reply: bytes(`232303000f00010${ID}`) },
        {
          frame: packet('232302', tracker('49')),
          device: ID,
          fixes: [{ ...FIX, said: IDLE }],
          reply: bytes(`232302000f00010${ID}`),
        },
        {
          frame: packet('232302', tracker('09')),
          device: ID,
          none: 'cells',
          said: IDLE,
          reply: bytes(`232302000f00010${ID}`),
        },
        {
          frame: packet('232304', tracker('49')),
          device: ID,
          fixes: [{ ...FIX, said: IDLE }],
          reply: bytes(`232304001000010${ID}16`),
        },
      ],
    },
    {
      title: 'newer families: positions, alarms, behaviour, beacons',
      frames: [
        {
          frame: packet('252502', tracker('c9')),
          device: ID,
          fixes: [{ ...FIX, said: IDLE }],
          reply: bytes(`252502000f01020${ID}`),
        },
        {
          frame: packet('252513', asset('c9')),
          device: ID,
          fixes: [{ ...FIX, said: IDLE }],
          reply: bytes(`252513000f01020${ID}`),
        },
        {
          frame: packet('252514', asset('49')),
          device: ID,
          fixes: [{ ...FIX, said: IDLE }],
          reply: bytes(`252514001001020${ID}13`),
        },
        { frame: packet('272702', `4900${PLACE}00`), device: ID, fixes: [FIX], reply: bytes(`272702000f01020${ID}`) },
        { frame: packet('272704', `4921${PLACE}00`), device: ID, fixes: [FIX], reply: bytes(`272704001001020${ID}21`) },
        {
          frame: packet('262605', `01${PLACE}0360 240501231535 ${'ff'.repeat(12)} 0270 ffff 0360`),
          device: ID,
          fixes: [BEHAVIOUR],
          reply: bytes(`262605000f01020${ID}`),
        },
        {
          frame: packet('262605', `01${`240501231535 ${'ff'.repeat(12)} 0270 ffff 0360`.repeat(2)}`),
          device: ID,
          none: 'no fix',
          reply: bytes(`262605000f01020${ID}`),
        },
        {
          frame: packet('272705', '240501231530 0753 46 6f'),
          device: ID,
          none: 'no fix',
          reply: bytes(`272705000f01020${ID}`),
        },
        {
          frame: packet('272710', '240501231530'),
          device: ID,
          none: 'beacons',
          reply: [bytes(`272710000f01020${ID}`), bytes('272710000f0102')],
        },
        {
          frame: packet('252510', tag('49', PLACE.slice(13))),
          device: ID,
          fixes: [{ ...FIX, said: { driver: 'ffff9702eff8' } }],
          reply: [bytes(`252510000f01020${ID}`), bytes('252510000f0102')],
        },
        {
          frame: packet('252510', tag('49', PLACE.slice(13)).replace('0003', '0002').replace('2001', '2000')),
          device: ID,
          fixes: [{ ...FIX, said: { alarms: ['sos'] } }],
          reply: [bytes(`252510000f01020${ID}`), bytes('252510000f0102')],
        },
        {
          frame: packet('252510', tag('09', PLACE.slice(13)).replace('0003', '0002')),
          device: ID,
          none: 'beacons',
          reply: [bytes(`252510000f01020${ID}`), bytes('252510000f0102')],
        },
        {
          frame: packet('252510', tag('09', PLACE.slice(13))),
          device: ID,
          none: 'beacons',
          said: { driver: 'ffff9702eff8' },
          reply: [bytes(`252510000f01020${ID}`), bytes('252510000f0102')],
        },
        {
          frame: packet('272702', `4900 240501231530 ${'ff'.repeat(12)} ffff ffff`),
          device: ID,
          none: 'no fix',
          reply: bytes(`272702000f01020${ID}`),
        },
        {
          frame: packet('272702', `4900${PLACE.replace('00005242', '0000c07f')}00`),
          error: 'malformed',
          envelope: { device: ID, reply: bytes(`272702000f01020${ID}`) },
        },
        {
          frame: packet('272704', `4921${PLACE.replace('00005242', '0000c07f')}00`),
          error: 'malformed',
          envelope: { device: ID, reply: bytes(`272704001001020${ID}21`) },
        },
        {
          frame: packet('252514', asset('49').slice(0, 80)),
          error: 'truncated',
          envelope: { device: ID, reply: bytes(`252514001001020${ID}13`) },
        },
        {
          frame: packet('272704', '49'),
          error: 'truncated',
          envelope: { device: ID, reply: bytes(`272704000f01020${ID}`) },
        },
        { frame: packet('252581', '00'), device: ID, none: 'command answer' },
        { frame: packet('252599', '00'), device: ID, reply: bytes(`252599000f01020${ID}`) },
        {
          frame: packet('252502', '00'),
          error: 'truncated',
          envelope: { device: ID, reply: bytes(`252502000f01020${ID}`) },
        },
      ],
    },
    {
      title: 'events whose date stands apart from the place',
      frames: [
        {
          frame: packet('262606', `03 ${entry('49 0102030405')} ffff`),
          device: ID,
          fixes: [FIX],
          reply: bytes(`262606000f01020${ID}`),
        },
        {
          frame: packet('252507', `03 ${entry('49 0102030405')} ${entry('09 0102030405')} ${entry('c9 0102030405')}`),
          device: ID,
          fixes: [FIX, FIX],
          reply: bytes(`252507000f01020${ID}`),
        },
        {
          frame: packet('262607', `03 ${entry('49 0102030405')} 0320 ${entry('49 0102030405')} ffff`),
          device: ID,
          fixes: [FIX, FIX],
          reply: bytes(`262607000f01020${ID}`),
        },
        {
          frame: packet('252507', `03 ${entry('49 0102030405').replace('2405', '24ff')} ${entry('49 0102030405')}`),
          device: ID,
          fixes: [FIX],
          unreadable: [0],
          reply: bytes(`252507000f01020${ID}`),
        },
        {
          frame: packet('252507', `03 ${entry('09 0102030405')}`),
          device: ID,
          none: 'no fix',
          reply: bytes(`252507000f01020${ID}`),
        },
        {
          frame: packet('252512', `${entry('01 49')} 0102`),
          device: ID,
          fixes: [{ ...FIX, said: { ignition: true } }],
          reply: bytes(`252512000f01020${ID}`),
        },
        {
          frame: packet('252523', `${entry('00 00 49')} 0102`),
          device: ID,
          fixes: [{ ...FIX, said: { ignition: false } }],
          reply: bytes(`252523000f01020${ID}`),
        },
        {
          frame: packet('272727', `${entry('49')} 5a`),
          device: ID,
          fixes: [FIX],
          reply: bytes(`272727000f01020${ID}`),
        },
        {
          frame: packet('272717', `${entry('49')} 01`),
          device: ID,
          fixes: [FIX],
          reply: bytes(`272717000f01020${ID}`),
        },
      ],
    },
    {
      title: 'typed values',
      frames: [
        {
          frame: packet('262662', `5a 80 240501231530 0101 c00000003c ${STATE} 03 0001 ${TYPED}`),
          device: ID,
          fixes: [
            {
              ...FIX,
              said: {
                ignition: true,
                charging: true,
                battery_percent: 85,
                battery_voltage: 3.9,
                external_voltage: 12.81,
              },
            },
          ],
          reply: bytes(`262662000f01020${ID}`),
        },
        {
          frame: packet('272764', `5a 00 240501231530 03 0001 0001 11 ${'ff'.repeat(17)}`),
          device: ID,
          none: 'no fix',
          reply: bytes(`272764001001020${ID}00`),
        },
        {
          frame: packet('262664', `5a 00 240501231530 02 01 01 21 03 0001 ${TYPED}`),
          device: ID,
          fixes: [{ ...FIX, speed: undefined }],
          reply: bytes(`262664001001020${ID}21`),
        },
        {
          frame: packet('262664', `5a 00 240501231530 02 01 01 21 03 0001 ${TYPED.replace('00005242', '0000c07f')}`),
          error: 'malformed',
          envelope: { device: ID, reply: bytes(`262664001001020${ID}21`) },
        },
        {
          frame: packet('272762', '5a 00 240501231530 02 01 07 55'),
          device: ID,
          none: 'cells',
          said: { battery_percent: 85 },
          reply: bytes(`272762000f01020${ID}`),
        },
        {
          frame: packet('272762', '5a 20 0102030405060708090a0b0c0d0e0f10'),
          device: ID,
          fixes: [],
          reply: bytes(`272762000f01020${ID}`),
        },
        {
          frame: packet('272762', '5a 00 240501231530 04 01 07 55'),
          error: 'malformed',
          envelope: { device: ID, reply: bytes(`272762000f01020${ID}`) },
        },
      ],
    },
    {
      title: 'positions with the axes of an accelerometer',
      frames: [
        {
          frame: packet('252516', `${tracker('49')} 0102030405060708090a0b0c`),
          device: ID,
          fixes: [{ ...FIX, said: { ...IDLE, external_voltage: 0.01 } }],
          reply: bytes(`252516000f01020${ID}`),
        },
        {
          frame: packet('252518', tracker('49')),
          device: ID,
          fixes: [{ ...FIX, said: IDLE }],
          reply: bytes(`252518001001020${ID}16`),
        },
        {
          frame: packet('252534', asset('49')),
          device: ID,
          fixes: [{ ...FIX, said: IDLE }],
          reply: bytes(`252534001001020${ID}13`),
        },
        { frame: packet('272718', '0102'), device: ID, reply: bytes(`272718000f01020${ID}`) },
        { frame: packet('252515', '0102'), device: ID, none: 'wifi', reply: bytes(`252515000f01020${ID}`) },
      ],
    },
    {
      title: 'what packets say beside the position',
      frames: [
        {
          frame: packet('252504', `${'00'.repeat(9)}49${'00'.repeat(6)}4000 0000 0000 01 00 00000000 85 ${PLACE} 1281`),
          device: ID,
          fixes: [
            { ...FIX, said: { ignition: true, battery_percent: 85, external_voltage: 12.81, alarms: ['power_cut'] } },
          ],
          reply: bytes(`252504001001020${ID}01`),
        },
        {
          frame: packet('262602', `${'00'.repeat(9)}49${'00'.repeat(6)}4000 00 00 00000000 85 ${PLACE} 1281 0720 ffff`),
          device: ID,
          fixes: [{ ...FIX, speed: 20, said: { ignition: true, battery_percent: 85, external_voltage: 12.81 } }],
          reply: bytes(`262602000f01020${ID}`),
        },
        {
          frame: packet('262602', `${'00'.repeat(9)}49${'00'.repeat(6)}4000 00 00 00000000 85 ${PLACE} 1281`),
          device: ID,
          fixes: [{ ...FIX, said: { ignition: true, battery_percent: 85, external_voltage: 12.81 } }],
          reply: bytes(`262602000f01020${ID}`),
        },
        {
          frame: packet('262602', `${'00'.repeat(9)}49${'00'.repeat(6)}4000 00 00 00000000 85 ${PLACE}`),
          device: ID,
          fixes: [{ ...FIX, said: { ignition: true, battery_percent: 85 } }],
          reply: bytes(`262602000f01020${ID}`),
        },
        {
          frame: packet('262604', `${'00'.repeat(9)}49${'00'.repeat(6)}0000 03 00 00000000 ff ${PLACE} ffff ffff`),
          device: ID,
          fixes: [{ ...FIX, said: { ignition: false, alarms: ['sos'] } }],
          reply: bytes(`262604001001020${ID}03`),
        },
        {
          frame: packet('252513', `${'00'.repeat(9)}49${'00'.repeat(6)}4000 ${'00'.repeat(18)}64 ${PLACE} 0392 1352`),
          device: ID,
          fixes: [
            {
              ...FIX,
              said: { ignition: true, battery_percent: 64, battery_voltage: 3.92, external_voltage: 13.52 },
            },
          ],
          reply: bytes(`252513000f01020${ID}`),
        },
        {
          frame: packet('272702', `4900${PLACE} 0000000000 88 1d ff 39 00 00038470 8004`),
          device: ID,
          fixes: [{ ...FIX, said: { ignition: true, charging: true, battery_percent: 88, battery_voltage: 3.9 } }],
          reply: bytes(`272702000f01020${ID}`),
        },
        {
          frame: packet('272724', `4000${PLACE} 0b 0064 ${'ff'.repeat(8)} ${RADIO_STATE}`),
          device: ID,
          fixes: [{ ...FIX, satellites: 11, said: RADIO_SAID }],
          reply: bytes(`272724000f01020${ID}`),
        },
        {
          frame: packet('272725', `2021 240501231530 ${'a1'.repeat(27)} ${RADIO_STATE}`),
          device: ID,
          none: 'wifi',
          said: RADIO_SAID,
          reply: bytes(`272725001001020${ID}21`),
        },
        {
          frame: packet('272724', `0000 240501231530 ${'a1'.repeat(27)} ${RADIO_STATE}`),
          device: ID,
          none: 'cells',
          said: RADIO_SAID,
          reply: bytes(`272724000f01020${ID}`),
        },
      ],
    },
  ],
  corrections: [
    {
      reason: 'these are two packets, each with a position, a charge and an answer',
      frames: ['t800x-017'],
      says: ({ positions: [first], repliesAckOn = [] }) => ({
        positions: [first, { ...first, time: '2019-05-30T08:18:51.000Z', said: { ...first.said, batteryPercent: 60 } }],
        repliesAckOn: [...repliesAckOn, { hex: '272702000f04aa0866425032880785' }],
      }),
    },
    {
      reason: 'behind the tag stand the flags of a fix, and the place',
      frames: ['t800x-012'],
      says: {
        positions: [
          {
            deviceId: '865284041080544',
            time: '2020-12-21T19:10:23.000Z',
            valid: true,
            lat: -34.49943923950195,
            lon: -58.54156494140625,
            altitude: 0,
            speedKnots: 0,
            course: 0,
            sat: 7,
          },
        ],
      },
    },
    {
      reason: 'a sensor of temperatures or of a door has no ignition',
      frames: ['t800x-008', 't800x-009'],
      says: eachSaid((each) => ({ ...each, ignition: undefined })),
    },
  ],
  exceptions: {
    't800x-005': 'these are seven packets; the speed of the first stands before its course, and is 0',
  },
} satisfies ProtocolCases
