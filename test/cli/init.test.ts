import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { protocolPorts } from '../../protocols/index.ts'
import { configFiles } from '../../src/cli/init.ts'
import { configKeysOf } from '../../src/config/config-keys.ts'
import { configSchema, defaultConfig } from '../../src/config/schema.ts'
import { waybridge } from '../support/cli.ts'
import { folder, loadedFolder } from '../support/config-folder.ts'
import { temporaryDir } from '../support/running.ts'

const files = configFiles(configKeysOf(configSchema(protocolPorts)))

it('init makes a folder that check accepts and that means the same as no configuration', async () => {
  const dir = join(await temporaryDir(), 'deep/config')
  expect(await waybridge(['init', dir])).toMatchObject({
    code: 0,
    out: expect.stringContaining(`start --config ${dir}`),
  })
  expect(await waybridge(['check', '--config', dir])).toMatchObject({ code: 0, errors: '' })
  const { config, devices, routes } = await loadedFolder(dir, protocolPorts)
  const unwritten = await loadedFolder(await temporaryDir(), protocolPorts)
  expect([config, devices, routes]).toEqual([unwritten.config, [], []])
})

it('init of the system configuration names a data folder that does not depend on the working folder', async () => {
  const keys = configKeysOf(configSchema(protocolPorts))
  const dir = await folder(configFiles(keys, '/var/lib/waybridge/.data'))
  const { config } = await loadedFolder(dir, protocolPorts)
  const unwritten = await loadedFolder(await temporaryDir(), protocolPorts)
  expect(config).toEqual({ ...unwritten.config, data_dir: '/var/lib/waybridge/.data' })
})

it('init overwrites nothing, and leaves nothing behind if it refuses', async () => {
  const dir = join(await temporaryDir(), 'config')
  await mkdir(dir)
  await writeFile(join(dir, 'routes.csv'), 'mine')
  const { code, errors } = await waybridge(['init', dir])
  expect([code, errors]).toEqual([
    1,
    `${join(dir, 'routes.csv')} exists, and init overwrites nothing: name another folder.\n`,
  ])
  expect(await readFile(join(dir, 'routes.csv'), 'utf8')).toBe('mine')
  await expect(readFile(join(dir, 'gateway.yaml'))).rejects.toThrow('ENOENT')
})

it('init writes every setting with its default behind a #, which can be removed without effect', async () => {
  vi.stubEnv('EXAMPLE_APIKEY', 'k').stubEnv('VAN_14', 'aR7-kd93-Lm20-Qz')
  const dir = await folder({
    // A machine with a low limit of open files refuses an explicit max_connections with the default value.
    'gateway.yaml': files['gateway.yaml'].replaceAll(/^( *)#(?!max_connections:)(?=\w+:)/gm, '$1'),
    'devices.yaml': files['devices.yaml'].replaceAll(/^#(?=")/gm, ''),
    'routes.csv': files['routes.csv'].replaceAll(/^#(?=\w)/gm, ''),
  })
  const { config, devices, routes } = await loadedFolder(dir, protocolPorts)
  vi.unstubAllEnvs()
  const companies = [{ company_id: '7', name: 'Example Deliveries', apikey: 'k' }]
  expect(config).toEqual({ ...defaultConfig(protocolPorts), companies })
  expect(devices.map(({ id }) => id)).toEqual(['356307042441013', '356307042441014'])
  expect(routes.map(({ route_id }) => route_id)).toEqual(['1002', '2001'])
})

it('init explains every key of gateway.yaml', () => {
  const names = [...JSON.stringify(configKeysOf(configSchema(protocolPorts))).matchAll(/"name":"(\w+)"/g)].map(
    ([, name]) => name,
  )
  expect(names.length).toBeGreaterThan(100)
  expect(
    names.filter((name) => !new RegExp(String.raw`^ *#? *${name}(?::|  )`, 'm').test(files['gateway.yaml'])),
  ).toEqual([])
})
