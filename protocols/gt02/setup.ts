import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Plaspy, device guide: Concox GT02 (github.com/plaspy-dev/docs)',
  steps: ['GMT,E,0#', 'APN,{apn},{user},{password}#', 'SERVER,1,{host},{port},0#', 'TIMER,60#', 'GPRSON,1#'],
  note: 'Leave out the user and the password of the APN where it has none. SERVER,0,… with an address in place of a name. GPRSSET# answers the present values.',
} satisfies Setup
