import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { pidsWith, signal } from '../support/processes.ts'
import { fixture, journalOf, portsOf, processesOn, run, start, temporaryDir } from '../support/running.ts'

const ALL = { gateway: 1, worker: 2, admin: 1, tracking: 1 }
/** Few processes, because each start takes a quarter of a second of CPU time. */
const TWO = { gateway: 1, worker: 1 }

/** Orders in which a service manager may signal processes. */
const ORDERS: Record<string, (processes: Process[]) => Process[]> = {
  'parents first': (processes) => processes.toSorted((one, other) => one.pid - other.pid),
  'children first': (processes) => processes.toSorted((one, other) => other.pid - one.pid),
  'Redis first': (processes) => processes.toSorted((one, other) => Number(isRedis(other)) - Number(isRedis(one))),
  'the supervisor last': (processes) =>
    processes.toSorted((one, other) => Number(isStart(one)) - Number(isStart(other))),
  'the supervisor in the middle': (processes) => {
    const others = processes.filter((one) => !isStart(one))
    return others.toSpliced(others.length / 2, 0, ...processes.filter(isStart))
  },
}

it('the supervisor starts a process for each role in order, and writes the addresses to ports.json', async () => {
  const dir = await temporaryDir()
  await start(dir, ALL)
  const ports = await portsOf(dir)
  expect(Object.keys(ports).toSorted()).toEqual(['tcp/admin', 'tcp/gateway', 'tcp/tracking'])
  expect(['gateway', 'worker', 'admin', 'tracking'].map((role) => pidsWith(dir, role).length)).toEqual([1, 2, 1, 1])
  // Redis, the files and the gateway come first, because devices wait for them.
  expect(journalOf(dir).slice(0, 3)).toEqual([
    'admin compared',
    'gateway ready redis=PONG tracking=false',
    'tracking ready redis=PONG tracking=false',
  ])
  expect(journalOf(dir).slice(3).toSorted()).toEqual([
    'admin ready redis=PONG tracking=true',
    'worker ready redis=PONG tracking=true',
    'worker ready redis=PONG tracking=true',
  ])
})

it('the supervisor loads the gateway during the start of the admin process, but starts it after the files', async () => {
  const dir = await temporaryDir()
  await start(dir, { gateway: 1, admin: 1 }, { admin: 'after gateway' })
  await portsOf(dir)
  expect(journalOf(dir)).toEqual([
    'admin compared',
    'gateway ready redis=PONG tracking=false',
    'admin ready redis=PONG tracking=false',
  ])
})

it('the supervisor serves devices until the admin process and the workers end, but at most a second', async () => {
  const dir = await temporaryDir()
  const { child, ended } = await start(dir, TWO, { worker: 'hang' })
  await portsOf(dir)
  child.kill('SIGTERM')
  await expect.poll(() => journalOf(dir), { timeout: 30_000 }).toContain('gateway closed redis=PONG')
  expect(pidsWith(dir, 'worker').length).toBe(1)
  child.kill('SIGTERM')
  expect(await ended).toBe(143)
})

it('the supervisor closes the admin process first and Redis last after SIGTERM, exits with 0 and leaves no process', async () => {
  const dir = await temporaryDir()
  const { child, ended } = await start(dir, { ...ALL, worker: 1 })
  await portsOf(dir)
  const since = performance.now()
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
  const isOverASecond = performance.now() - since > 1000
  const closed = journalOf(dir).slice(-4)
  const gateway = closed.indexOf('gateway closed redis=PONG')
  expect(closed.toSpliced(gateway, 1)).toEqual(
    ['admin', 'worker', 'tracking'].map((role) => `${role} closed redis=PONG`),
  )
  // The supervisor waits at most a second for the first two.
  expect(gateway > 1 || (gateway >= 0 && isOverASecond)).toBe(true)
  expect(processesOn(dir)).toEqual([])
  await expect(readFile(`${dir}/ports.json`)).rejects.toThrow('ENOENT')
})

