import type { Setup } from '../kit/index.ts'

export default {
  manual: 'MEITRACK SMS protocol V2.2, A21 and A12',
  steps: ['0000,A21,1,{host},{port},{apn},{user},{password}', '0000,A12,6'],
  note: '0000 is the password of a new device. A12 counts in units of ten seconds.',
} satisfies Setup
