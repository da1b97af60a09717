import { kmh } from '../../protocols/kit/index.ts'
import { eachPosition, many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'
const PLACE = '52.52,N,013.41,W,36,270,09,34.5,1.84,0.92,airtel,0,1,13.3,4.0'
const FIX = {
  time: '2026-11-20T17:14:18Z',
  latitude: 52.52,
  longitude: -13.41,
  altitude: 34.5,
  speed: kmh(36),
  heading: 270,
  satellites: 9,
  hdop: 0.92,
  said: { ignition: false, external_voltage: 13.3, battery_voltage: 4 },
}
const SOS = { alarms: ['sos'] } as const
const EMERGENCY = { time: FIX.time, latitude: 52.52, longitude: -13.41, altitude: 34.5, speed: kmh(36) }

export default {
  costly: { commas: `$${many(',')}*`, 'one number': `$,a,b,c,NR,1,L,${ID},,1,20112026,171418,${many('1')}*` },
  frames: [
    {
      title: 'logins and positions with fewer fields',
      frames: [
        { frame: `$LGN,DL1,${ID}12,1.0*`, device: `${ID}12`, none: 'login', reply: '$LGN20112026120000*' },
        { frame: `$LGN,DL1,${ID},1.0*`, device: ID, none: 'login', reply: '$LGN20112026120000*' },
        { frame: `$C,4.0.0,NR,,L,${ID},1,20112026,171418,${PLACE},0*`, device: ID, fixes: [FIX] },
        { frame: `$C,4.0.0,NR,01,L,${ID},1,20112026,171418,${PLACE},0*`, device: ID, fixes: [FIX] },
        {
          frame: `$,C,CTPL,4.0.0,BL,101,H,${ID},,1,20112026,171418,${PLACE.replace('N', '').replace('W', '')},0*`,
          device: ID,
          fixes: [{ ...FIX, longitude: 13.41, said: { ...FIX.said, alarms: ['low_battery'] } }],
        },
        {
          frame: `$101,NRM,CTPL,4.0.0,NR,01,L,${ID},DL1,1,20112026,171418,52.52,N,013.41,W,36,270,09*`,
          device: ID,
          fixes: [{ ...FIX, altitude: undefined, hdop: undefined, said: undefined }],
        },
        { frame: `$C,4.0.0,NR,01,L,${ID},1,20112026171418,${PLACE},0*`, device: ID, fixes: [FIX] },
        {
          frame: `$RLP,N.A,2.1.3,NR,01,L,${ID},N.A,20112026,171418,,${PLACE},5A,*`,
          device: ID,
          fixes: [{ ...FIX, valid: false }],
        },
        {
          frame: `$EPB,EMR,${ID},NM,20112026,171418,A,52.52,,-013.41,,34.5,36*`,
          device: ID,
          fixes: [{ ...EMERGENCY, said: SOS }],
        },
      ],
    },
    {
      title: 'a login, positions of each maker, an emergency, health',
      frames: [
        {
          frame: `$,LGN,MARK,000000000,${ID},V0.0.1,AIS140,52.52,N,13.41,E,*`,
          device: ID,
          none: 'login',
          reply: '$LGN20112026120000*',
        },
        {
          frame: `$,C,CTPL,4.0.0,NR,01,L,${ID},NA00000000,1,20112026,171418,${PLACE},0,0B,*`,
          isTypical: true,
          device: ID,
          fixes: [FIX],
        },
        {
          frame: `$NMP,GPSBOX,1.6.8,NR,H,${ID},0000,0,201126,171418,${PLACE},()*`,
          device: ID,
          fixes: [{ ...FIX, valid: false }],
        },
        {
          frame: `$,04,XYZ,0.0.1,TA,16,L,${ID},MH12,1,20,11,2026,17,14,18,${PLACE},f906c65c,\r\n`,
          device: ID,
          fixes: [{ ...FIX, said: { ...FIX.said, alarms: ['tampering'] } }],
        },
        { frame: `$RLP,N.A,2.1.3,NR,01,L,${ID},N.A,20112026,171418,1,${PLACE},5A,*`, device: ID, fixes: [FIX] },
        {
          frame: `$,EPB,EMR,${ID},NM,20112026171418,A,52.52,N,013.41,W,34.5,36,0.0,G,NA,N.A,*`,
          device: ID,
          fixes: [{ ...EMERGENCY, said: SOS }],
        },
        {
          frame: `$,EPB,SEM,${ID},SP,20,11,2026,17,14,18,A,52.52,N,013.41,W,34.5,36,0.0,G,NA,N.A,*`,
          device: ID,
          fixes: [EMERGENCY],
        },
        { frame: `$,EPB,SEM,${ID},SP,00,00,0000,00,00,00,V,0,N,0,W,0,0,0.0,G,NA,N.A,*`, device: ID, none: 'no date' },
        {
          frame: `$,02,XYZ123,0.0.1,${ID},100,30,00.0,\r\n`,
          device: ID,
          none: 'status',
          said: { battery_percent: 100 },
        },
        { frame: `$Header,iTriangle,KA01,${ID},1_37T,AIS140,12.97,N,77.54,E*`, device: ID, none: 'status' },
        {
          frame: `$,LGN,TN01AB1234,RDM,V1.0,${ID},AIS140*`,
          device: ID,
          none: 'login',
          reply: '$LGN20112026120000*',
        },
        { frame: '$LGN,TN01AB1234,AIS140*' },
        { frame: `$LGN${ID}*` },
        {
          frame: `$NRM,RDM,1.8,EA,10,L,${ID},,1,20112026,171418,${PLACE},1,O*`,
          device: ID,
          fixes: [{ ...FIX, said: { ...FIX.said, ...SOS } }],
        },
        { frame: `$NRM,RDM,1.8,EA,11,L,${ID},,1,20112026,171418,${PLACE},0,O*`, device: ID, fixes: [FIX] },
        { frame: `$,C,CTPL,4.0.0,NR,01,L,${ID},NA,x*`, device: ID, fixes: [] },
        { frame: `$,,${ID},1.4D3,VERSION1.0,52.52,N,13.41,E*`, device: ID, none: 'login' },
        { frame: '$XYZ,1*' },
      ],
    },
  ],
  corrections: [
    {
      reason: 'AIS 140, main power status: external power is there, which is not that the battery is being charged',
      says: eachPosition(({ said }) => (said?.charging ? { said: { ...said, charging: undefined } } : {})),
    },
    {
      reason: 'DT: the wire of the button was cut',
      frames: ['its-023'],
      says: eachPosition(() => ({ said: { alarms: ['tampering'] } })),
    },
    {
      reason: 'a clock that was never set, which has no date, gives no time',
      says: ({ positions }) => ({ positions: positions.filter(({ time }) => !time?.startsWith('1999-11-30')) }),
    },
    {
      reason: 'AIS 140 has an altitude in each of these lines, which the peer leaves out',
      says: eachPosition(({ altitude }) => (altitude === 0 ? { altitude: undefined } : {})),
    },
    {
      reason: 'an emergency of another head is a position too',
      frames: ['its-032'],
      says: {
        positions: [
          {
            time: '2017-11-09T15:51:33.000Z',
            valid: true,
            lat: 12.976495,
            lon: 77.549713,
            speedKnots: 0,
            course: 0,
            altitude: 906,
            said: { alarms: ['sos'] },
          },
        ],
      },
    },
    {
      reason: 'the same',
      frames: ['its-033'],
      says: {
        positions: [
          {
            time: '2018-08-03T11:07:30.000Z',
            valid: true,
            lat: 22.829292,
            lon: 75.935806,
            speedKnots: 0,
            course: 0,
            altitude: 543,
            said: { alarms: ['sos'] },
          },
        ],
      },
    },
  ],
  streams: {
    '244865616465722c69547269616e676c65312c4b':
      'the frame ends with *: the digits behind it, which not all makers have, are skipped',
  },
} satisfies ProtocolCases
