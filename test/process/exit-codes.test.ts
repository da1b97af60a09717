import { spawnSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { type Ended, waybridgeProcess } from '../support/cli.ts'
import { folder } from '../support/config-folder.ts'
import { listening } from '../support/listening.ts'
import { CLI } from '../support/processes.ts'

const WRONG = { 'gateway.yaml': 'redis: { url: "redis://127.0.0.1:1" }\nworkers: many\n' }
const MISTAKE = /gateway\.yaml:2:10 workers: expected a whole number/

it.each(['start', 'worker', 'tracking'])('mistakes in the configuration end %s with exit code 78', async (command) => {
  const { code, errors } = await waybridgeProcess([command, '--config', await folder(WRONG)])
  expect([code, errors]).toEqual([78, expect.stringMatching(MISTAKE)])
})

it.each(['check', 'backup'])('mistakes in the configuration end %s with exit code 1', async (command) => {
  const file = command === 'backup' ? ['file'] : []
  const { code, out, errors } = await waybridgeProcess([command, ...file, '--config', await folder(WRONG)])
  expect([code, out + errors]).toEqual([1, expect.stringMatching(MISTAKE)])
})

it('mistakes in the configuration end a single role without a Redis with exit code 78', async () => {
  const { code, errors } = await waybridgeProcess(['worker', '--config', await folder({ 'gateway.yaml': '' })])
  expect([code, errors]).toEqual([
    78,
    'gateway.yaml: a role on its own needs redis.url, redis.sentinels or redis.cluster: only `start` runs a private Redis\n',
  ])
})

it('a mistake in the configuration that only a role can find ends start with exit code 78', async () => {
  const bridge = '{ url: "mqtt://127.0.0.1:1", topics: { "a/+": sigfox } }'
  const { code, errors } = await waybridgeProcess(['start', '--config', await site({ mqtt: `bridges: [${bridge}]` })])
  expect([code, errors]).toEqual([78, expect.stringContaining('cannot open bridge 127.0.0.1:1: sigfox is spoken')])
})

it('a port that another program uses ends start with exit code 1', async () => {
  const other = createServer()
  onTestFinished(() => void other.close())
  const port = await listening(other)
  const { code, errors } = await waybridgeProcess(['start', '--config', await site({ port })])
  expect([code, errors]).toEqual([1, expect.stringContaining(`Cannot listen on 127.0.0.1:${port}: another program`)])
})

describe('a disk', () => {
  beforeEach(({ skip }) => skip(spawnSync('unshare', [...OWN_MOUNTS, 'true']).status !== 0, 'nothing can be mounted'))

  it('a full disk ends start with exit code 1', async () => {
    const { code, errors } = await startOnDisk('cat /dev/zero > "$DATA/fill" 2> /dev/null || true')
    expect([code, errors]).toEqual([1, expect.stringMatching(/full.* make room on/)])
  })

  it('a read-only disk ends start with exit code 1', async () => {
    const { code, errors } = await startOnDisk('mount -o remount,ro "$DATA"')
    expect([code, errors]).toEqual([
      1,
      expect.stringMatching(/^Cannot use .*\/data: the file system is read-only; .*\n$/),
    ])
  })
})

/** Makes a configuration with its data folder; `port`: port of the only listener, `mqtt`: further MQTT settings. */
async function site({ port = 0, mqtt = 'bridges: []' } = {}): Promise<string> {
  const dir = await folder({})
  const yaml = `data_dir: ${join(dir, 'data')}
listeners: [{ transport: tcp, protocol: gt06, port: ${port}, host: 127.0.0.1 }]
mqtt: { broker: null, ${mqtt} }
tracking: { listen: { port: 0 } }
admin: { port: 0 }
log: { format: json, level: error }
`
  await writeFile(join(dir, 'gateway.yaml'), yaml)
  return dir
}

/** Runs `start` with a data folder on its own small disk, after a shell command. */
async function startOnDisk(prepare: string): Promise<Pick<Ended, 'code' | 'errors'>> {
  const dir = await site()
  const data = join(dir, 'data')
  await mkdir(data)
  const script = `mount -t tmpfs -o size=64k,mode=700 tmpfs "$DATA" && ${prepare} && exec "$@"`
  const command = ['sh', '-c', script, 'sh', process.execPath, CLI, 'start', '--config', dir]
  const { status, stderr } = spawnSync('unshare', [...OWN_MOUNTS, ...command], {
    env: { ...process.env, DATA: data },
    encoding: 'utf8',
  })
  return { code: status, errors: stderr }
}

/** Options for a command with private mounts. */
const OWN_MOUNTS = process.getuid?.() === 0 ? ['--mount'] : ['--mount', '--map-root-user']
