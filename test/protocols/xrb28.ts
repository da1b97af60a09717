import { many, type ProtocolCases } from '../support/protocol-cases.ts'

const ID = '356307042441013'

const answer = (kind: string, event: string) => Buffer.from(`\xff\xff*${kind},OM,${ID},Re,${event}#\n`, 'latin1')

export default {
  costly: {
    commas: `*SCOR,OM,${ID},D0${many(',')}#\n`,
    'one number': `*SCOR,OM,${ID},D0,0,012102.00,A,${many('1')}#\n`,
  },
  frames: [
    {
      title: 'a sign-in, a position, a state',
      frames: [
        {
          frame: `*SCOR,OM,${ID},Q0,412,80,28#\n`,
          device: ID,
          none: 'login',
          said: { battery_voltage: 4.12, battery_percent: 80 },
        },
        { frame: `*CMDR,OM,${ID},200318123020,Q0#\n`, device: ID, none: 'login' },
        {
          frame: `*SCOR,OM,${ID},D0,0,012102.00,A,5231.50000,S,01324.60000,E,12,0.69,201126,30.3,M,A#\n`,
          device: ID,
          fixes: [
            {
              time: '2026-11-20T01:21:02Z',
              latitude: -52.525,
              longitude: 13.41,
              satellites: 12,
              hdop: 0.69,
              altitude: 30.3,
            },
          ],
        },
        ...['D0', 'Dimension0'].map((place) => ({
          frame: `*TRAR,OM,${ID},${place},S,5231.50000,E,01324.60000,6,1.49,1795137662#\n`,
          device: ID,
          fixes: [{ time: 1_795_137_662_000, latitude: -52.525, longitude: 13.41, satellites: 6, hdop: 1.49 }],
        })),
        { frame: `*SCOR,OM,${ID},D0,0,,V,,,,,,,,,,N#\n`, device: ID, none: 'no fix' },
        {
          frame: `*SCOR,OM,${ID},H0,0,412,28,80,1#\n`,
          device: ID,
          none: 'heartbeat',
          said: { battery_voltage: 4.12, battery_percent: 80, charging: true },
        },
        {
          frame: `*SCOR,OM,${ID},W0,1#\n`,
          device: ID,
          none: 'status',
          said: { alarms: ['movement'] },
          reply: answer('SCOS', 'W0'),
        },
        {
          frame: `*CMDR,OM,${ID},200318123020,W0,3#\n`,
          device: ID,
          none: 'status',
          said: { alarms: ['tampering'] },
          reply: Buffer.from(`\xff\xff*CMDS,OM,${ID},000000000000,Re,W0#\n`, 'latin1'),
        },
        { frame: `*HBCR,OM,${ID},L1,0,1497689816,11#\n`, device: ID, none: 'status', reply: answer('HBCS', 'L1') },
        { frame: `*SCOR,OM,${ID},S5,0#\n`, device: ID, none: 'status' },
        { frame: `*SCOR,OM,${ID},Z9,1#\n`, device: ID },
      ],
    },
  ],
} satisfies ProtocolCases
