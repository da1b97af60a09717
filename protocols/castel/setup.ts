import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Plaspy, device guide: Castel IDD-213E (github.com/plaspy-dev/docs)',
  steps: ['*<key>#set gprs#{apn},{user},{password},{host},{port}*'],
  note: '<key> are the last six characters of the id of the device. *<key>#get gprs#* answers the present values.',
} satisfies Setup
