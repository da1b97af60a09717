import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Traccar: Forwarding Overview (traccar.org/forward)',
  by: 'settings',
  steps: [
    "In traccar.xml: <entry key='forward.url'>http://{host}:{port}</entry>",
    "<entry key='forward.type'>json</entry>",
    "<entry key='forward.retry.enable'>true</entry>",
  ],
} satisfies Setup
