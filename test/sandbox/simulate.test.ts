import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readDevices } from '../../src/config/devices.ts'
import { createFleet } from '../../src/sandbox/fleet.ts'
import { speeches } from '../../src/sandbox/speak/index.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { startCommand } from '../support/simulate.ts'

let receiver: Receiver

beforeEach(async () => {
  receiver = await startReceiver()
})
afterEach(() => receiver.close())

describe('waybridge simulate', () => {
  it('simulate sends vans to a gateway, and succeeds when all is acknowledged', async () => {
    const command = simulate('--vans', '9', '--interval', '1s', '--duration', '6s')
    expect(await command.ended).toBe(0)
    expect(command.lines()[0]).toMatch(/^9 vans, \d+ fixes sent, \d+ acknowledged, \d+ not yet$/)
    expect(command.lines().at(-1)).toBe('sent=54 acked=54')
    expect([...receiver.fixes.values()].flat()).toHaveLength(54)
  })

  it('simulate stops soon after a signal', async () => {
    receiver.mood = 'lost'
    const command = simulate('--vans', '9', '--protocols', 'teltonika,gt06', '--interval', '1s', '--duration', '1h')
    await command.says(/[1-9]\d* without an answer/)
    const signalled = performance.now()
    command.process.kill('SIGINT')
    expect(await command.ended).toBe(130)
    expect(performance.now() - signalled).toBeLessThan(10_000)
    expect(command.lines().at(-1)).toMatch(/^sent=\d+ acked=0$/)
  })

  it('simulate lists its vans for devices.yaml', async () => {
    const command = simulate('--vans', '12', '--devices')
    expect(await command.ended).toBe(0)
    const text = `${command.lines().join('\n')}\n`
    const { devices, mistakes } = await readDevices({ name: 'devices.yaml', file: 'devices.yaml', text })
    expect(mistakes).toEqual([])
    expect(devices.map(({ device }) => device.id)).toEqual(createFleet(12, speeches).map(({ id }) => id))
  })

  it.each([
    [['--protocols', 'gt07'], '--protocols: "gt07": unknown protocol: did you mean gt06? Vans speak teltonika, gt06, '],
    [['--interval', '100ms'], '--interval 100ms: at least 1s.\n'],
  ])('simulate refuses %j in a sentence', async (options, message) => {
    const command = simulate(...options)
    expect(await command.ended).toBe(1)
    expect(command.errors()).toContain(message)
    expect(command.errors().trimEnd()).not.toContain('\n')
  })

  it.each(['simulate', 'demo'])('%s --help lists the protocols', async (name) => {
    const command = startCommand([name, '--help'])
    expect(await command.ended).toBe(0)
    const words = command
      .lines()
      .join(' ')
      .split(/[\s,;]+/)
    expect(words).toEqual(expect.arrayContaining(speeches.map(({ protocol }) => protocol)))
  })
})

function simulate(...options: readonly string[]) {
  const ports = Object.entries(receiver.ports).flatMap(([name, port]) => ['--port', `${name}=${port}`])
  return startCommand(['simulate', '--target', '127.0.0.1', ...ports, ...options])
}
