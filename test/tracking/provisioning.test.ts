import { expect, it } from 'vitest'
import { createDirectory } from '../../src/config/directory.ts'
import { provisioningOf } from '../../src/tracking/provisioning.ts'

const companies = [
  { company_id: '7', name: 'Seven', apikey: 'key-7', oauth_token: 'token-7' },
  { company_id: '8', apikey: 'key-8' },
]

it('takes companies, and every lane of devices and routes once', () => {
  const devices = [
    { id: '1', company_id: '7', courier_id: '42', route_id: '1001', source: 'devices.yaml:1' },
    { id: '2', company_id: '7', courier_id: '42', route_id: '1001', source: 'devices.yaml:2' },
    { id: '3', company_id: '8', source: 'devices.yaml:3' },
  ]
  const lines = [
    { device: '3', courier_id: '43', route_id: '9223372036854775807', from: 0, until: 10, source: 'routes.csv:2' },
  ]
  expect(provisioningOf({ companies }, createDirectory(devices, lines))).toEqual({
    companies: [
      { company_id: '7', apikeys: ['key-7'], oauth_tokens: ['token-7'] },
      { company_id: '8', apikeys: ['key-8'], oauth_tokens: [] },
    ],
    routes: [
      { route_id: '1001', courier_id: '42', company_id: '7' },
      { route_id: '9223372036854775807', courier_id: '43', company_id: '8' },
    ],
  })
})