it('the supervisor restarts a killed role on the same port', async () => {
  const dir = await temporaryDir()
  await start(dir, { gateway: 1 })
  const before = await portsOf(dir)
  const [pid] = pidsWith(dir, 'gateway')
  process.kill(pid, 'SIGKILL')
  await expect.poll(() => journalOf(dir).length, { timeout: 30_000 }).toBe(2)
  expect(pidsWith(dir, 'gateway')).not.toEqual([pid])
  expect(await portsOf(dir)).toEqual(before)
})

it('the supervisor restarts a killed Redis without restarting the roles', async () => {
  const dir = await temporaryDir()
  const { child, ended } = await start(dir, { gateway: 1 })
  await portsOf(dir)
  const [before] = redisPids(dir)
  process.kill(before, 'SIGKILL')
  await expect.poll(() => redisPids(dir).filter((pid) => pid !== before).length, { timeout: 30_000 }).toBe(1)
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
  // The new Redis may not be ready yet when the signal arrives.
  expect(journalOf(dir)).toEqual(['gateway ready redis=PONG tracking=false', expect.stringMatching('^gateway closed')])
})

it('the supervisor leaves no process when it is killed, and can be started again at once', async () => {
  const dir = await temporaryDir()
  const killed = await start(dir, TWO)
  await portsOf(dir)
  killed.child.kill('SIGKILL')
  const again = await start(dir, { gateway: 1 })
  await expect
    .poll(() => journalOf(dir).filter((line) => line.startsWith('gateway ready')).length, { timeout: 30_000 })
    .toBe(2)
  expect(pidsWith(dir, 'gateway').length).toBe(1)
  again.child.kill('SIGKILL')
  await expect.poll(() => processesOn(dir), { timeout: 30_000 }).toEqual([])
})

it('the supervisor refuses a second start on the same data folder, and the first one continues', async () => {
  const dir = await temporaryDir()
  await start(dir, { gateway: 1 })
  const ports = await portsOf(dir)
  const second = await start(dir, { gateway: 1 })
  expect(await second.ended).toBe(1)
  expect(second.said()).toBe(`Another start is running on ${dir}: end it, or choose another data_dir.\n`)
  expect(await portsOf(dir)).toEqual(ports)
  expect(pidsWith(dir, 'gateway').length).toBe(1)
})

it('the supervisor exits with 1 and a sentence if the data folder cannot be created', async () => {
  const dir = await temporaryDir()
  await writeFile(join(dir, 'file'), '')
  const { ended, said } = run([fixture('start.ts'), join(dir, 'file/data'), JSON.stringify(ALL)])
  expect(await ended).toBe(1)
  expect(said()).toBe(`Cannot use ${dir}/file/data: a part of its path is no folder; choose another data_dir.\n`)
})

it('the supervisor exits with 1 and the sentence of a role that cannot start, and leaves no process', async () => {
  const dir = await temporaryDir()
  const { ended, said } = await start(dir, TWO, { gateway: 'refuse' })
  expect(await ended).toBe(1)
  expect(said().trim().split('\n').at(-1)).toBe('The gateway does not like this configuration.')
  expect(processesOn(dir)).toEqual([])
})

it('the supervisor keeps trying to start a role that crashes', async () => {
  const dir = await temporaryDir()
  const { child, ended, said } = await start(dir, { gateway: 1 }, { gateway: 'crash' })
  await expect.poll(() => pidsWith(dir, 'gateway').length, { timeout: 30_000 }).toBe(1)
  const first = pidsWith(dir, 'gateway')
  await expect.poll(() => pidsWith(dir, 'gateway').some((pid) => !first.includes(pid)), { timeout: 30_000 }).toBe(true)
  child.kill('SIGTERM')
  expect(await ended).toBe(0)
  expect(said()).toContain('"process":"gateway","reason":"it ended at its start: exit 2"')
})

it('the supervisor kills a role that does not close at the second SIGTERM, and exits with 143', async () => {
  const dir = await temporaryDir()
  const { child, ended, said } = await start(dir, TWO, { gateway: 'hang' })
  await portsOf(dir)
  child.kill('SIGTERM')
  await expect.poll(said).toContain('"reason":"SIGTERM","msg":"stopping"')
  await expect.poll(() => (child.kill('SIGTERM'), said())).toContain('second signal')
  // A further SIGTERM may reach an exiting process without handlers, which to a shell is 143 too.
  expect([143, 'SIGTERM']).toContain(await ended)
  expect(processesOn(dir)).toEqual([])
})

