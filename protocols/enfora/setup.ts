import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Enfora GSM1308, AT command set reference 1.00, §4.7.4',
  by: 'settings',
  steps: ['AT+CGDCONT=1,"IP","{apn}"', 'AT$FRIEND=1,1,"{host}",{port}'],
  note: 'Over the serial port. Which reports the modem sends, and when, is set with AT$EVENT: they need the NMEA sentence RMC.',
} satisfies Setup
