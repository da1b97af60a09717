import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { speeches } from '../../src/sandbox/speak/index.ts'
import { waybridge } from '../support/cli.ts'
import { startCommand } from '../support/simulate.ts'

/** One van for each way of sending. */
const VANS = speeches.length
/** On a busy machine the first line of the drive may come after some seconds. */
const SECONDS = 6
const FIXES = SECONDS * VANS

let cwd: string

beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'waybridge-demo-'))
})
afterEach(() => rm(cwd, { recursive: true, force: true }))

describe('npm run demo', () => {
  it('the demo delivers every fix of every way of sending, and leaves nothing behind', async () => {
    const demo = startDemo('--vans', `${VANS}`, '--seconds', `${SECONDS}`, '--protocols', 'tcp,udp,http,mqtt')
    const processes = await demo.processes()
    await demo.says(/^\d+ s {2}driving/m)
    expect(processes().length).toBeGreaterThanOrEqual(6)
    const code = await demo.ended
    expect(demo.lines().at(-1)).toMatch(
      new RegExp(`^sent=${FIXES} acked=${FIXES} delivered=${FIXES} lost=0 duplicates=\\d+$`),
    )
    expect(demo.lines()).toContain(`  All ${FIXES} fixes were acknowledged and read back, each in its time and place.`)
    expect(
      demo
        .lines()
        .some((line) => /^\d+ s {2}driving: \d+ vans, \d+ fixes sent, \d+ acknowledged, \d+ delivered/.test(line)),
    ).toBe(true)
    expect([code, demo.errors()]).toEqual([0, ''])
    expect(await readdir(join(cwd, '.demo'))).toEqual([])
    expect(processes()).toEqual([])
  })

  it('the demo ends in order on a signal', async () => {
    const demo = startDemo('--vans', '9', '--seconds', '600')
    const processes = await demo.processes()
    await demo.says(/^\d+ s {2}driving: .* [1-9]\d* acknowledged/m)
    const signalled = performance.now()
    demo.process.kill('SIGINT')
    const code = await demo.ended
    expect(performance.now() - signalled).toBeLessThan(10_000)
    expect(demo.lines().at(-1)).toMatch(/^sent=(\d+) acked=\1 delivered=\1 lost=0 duplicates=\d+$/)
    expect(code).toBe(0)
    expect(processes()).toEqual([])
  })

  it('the demo ends in order on a signal during its start', async () => {
    const demo = startDemo('--vans', '9', '--seconds', '600')
    const processes = await demo.processes()
    demo.process.kill('SIGINT')
    const code = await demo.ended
    expect(demo.lines().at(-1)).toBe('sent=0 acked=0 delivered=0 lost=0 duplicates=0')
    expect(code).toBe(0)
    expect(processes()).toEqual([])
  })

  it.each([
    [
      ['--protocols', 'teltonica'],
      /^--protocols: "teltonica": unknown protocol: did you mean teltonika\? Vans speak .*\.\n$/,
    ],
    [['--vans', 'many'], /^--vans many: expected a whole number from 1 to 999999\.\n$/],
    [['--seconds', 'soon'], /^--seconds soon: expected a duration such as 500ms, 15s or 5m\.\n$/],
  ])('the demo refuses the options %j in a sentence', async (options, message) => {
    const { code, errors } = await waybridge(['demo', ...options], { cwd })
    expect(code).toBe(1)
    expect(errors).toMatch(message)
  })
})

function startDemo(...options: readonly string[]) {
  const command = startCommand(['demo', ...options], cwd)
  return {
    ...command,
    /** Returns the command lines of the processes that the demo started and that still run. */
    async processes(): Promise<() => string[]> {
      await command.says(/Starting/)
      const [run] = await readdir(join(cwd, '.demo'))
      return () => commandLines().filter((line) => line.includes(run))
    },
  }
}

function commandLines(): string[] {
  return execFileSync('ps', ['-eo', 'args='], { encoding: 'utf8' }).split('\n')
}
