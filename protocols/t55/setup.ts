import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Sierra Wireless ALEOS 4.2.3, user guide, p. 218; AirLink MP, user guide, p. 96',
  by: 'settings',
  steps: ['AT*PPIP={host}', 'AT*PPPORT={port}', 'AT*PPGPSR=E1', 'AT*PPDEVID=1'],
  note: 'For AirLink routers; other devices that send NMEA have settings of their own. E1 chooses GGA, VTG and RMC. The host is an IP address here.',
} satisfies Setup
