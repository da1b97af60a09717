import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Plaspy, device guide: Carscop CCTR-801 (github.com/plaspy-dev/docs)',
  steps: ['APN*123456*{apn}', 'USERNAME*123456*{user}*{password}', 'IP*123456*{host},{port}', 'KEEPONLINE*123456'],
  note: '123456 is the password of a new device. Leave out the second SMS where the APN has no user.',
} satisfies Setup
