import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Digital Matter: Connectors in OEM Server (support.digitalmatter.com)',
  by: 'settings',
  steps: [
    'OEM Server, connector: assembly Http\\DME.DeviceServer.Connector.Http.dll, in its configuration:',
    '<add key="url" value="http://{host}:{port}"/>',
    '<add key="format" value="JSON"/>',
    'Assign the connector to the devices',
  ],
  note: 'Who cannot create connectors has the support of Digital Matter do it.',
} satisfies Setup
