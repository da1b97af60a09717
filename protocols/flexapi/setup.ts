import type { Setup } from '../kit/index.ts'

export default {
  manual: 'InHand, FlexAPI reference for 3rd party platforms, TCP version, §1.2 (github.com/inhandnet/InVehicle-Docs)',
  by: 'settings',
  steps: ['TCP settings: Enable; Server Address: {host}; Port: {port}; Client ID: the id in devices.yaml'],
  note: 'The Client ID is the serial number of the gateway, unless another one is set. The host is an IP address here.',
} satisfies Setup
