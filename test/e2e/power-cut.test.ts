import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { LoopDisk } from '../support/loop-disk.ts'
import { CLI, signal } from '../support/processes.ts'
import { portsOf, processesOn, run, temporaryDir } from '../support/running.ts'

const TIME = Math.floor(Date.now() / 1000) - 60
const soon = { timeout: 60_000, interval: 20 }

it('a power loss 3 s after the first start loses no acknowledged fix, and the next start works', async ({ skip }) => {
  const dir = await temporaryDir()
  const disk = LoopDisk.create(dir)!
  skip(disk === undefined, 'there is no loop device with ext4 for this user')
  const data = join(disk.dir, 'data')
  await configure(dir, data)
  const first = await started(dir, data)
  const query = `id=van-12&lat=52.5&lon=13.4&timestamp=${TIME}`
  expect((await fetch(`http://127.0.0.1:${first['http/osmand']}/?${query}`)).status).toBe(200)
  const token = await readFile(join(data, 'admin-token'), 'utf8')
  // After five seconds the file system would also write data without an fsync.
  await pause(3000)
  disk.cut()
  await expect.poll(() => killed(dir), soon).toBe(0)
  await expect.poll(() => disk.unmount(), soon).toBe(true)
  disk.repair()

  const { admin } = await started(dir, data)
  const headers = { authorization: `Bearer ${token.trim()}` }
  const answer = await fetch(`http://127.0.0.1:${admin}/admin/status`, { headers })
  const { custody } = (await answer.json()) as { custody: object }
  expect(custody).toMatchObject({ received: 1, difference: 0 })
  await expect.poll(() => killed(dir), soon).toBe(0)
})

async function configure(dir: string, data: string): Promise<void> {
  const yaml = `data_dir: '${data}'
listeners: [{ transport: http, protocol: osmand, port: 0, host: 127.0.0.1 }]
redis: { max_memory: 64mb }
mqtt: { broker: null }
tracking: { listen: { port: 0 } }
admin: { port: 0 }
companies: [{ company_id: 7, apikey: k, oauth_token: t }]
log: { format: json }
`
  await writeFile(join(dir, 'gateway.yaml'), yaml)
  await writeFile(join(dir, 'devices.yaml'), 'van-12: { company_id: 7, courier_id: 42, route_id: 1001 }\n')
}

/** Starts the product; returns its ports once it is ready. */
async function started(dir: string, data: string): Promise<Record<string, number>> {
  const { child, said } = run([CLI, 'start', '--config', dir])
  await expect.poll(() => child.exitCode !== null || said().includes('"msg":"ready: '), soon).toBe(true)
  expect([child.exitCode, said()]).toEqual([null, expect.stringContaining('"msg":"ready: ')])
  return portsOf(data)
}

/** Kills the processes of a folder; returns their number. */
function killed(dir: string): number {
  const left = processesOn(dir)
  for (const { pid } of left) signal(pid, 'SIGKILL')
  return left.length
}
