import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Plaspy, device guide: Bofan PT502 (github.com/plaspy-dev/docs)',
  steps: ['000000GID<id>', '000000APN{apn},{user},{password}', '000000SVR{host},{port}', '000000GTI60'],
  note: '000000 is the password of a new device; <id> are 14 digits, the last ones of the IMEI. Leave out the user and the password of the APN where it has none. The host is an IP address here. The last SMS reports every 60 seconds.',
} satisfies Setup
