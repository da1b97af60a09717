import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Meitrack GT60 and VT310, user guides: SMS commands',
  steps: ['W000000,010,{apn},{user},{password}', 'W000000,011,<id>', 'W000000,012,{host},{port}', 'W000000,013,1'],
  note: '000000 is the password of a new device. <id> is the id in devices.yaml, at most 14 digits. The host is an IP address here. 013,1 switches TCP on.',
} satisfies Setup
