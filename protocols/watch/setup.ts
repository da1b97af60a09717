import type { Setup } from '../kit/index.ts'

export default {
  manual: 'SeTracker watches (Wonlex, 3G Electronics), user manual: SMS commands',
  steps: ['pw,123456,ip,{host},{port}#'],
  note: '123456 is the password of a new watch. The APN comes from the SIM; where it does not: pw,123456,apn,<apn>,<user>,<password>,<MCC and MNC># before it.',
} satisfies Setup