it('the supervisor counts two signals within half a second as one, as Ctrl-C under npm sends them', async () => {
  const dir = await temporaryDir()
  const { child, ended, said } = await start(dir, TWO)
  await portsOf(dir)
  // Both signals wait while the process is stopped.
  for (const name of ['SIGSTOP', 'SIGINT', 'SIGTERM', 'SIGCONT'] as const) child.kill(name)
  expect(await ended).toBe(0)
  expect(said()).not.toContain('second signal')
  expect(processesOn(dir)).toEqual([])
})

it('the supervisor kills a role that does not close within 10 s of SIGINT, and exits with 130', async () => {
  const dir = await temporaryDir()
  const { child, ended } = await start(dir, { gateway: 1 }, { gateway: 'hang' })
  await portsOf(dir)
  const since = Date.now()
  child.kill('SIGINT')
  // After 9 s the role would end by itself, with exit code 0.
  expect(await ended).toBe(130)
  expect(Date.now() - since).toBeLessThan(10_000 + BUSY_MS)
  expect(processesOn(dir)).toEqual([])
})

it.each(Object.entries(ORDERS))(
  'the supervisor ends everything within 10 s of a SIGTERM to every process at once, %s',
  async (_, inOrder) => {
    const dir = await temporaryDir()
    const { ended, said } = await start(dir, TWO, { gateway: 'slow' })
    await portsOf(dir)
    const since = Date.now()
    await signalAll(inOrder(processesOn(dir)), 'SIGTERM')
    expect(await ended).toBe(0)
    expect(processesOn(dir)).toEqual([])
    expect(Date.now() - since).toBeLessThan(10_000)
    expect(said().split('"msg":"stopping"')[1]).not.toContain('is started again')
  },
)

it('the supervisor ends everything within 10 s of a SIGTERM to every process even if it is killed meanwhile', async () => {
  const dir = await temporaryDir()
  const { child } = await start(dir, TWO, { gateway: 'hang' })
  await portsOf(dir)
  const since = Date.now()
  await signalAll(ORDERS['parents first'](processesOn(dir)), 'SIGTERM')
  child.kill('SIGKILL')
  await expect.poll(() => processesOn(dir), { timeout: 30_000 }).toEqual([])
  expect(Date.now() - since).toBeLessThan(10_000 + BUSY_MS)
})

it('the supervisor adds up the metrics of all processes, including a stopped and a killed one', async () => {
  const dir = await temporaryDir()
  await start(dir, { ...ALL, worker: 1 })
  const ports = await portsOf(dir)
  expect(await received(ports)).toBe(4)
  const [worker] = pidsWith(dir, 'worker')
  process.kill(worker, 'SIGSTOP')
  expect(await received(ports)).toBe(4)
  process.kill(worker, 'SIGKILL')
  await expect.poll(() => received(ports), { timeout: 30_000 }).toBe(5)
})

async function received(ports: Record<string, number>): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${ports['tcp/admin']}/`)
  const line = /^waybridge_fixes_received_total\{protocol="teltonika"\} (\d+)$/m.exec(await response.text())
  return Number(line?.[1])
}

/** Additional time for a busy machine; a role that hangs is killed after 8 s, and ends itself after 9 s. */
const BUSY_MS = 5000

type Process = ReturnType<typeof processesOn>[number]

/** Sends a signal to each process in turn, with a pause in which it can react. */
async function signalAll(processes: Process[], name: NodeJS.Signals): Promise<void> {
  for (const { pid } of processes) {
    signal(pid, name)
    await delay(10)
  }
}

function isStart({ command }: Process): boolean {
  return command.some((word) => word.endsWith('start.ts'))
}

/** Returns true for the Redis of a folder, which shows its address in place of its arguments. */
function isRedis({ command }: Process): boolean {
  return /^\S*(redis|valkey)-server /.test(command[0])
}

function redisPids(dir: string): number[] {
  return processesOn(dir).flatMap((each) => (isRedis(each) ? [each.pid] : []))
}
