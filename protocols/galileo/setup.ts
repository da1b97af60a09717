import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Galileosky, user manual: list of commands',
  steps: ['AddPhone 1234', 'APN {apn},{user},{password}', 'ServerIp {host},{port}'],
  note: '1234 is the password of a new device; the first SMS lets this telephone send commands.',
} satisfies Setup
