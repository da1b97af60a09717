import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { folder, loadedFolder } from '../support/config-folder.ts'

const SHIPPED = join(import.meta.dirname, '../../config')
const PROTOCOLS = [
  { name: 'teltonika', tcp: 5027 },
  { name: 'gt06', tcp: 5023 },
  { name: 'osmand', http: 5055 },
]

it('the shipped configuration is valid without edits', async () => {
  const { problems, devices } = await loadedFolder(SHIPPED, PROTOCOLS)
  expect([problems, devices]).toEqual([[], []])
})

it('the shipped configuration is valid if the # in front of every setting is removed', async () => {
  vi.stubEnv('EXAMPLE_APIKEY', 'k').stubEnv('ADMIN_TOKEN', 't').stubEnv('VAN_14', 's').stubEnv('ALERT_SECRET', 's')
  vi.stubEnv('SMTP_URL', 'smtp://mail.example').stubEnv('SEVEN_TOKEN', 'seven')
  const dir = await folder({
    'gateway.yaml': await uncommented('gateway.yaml', /^#([a-z_]+:| {2})/gm),
    'devices.yaml': await uncommented('devices.yaml', /^#(")/gm),
    'routes.csv': await uncommented('routes.csv', /^#(\w)/gm),
  })
  const { config, routes } = await loadedFolder(dir, PROTOCOLS)
  expect(config.companies).toEqual([{ company_id: '7', name: 'Example Deliveries', apikey: 'k' }])
  expect(config.listeners.map(({ port }) => port)).toEqual([5027, 5023, 5055])
  expect(routes.map(({ device, courier_id, route_id }) => [device, courier_id, route_id])).toEqual([
    ['356307042441013', '42', '1002'],
    ['356307042441014', '43', '2001'],
  ])
  vi.unstubAllEnvs()
})

async function uncommented(name: string, settings: RegExp): Promise<string> {
  return (await readFile(join(SHIPPED, name), 'utf8')).replace(settings, '$1')
}
