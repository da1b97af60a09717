import { readFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { DrivenProduct, VANS } from '../rig/driven-product.ts'
import * as mqtt from '../support/mqtt-bytes.ts'
import { pidsWith, signal } from '../support/processes.ts'
import { processesOn } from '../support/running.ts'

const soon = { timeout: 60_000, interval: 20 }

let product: DrivenProduct

beforeAll(async () => void (product = await DrivenProduct.begin()))
afterAll(() => product?.remove())

it('the product ends with exit code 0 within 10 s of a SIGTERM while 30 vans send, and loses nothing', async () => {
  const { arrive, made } = await product.drive()
  await made(3 * VANS)
  const since = performance.now()
  expect(await product.end()).toBe(0)
  expect(performance.now() - since).toBeLessThan(10_000)
  expect(processesOn(product.dir)).toEqual([])
  await product.start()
  await made(8 * VANS)
  await arrive()
})

it('vans only reconnect if the gateway alone gets a SIGTERM', async () => {
  const { arrive, made } = await product.drive()
  await made(3 * VANS)
  const [gateway] = pidsWith(product.dir, 'gateway')
  process.kill(gateway, 'SIGTERM')
  await expect.poll(() => pidsWith(product.dir, 'gateway').filter((pid) => pid !== gateway).length, soon).toBe(1)
  await made(6 * VANS)
  await arrive()
  expect(product.child.exitCode).toBe(null)
})

it.each(['SIGKILL', 'SIGTERM'] as const)(
  'the only gateway refuses no connection while it restarts after %s, and answers each of them',
  async (name) => {
    const [gateway] = pidsWith(product.dir, 'gateway')
    const said = await helloes()
    const tries: { readonly isWithout: boolean; readonly end: Promise<string> }[] = []
    let isAnswered = false
    signal(gateway, name)
    const tryAll = () => {
      const isWithout = !pidsWith(product.dir, 'gateway').includes(gateway)
      for (const [port, hello] of said) {
        const end = answerTo(port, hello)
        tries.push({ isWithout, end })
        if (isWithout) void end.then((how) => (isAnswered ||= how === 'answered'))
      }
      return isAnswered
    }
    await expect.poll(tryAll, soon).toBe(true)
    const ends = await Promise.all(tries.map(({ end }) => end))
    expect(ends).not.toContain('ECONNREFUSED')
    // The ending gateway may have accepted these connections before.
    const later = ends.filter((_, at) => tries[at].isWithout)
    expect(new Set(later)).toEqual(new Set(['answered']))
    expect(later.length).toBeGreaterThan(said.length)
  },
)

it('the product ends within 10 s of a SIGTERM to every process while 30 vans send, and loses nothing', async () => {
  const { arrive, made } = await product.drive()
  await made(3 * VANS)
  await endEveryProcess()
  await product.start()
  await made(6 * VANS)
  const ended = endEveryProcess()
  product.child.kill('SIGKILL')
  await ended
  await product.start()
  await made(9 * VANS)
  await arrive()
})

/** Signals all processes in an arbitrary order, as a service manager does. */
async function endEveryProcess(): Promise<void> {
  const since = performance.now()
  const pids = processesOn(product.dir).map(({ pid }) => pid)
  expect(pids.length).toBeGreaterThan(6)
  for (const pid of pids.toSorted((one, other) => (one % 7) - (other % 7))) signal(pid, 'SIGTERM')
  await expect.poll(() => processesOn(product.dir), soon).toEqual([])
  expect(performance.now() - since).toBeLessThan(10_000)
}

/** Returns the first message of a van on each device port. */
async function helloes(): Promise<[port: number, hello: Buffer][]> {
  const [, imei] = /"(\d{15})"/.exec(await readFile(join(product.dir, 'devices.yaml'), 'utf8')) ?? []
  const { ports } = product
  return [
    [ports['tcp/teltonika'], Buffer.from(`\0\x0f${imei}`)],
    [ports['http/osmand'], Buffer.from('GET / HTTP/1.1\r\nHost: gateway\r\n\r\n')],
    [ports.mqtt, mqtt.connect({ user: imei })],
  ]
}

/** Returns `answered`, or the code of the error that ended the connection before an answer. */
function answerTo(port: number, hello: Buffer): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(hello))
    socket.on('data', () => {
      resolve('answered')
      socket.destroy()
    })
    socket.on('error', ({ code }: NodeJS.ErrnoException) => resolve(String(code)))
    socket.on('close', () => resolve('closed'))
  })
}
