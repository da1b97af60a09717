import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Sierra Wireless ALEOS 4.2.3, user guide, p. 218; AirLink MP, user guide, p. 96',
  by: 'settings',
  steps: ['AT*PPIP={host}', 'AT*PPPORT={port}', 'AT*PPGPSR=F1', 'AT*PPTAIPID=<id>'],
  note: 'For AirLink routers; other devices that speak TAIP have settings of their own. F1 chooses positions with speed (PV). The host is an IP address here.',
} satisfies Setup
