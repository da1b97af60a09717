import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Concox GT06N, user manual: commands',
  steps: ['APN,{apn},{user},{password}#', 'SERVER,1,{host},{port},0#', 'GMT,E,0,0#', 'TIMER,10,60#'],
  note: 'SERVER,0,… with an address in place of a name. GMT,E,0,0# reports UTC; TIMER are the seconds between fixes while driving and parked (some devices: TIMER,10#). PARAM# and GPRSSET# answer the present values. Clones vary.',
} satisfies Setup
