import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Plaspy, device guides: Oigo AR-2GM, AR-3HU (github.com/plaspy-dev/docs)',
  by: 'settings',
  steps: ['AT+XAPN=1"{apn}"', 'AT+XIP="{host}",{port}', 'AT+XRST=1'],
  note: 'AT commands of the serial port or of the tool of the maker. Both guides print the first one without a comma. The host is an IP address here. The last one restarts the device.',
} satisfies Setup
