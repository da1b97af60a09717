import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Plaspy, device guide: Noran NR024 (github.com/plaspy-dev/docs)',
  steps: ['A000000,012,{apn},{user},{password}', 'A000000,010,{host},{port}', 'A000000,011,1'],
  note: '000000 is the password of a new device. Leave out the user and the password of the APN where it has none. The host is an IP address here. A000000,004 answers the present values; the id begins with NR.',
} satisfies Setup
