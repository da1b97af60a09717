import type { Setup } from '../kit/index.ts'

export default {
  manual: 'Digital Matter: Connectors in OEM Server; Unlocked vs locked devices (support.digitalmatter.com)',
  by: 'settings',
  steps: [
    'OEM Server, connector: assembly FlexiTcp\\DME.DeviceServer.Connector.FlexiTcp.dll, address {host}, port {port}',
    'Assign the connector to the devices',
    'Unlocked devices, instead: Admin parameters, 3rd party server: {host}, port {port}',
  ],
  note: 'Who cannot create connectors has the support of Digital Matter do it: TCP, raw. It unlocks devices, too: these report without OEM Server, to an IP address.',
} satisfies Setup
