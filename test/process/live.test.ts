import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { protocolPorts } from '../../protocols/index.ts'
import { observations } from '../../src/observe/observations.ts'
import { startGateway } from '../../src/process/roles/gateway.ts'
import { followConfig, type Live } from '../../src/process/roles/live.ts'
import { putLine } from '../../src/roster/assignment.ts'
import { Replica } from '../../src/roster/replica.ts'
import { readRosterVersion, writeRoster } from '../../src/roster/table.ts'
import { connect, keys, type Store } from '../../src/store/index.ts'
import { Shard } from '../../src/store/shards.ts'
import { english } from '../../src/texts/text.ts'
import { putDevice } from '../support/put-device.ts'
import { dialRedis, type TestRedis } from '../support/redis.ts'
import { withRedis } from '../support/with-redis.ts'

const HEADER = 'device,courier_id,route_id,from,until\n'
const soon = { timeout: 30_000, interval: 20 }
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
const line = (device: string, route: number) => `${device},5,${route},${inHours(-1)},${inHours(1)}\n`

let server: TestRedis
let redis: Store

withRedis((...given) => ([server, redis] = given))

/** Makes a configuration folder with devices 1 and 2; `write` replaces its routes.csv. */
async function folder(routes = '') {
  const dir = await mkdtemp(join(tmpdir(), 'waybridge-live-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  const dataDir = join(dir, 'data')
  const write = (lines: string) => writeFile(join(dir, 'routes.csv'), HEADER + lines)
  await writeFile(
    join(dir, 'gateway.yaml'),
    `data_dir: ${dataDir}\ncompanies: [{ company_id: 7, apikey: k }]\nlog: { level: fatal }\n`,
  )
  await writeFile(join(dir, 'devices.yaml'), '1: { company_id: 7 }\n2: { company_id: 7 }\n')
  await write(routes)
  return { dir, write }
}

/** Starts a process that follows a folder and the roster in Redis. */
async function following(dir: string, { followsFiles = true, url = server.url } = {}) {
  const live = await followConfig({ dir, protocols: null, role: 'gateway', followsFiles })
  const connection = connect(url, 'live')
  onTestFinished(async () => {
    await live.close()
    connection.disconnect()
  })
  await live.join(new Replica(connection, live.logger))
  return { live }
}

function routeOf(live: Live, id: string): string | undefined {
  const entry = live.directory().find(id)
  return entry && live.directory().stayAt(entry, Date.now() / 1000)?.lane.route
}

const put = (id: string, route_id?: string) => ({ id, company_id: '7', courier_id: '5', route_id, source: '' })

it('a put takes effect while a file is written all the time', async () => {
  const { dir } = await folder()
  const { live } = await following(dir)
  let written = 0
  // The file is written without a pause, even on a busy machine, so that no process reads it.
  const write = () => writeFileSync(join(dir, 'routes.csv'), HEADER + line('1', ++written))
  const writing = setInterval(write, 5)
  onTestFinished(() => clearInterval(writing))
  await expect.poll(() => written, soon).toBeGreaterThan(20)
  const before = routeOf(live, '1')
  await putDevice(redis, '9', put('9', '900'))
  await expect.poll(() => routeOf(live, '9'), soon).toBe('900')
  expect(routeOf(live, '1')).toBe(before)
})

it('a put is in effect after catching up, also after Redis lost all earlier puts', async () => {
  const { live } = await following((await folder()).dir)
  await putDevice(redis, '8', put('8', '800'))
  await live.catchUp()
  expect(routeOf(live, '8')).toBe('800')
  await redis.flushall()
  await live.catchUp()
  expect(routeOf(live, '8')).toBe(undefined)
  await putDevice(redis, '9', put('9', '900'))
  await live.catchUp()
  expect([routeOf(live, '8'), routeOf(live, '9')]).toEqual([undefined, '900'])
})

it('the roster has the lines of files each time Redis loses all, even while they are compared', async () => {
  const { live } = await following((await folder(line('1', 20))).dir)
  for (let round = 0; round < 50; round++) {
    await redis.flushall()
    const catchingUp = live.catchUp()
    await sleep(round % 10)
    await redis.flushall()
    await catchingUp
    await live.catchUp()
    expect(routeOf(live, '1')).toBe('20')
    expect(await redis.exists(keys.roster('assignment-table'))).toBe(1)
  }
})

it('the roster has the lines of files again even if Redis fails once more after it has lost all', async () => {
  const { live } = await following((await folder(line('1', 20))).dir)
  // After its start it looks at the files once more.
  await sleep(1000)
  const { run } = Shard.prototype
  onTestFinished(() => void vi.restoreAllMocks())
  const broken = vi.spyOn(Shard.prototype, 'run').mockImplementation(async function (this: Shard, ...call) {
    if (call[0] !== 'roster') return run.apply(this, call)
    broken.mockRestore()
    throw new Error('Connection is closed.')
  })
  await redis.flushall()
  await expect.poll(() => routeOf(live, '1'), soon).toBe(undefined)
  await expect.poll(() => routeOf(live, '1'), soon).toBe('20')
})

it('catching up with the roster fails while Redis is down, and succeeds afterwards', async () => {
  const { live } = await following((await folder()).dir)
  await putDevice(redis, '9', put('9', '900'))
  await server.kill('SIGKILL')
  await expect(live.catchUp()).rejects.toThrow()
  await server.restart()
  const caughtUp = () =>
    live.catchUp().then(
      () => routeOf(live, '9'),
      () => 'no Redis',
    )
  await expect.poll(caughtUp, soon).toBe('900')
  await expect.poll(() => redis.status, soon).toBe('ready')
})

/** Starts a proxy to Redis whose connections can be cut. */
async function wayToRedis() {
  const sockets = new Set<Socket>()
  let cut = false
  const proxy = createServer((socket) => {
    if (cut) {
      socket.destroy()
      return
    }
    const other = dialRedis(server.url)
    for (const [one, end] of [
      [socket, other],
      [other, socket],
    ]) {
      sockets.add(one)
      one.on('error', () => {}).on('close', () => end.destroy())
      one.pipe(end)
    }
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  onTestFinished(() => void proxy.close())
  return {
    url: `redis://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    cut() {
      cut = true
      for (const socket of sockets) socket.destroy()
    },
    mend: () => (cut = false),
  }
}

describe('a process that lost Redis', () => {
  it('a process that lost Redis is not complete until the puts made meanwhile are in effect', async () => {
    const { dir } = await folder()
    const way = await wayToRedis()
    const { live } = await following(dir, { url: way.url })
    await putDevice(redis, '9', put('9', '900'))
    await live.catchUp()
    expect([live.complete, routeOf(live, '9')]).toEqual([true, '900'])
    way.cut()
    await expect.poll(() => live.complete, soon).toBe(false)
    await putDevice(redis, '9', put('9', '901'))
    let first: string | undefined
    const watching = setInterval(() => (first ??= live.complete ? routeOf(live, '9') : undefined), 1)
    onTestFinished(() => clearInterval(watching))
    way.mend()
    await expect.poll(() => first, soon).toBe('901')
  })
})

describe('a start', () => {
  it('a start refuses files that would take the route from devices that were put', async () => {
    const { dir, write } = await folder(line('7', 70) + line('8', 80) + line('1', 10))
    const first = await following(dir)
    for (const id of ['7', '8']) await putDevice(redis, id, put(id))
    await first.live.catchUp()
    expect(['7', '8', '1'].map((id) => routeOf(first.live, id))).toEqual(['70', '80', '10'])
    await first.live.close()
    await write(line('1', 10))
    const { live } = await following(dir)
    expect(['7', '8', '1'].map((id) => routeOf(live, id))).toEqual(['70', '80', '10'])
  })

  it('a start accepts files without routes if their devices have routes by puts', async () => {
    const { dir, write } = await folder(line('1', 10) + line('2', 20))
    const first = await following(dir)
    for (const id of ['1', '2']) await putDevice(redis, id, put(id, `${id}00`))
    await first.live.catchUp()
    await first.live.close()
    await write('')
    const { live } = await following(dir)
    expect(['1', '2'].map((id) => routeOf(live, id))).toEqual(['100', '200'])
  })
})

/** Makes a folder with a line of device 1 and a put that replaces it, which another process follows. */
async function put100() {
  const before = line('1', 10)
  const { dir, write } = await folder(before)
  const { live } = await following(dir)
  const [[field, written]] = live.directory().assignments()
  const other = putLine({ ...written, route_id: '100' }, { company_id: '7', line: 1 })
  await writeRoster(redis, { assignments: [[field, undefined], other] }, await readRosterVersion(redis))
  await live.catchUp()
  return { dir, write, live, before }
}

/** Saves the roster of Redis; resolves to a function that restores it. */
async function backup(): Promise<() => Promise<void>> {
  const names = await redis.keys('*roster*')
  const dumps = await Promise.all(names.map((name) => redis.dumpBuffer(name)))
  return async () => {
    const restoring = redis.multi().flushall()
    for (const [index, name] of names.entries()) restoring.restore(name, 0, dumps[index])
    await restoring.exec()
  }
}

describe('a line that is written to a file after a put', () => {
  it('a line written to a file while no process follows it is in effect as soon as one is complete', async () => {
    const { dir, write, live } = await put100()
    expect(routeOf(live, '1')).toBe('100')
    await live.close()
    await write(line('1', 20))
    expect(routeOf((await following(dir)).live, '1')).toBe('20')
  })

  it('a line written to a file while Redis is down is in effect afterwards, and at the next start', async () => {
    const { dir, write, live } = await put100()
    await server.kill('SIGKILL')
    await write(line('1', 20))
    await server.restart()
    await expect.poll(() => redis.status, soon).toBe('ready')
    await expect.poll(() => routeOf(live, '1'), soon).toBe('20')
    await live.close()
    const next = await following(dir)
    expect(routeOf(next.live, '1')).toBe('20')
  })

  it('a line of a file stays in effect over an earlier put when Redis is restored from an older backup', async () => {
    const { write, live } = await put100()
    const restore = await backup()
    await write(line('1', 20))
    await expect.poll(() => routeOf(live, '1'), soon).toBe('20')
    await restore()
    await live.catchUp()
    expect(routeOf(live, '1')).toBe('20')
  })

  it('a line that a file adds after a put is in effect at once, but an earlier line is not', async () => {
    const { write, live, before } = await put100()
    const other = line('2', 20)
    const seen: string[] = []
    live.follow({ roster: () => seen.push(`${routeOf(live, '1')} ${routeOf(live, '2')}`) })
    await write(before + other)
    await expect.poll(() => seen, soon).toEqual(['100 20'])
    await write(line('1', 30) + other)
    await expect.poll(() => seen, soon).toEqual(['100 20', '30 20'])
  })
})

/** Returns what this process observes about its files: code, file and evidence. */
function observed(): string[] {
  const own = observations.current().filter(({ subject }) => subject.host === hostname())
  return own.map(({ code, evidence, subject }) => `${code} ${subject.file}: ${evidence.map(english).join('; ')}`)
}

it('only companies with their own API get new apikeys while a new common API waits for a restart', async () => {
  const { dir } = await folder()
  const file = join(dir, 'gateway.yaml')
  const before = await readFile(file, 'utf8')
  const write = (companies: string, more = '') =>
    writeFile(file, before.replace(/companies: .*/, `companies: [${companies}]`) + more)
  const own = 'tracking: { base_url: "https://own.example" }'
  await write(`{ company_id: 7, apikey: k }, { company_id: 8, apikey: k8, ${own} }`)
  const { live } = await following(dir, { followsFiles: false })
  const inEffect = () => live.companies().map(({ company_id, apikey }) => `${company_id} ${[apikey].flat().join()}`)
  const later = `{ company_id: 7, apikey: next }, { company_id: 8, apikey: next8, ${own} }, { company_id: 9, apikey: k9 }`
  await write(later, 'tracking: { base_url: "https://next.example" }\n')
  await expect.poll(inEffect, soon).toEqual(['7 k', '8 next8'])
  await write(later)
  await expect.poll(inEffect, soon).toEqual(['7 next', '8 next8', '9 k9'])
})

describe('a part of the configuration that is not in effect', () => {
  it('each file is observed until it is corrected: a mistake, a loss of routes, and a missing file', async () => {
    const { dir, write } = await folder(line('1', 10) + line('2', 20))
    const { live } = await following(dir)
    const devices = '1: { company_id: 7 }\n2: { company_id: 7 }\n'
    expect(observed()).toEqual([])
    await writeFile(join(dir, 'devices.yaml'), `${devices}3: { company_id: none }\n`)
    const mistake = 'config_refused devices.yaml: devices.yaml:3: 3.company_id: '
    await expect.poll(observed, soon).toEqual([expect.stringContaining(mistake)])
    await write('')
    const loss = 'config_refused routes.csv: routes.csv: would take the route from 2 of the 2 devices that have one now'
    await expect.poll(observed, soon).toEqual([expect.stringContaining(mistake), expect.stringContaining(loss)])
    await writeFile(join(dir, 'devices.yaml'), devices)
    await expect.poll(observed, soon).toEqual([expect.stringContaining(loss)])
    await rm(join(dir, 'devices.yaml'))
    const gone = 'config_refused devices.yaml: devices.yaml: this file is gone: its devices stay in effect'
    await expect.poll(observed, soon).toEqual([expect.stringContaining(loss), gone])
    await writeFile(join(dir, 'devices.yaml'), devices)
    await write(line('1', 10) + line('2', 20))
    await expect.poll(observed, soon).toEqual([])
    await writeFile(join(dir, 'devices.yaml'), `${devices}3: { company_id: none }\n`)
    await expect.poll(observed, soon).toHaveLength(1)
    await live.close()
    await expect.poll(observed, soon).toEqual([])
  })

  it('an unreadable file is observed together with what was refused before', async () => {
    const { dir } = await folder()
    await following(dir)
    await writeFile(join(dir, 'devices.yaml'), '1: { company_id: none }\n')
    await expect.poll(observed, soon).toHaveLength(1)
    await rm(join(dir, 'routes.csv'))
    await mkdir(join(dir, 'routes.csv'))
    const unread = 'config_refused routes.csv: routes.csv: cannot be read (EISDIR)'
    await expect.poll(observed, soon).toEqual([expect.stringContaining('devices.yaml:1'), unread])
    await rm(join(dir, 'routes.csv'), { recursive: true })
    await expect.poll(observed, soon).toEqual([expect.stringContaining('devices.yaml:1')])
  })

  it('a missing or empty gateway.yaml is observed, and its companies and copies stay in effect', async () => {
    const { dir } = await folder()
    const file = join(dir, 'gateway.yaml')
    const text = `${await readFile(file, 'utf8')}copies: [{ name: crm, to: "https://crm.example/fixes" }]\n`
    await writeFile(file, text)
    const { live } = await following(dir, { followsFiles: false })
    const inEffect = () => [live.companies().map(({ company_id }) => company_id), live.copies().map(({ name }) => name)]
    for (const lose of [() => rm(file), () => writeFile(file, '')]) {
      await lose()
      const gone =
        'config_refused gateway.yaml: gateway.yaml: this file is gone or empty: its last content stays in effect'
      await expect.poll(observed, soon).toEqual([gone])
      expect(inEffect()).toEqual([['7'], ['crm']])
      await writeFile(file, text)
      await expect.poll(observed, soon).toEqual([])
      expect(inEffect()).toEqual([['7'], ['crm']])
    }
  })

  it('settings that need a restart are observed by each process, and other ones are not', async () => {
    const { dir } = await folder()
    const gateway = await readFile(join(dir, 'gateway.yaml'), 'utf8')
    await following(dir, { followsFiles: false })
    await expect.poll(observed, soon).toEqual([])
    await writeFile(join(dir, 'gateway.yaml'), `${gateway}admin: { tokens: [a-token-of-many-letters-1] }\n`)
    await sleep(1500)
    expect(observed()).toEqual([])
    await writeFile(join(dir, 'gateway.yaml'), `${gateway}batch: { max_wait: 2s }\npush: { concurrency: 3 }\n`)
    await expect.poll(observed, soon).toEqual(['restart_needed gateway.yaml: batch.max_wait, push.concurrency'])
    // A start would fail with this.
    await writeFile(join(dir, 'gateway.yaml'), `${gateway}batch: { max_wait: 2 }\n`)
    await expect
      .poll(observed, soon)
      .toEqual([expect.stringContaining('config_refused gateway.yaml: gateway.yaml:4: batch.max_wait')])
    await writeFile(join(dir, 'gateway.yaml'), gateway)
    await expect.poll(observed, soon).toEqual([])
  })
})

it('a stop does not wait for a Redis that hangs', async () => {
  const { dir, write } = await folder()
  const { live } = await following(dir)
  await putDevice(redis, '9', put('9', '900'))
  await live.catchUp()
  await server.kill('SIGSTOP')
  onTestFinished(() => server.kill('SIGCONT'))
  const ended: string[] = []
  const asked = redis.get('any').catch(() => ended.push('Redis was given up'))
  await write(line('1', 10))
  await expect.poll(() => live.complete, soon).toBe(false)
  await live.close().then(() => ended.push('stopped'))
  await server.kill('SIGCONT')
  await asked
  expect(ended[0]).toBe('stopped')
})

it('a single gateway listens on a port with four sockets with a queue each', async ({ skip }) => {
  skip(process.platform !== 'linux', 'sockets share a port on Linux')
  const { dir } = await folder()
  const yaml = `
data_dir: ${join(dir, 'data')}
listeners: [{ transport: tcp, port: 0, protocol: wialon, host: 127.0.0.1 }]
mqtt: { broker: null }
companies: [{ company_id: 7, apikey: k }]
log: { level: fatal }
`
  await writeFile(join(dir, 'gateway.yaml'), yaml)
  const live = await followConfig({ dir, protocols: protocolPorts, role: 'gateway', followsFiles: true })
  const gateway = await startGateway(live, { redisServer: server.url, ports: {} })
  onTestFinished(() => gateway.close())
  const port = gateway.ports?.['tcp/wialon'] ?? 0
  const listening = `:${port.toString(16).toUpperCase().padStart(4, '0')} 00000000:0000 0A`
  const sockets = () => readFileSync('/proc/net/tcp', 'utf8').split(listening).length - 1
  await expect.poll(sockets, soon).toBe(4)
})
