import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Arnavi 5, user manual 1.4, §4',
  steps: ['123456*SETP*#1={host},{port},0#2={apn},{user},{password}'],
  note: '123456 is the access password of a new device.',
} satisfies Setup
