import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Ruptela FM-Eco, SMS commands, §1.1.9',
  steps: ['pass setconnection {apn},{user},{password},TCP,{host},{port}'],
  note: 'pass is the SMS password of the device; a new one has none: the SMS begins with the space.',
} satisfies Setup
