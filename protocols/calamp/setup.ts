import type { Setup } from '../kit/index.ts'

export default {
  manual: 'CalAmp LMU Users Guide 1.0.6, §7.9, §10',
  by: 'settings',
  steps: ['AT$APP PARAM 2306,0,"{apn}"', 'AT$APP PARAM 2319,0,"{host}"', 'AT$APP PARAM 769,0,{port}'],
  note: 'Commands of the serial port, or the same parameters in PULS. 2306 is the APN, 2319 the inbound URL, 769 the inbound port (UDP).',
} satisfies Setup
