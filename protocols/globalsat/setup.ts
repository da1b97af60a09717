import type { Setup } from '../kit/index.ts'

export default {
  manual: 'GlobalSat TR-206 user manual, §2.2',
  by: 'settings',
  steps: ['GSS,<IMEI>,3,0,D1={apn},E0={host},E1={port}*<checksum>!'],
  note: '<checksum> is the exclusive or of all characters before *, two hexadecimal digits. Other models have a configuration tool that sends the same.',
} satisfies Setup
