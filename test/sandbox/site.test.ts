import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { protocolPorts } from '../../protocols/index.ts'
import { loadConfig } from '../../src/config/files.ts'
import { type DemoSite, demoPlan, prepareSite } from '../../src/sandbox/demo/site.ts'
import { loadedFolder } from '../support/config-folder.ts'
import { freePorts } from '../support/free-ports.ts'
import { listening } from '../support/listening.ts'

const plan = demoPlan({ vans: '25' })
const server = createServer()
const [port] = await freePorts(1)
const FREE = { 'udp/h02': port, mqtt: 0, admin: 0, tracking: 0 }
let home: string
let site: DemoSite

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'waybridge-demo-'))
  site = await prepareSite(plan, { home, usual: { ...FREE, 'tcp/gt06': await listening(server) } })
})
afterAll(async () => {
  server.close()
  await rm(home, { recursive: true, force: true })
})

describe('the configuration of the demo', () => {
  it('the configuration of the demo has no mistakes, and a lane for every van', async () => {
    const { config, devices, directory, problems } = await loadedFolder(site.configDir, protocolPorts)
    expect(problems.filter(({ severity }) => severity === 'mistake')).toEqual([])
    expect(devices.map(({ id }) => id)).toEqual(plan.fleet.map(({ id }) => id))
    expect([...directory.lanes()].map(({ key }) => key)).toEqual(plan.fleet.map((_, i) => `1/${i + 1}/${1001 + i}`))
    expect([config.data_dir, config.workers, config.admin.host]).toEqual([site.dataDir, 2, '127.0.0.1'])
    expect(config.companies.map(({ company_id, oauth_token }) => [company_id, oauth_token])).toEqual([
      ['1', site.oauthToken],
    ])
  })

  it('the demo listens only on this machine, and on a free port if the usual one is in use', async () => {
    const { config } = await loadConfig(site.configDir, protocolPorts)
    expect(config.listeners).toMatchObject([
      { transport: 'udp', protocol: 'h02', host: '127.0.0.1', port: FREE['udp/h02'] },
      { transport: 'tcp', protocol: 'gt06', host: '127.0.0.1', port: 0 },
    ])
  })

  it('the demo hides its keys from other users', async () => {
    const { mode } = await stat(join(site.configDir, 'gateway.yaml'))
    expect(mode & 0o077).toBe(0)
  })

  it('the demo with a mistake swaps the routes of the first two vans, and keeps all others', async () => {
    const now = Date.UTC(2026, 10, 20, 8, 0, 20)
    const mistaken = await prepareSite(demoPlan({ vans: '3', mistake: true }, now), { home, usual: FREE })
    const { problems, directory } = await loadedFolder(mistaken.configDir, protocolPorts)
    expect(problems.filter(({ severity }) => severity === 'mistake')).toEqual([])
    const lanesAt = (at: number) =>
      Array.from(directory.devices(), (entry) => directory.stayAt(entry, at / 1000)?.lane.key)
    expect(lanesAt(now - 30 * 60_000)).toEqual(['1/2/1002', '1/1/1001', '1/3/1003'])
    expect(lanesAt(now + 900_000)).toEqual(['1/2/1002', '1/1/1001', '1/3/1003'])
    expect(lanesAt(now - 31 * 60_000)).toEqual([undefined, undefined, undefined])
    await mistaken.remove()
  })

  it('the demo removes its configuration', async () => {
    const other = await prepareSite(plan, { home, usual: FREE })
    await other.remove()
    await expect(readFile(join(other.configDir, 'gateway.yaml'))).rejects.toThrow('ENOENT')
  })
})
