import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Plaspy, device guide: Astra Telematics AT503 (github.com/plaspy-dev/docs)',
  steps: ['$APAD,{apn}', '$APUN,{user}', '$APPW,{password}', '$IPAD,{host}', '$PORT,{port}'],
  note: 'Leave out the second and third SMS where the APN has no user.',
} satisfies Setup
