import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Plaspy, device guide: MiniFinder Atto (github.com/plaspy-dev/docs)',
  steps: ['tz+00', 'S1,{apn},{user},{password}', 'IP1,{host},{port}'],
  note: 'Leave out the user and the password of the APN where it has none. The host is an IP address here.',
} satisfies Setup
