import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Queclink GL300, @Track air interface protocol, §3.2',
  steps: ['AT+GTBSI=gl300,{apn},{user},{password},,,,,0001$', 'AT+GTSRI=gl300,3,,1,{host},{port},,,,0,1,,,,,0002$'],
  note: 'gl300 is the password of a new device: the name of its model. The 1 behind the heartbeat interval (0) turns acknowledgements on (SACK): without them nothing confirms a position.',
} satisfies Setup
