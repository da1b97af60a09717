import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Site, startSite } from '../faults/site.ts'
import { ok, type Respond, status } from '../rig/api.ts'
import { COMPANY } from '../rig/product.ts'

const VANS = 50
let site: Site
/** Number of lines that were read. */
let read = 0

beforeAll(async () => {
  site = await startSite({ vans: VANS, yaml: 'log: { format: json, level: info }\n' })
})

afterAll(() => site?.close())

async function findings(): Promise<{ code: string; since_at: string }[]> {
  const { findings: found } = await site.product.admin<{ findings: { code: string; since_at: string }[] }>(
    '/admin/status',
  )
  return found.filter(({ code }) => !OF_THE_MACHINE.includes(code))
}

async function ageOfFirst(): Promise<number> {
  return Date.now() - Date.parse((await findings())[0].since_at)
}

async function findingsAre(codes: readonly string[]): Promise<void> {
  await expect.poll(async () => (await findings()).map(({ code }) => code), { timeout: 60_000 }).toEqual(codes)
}

/** Returns the lines of all processes since the last call, as `error admin: …`. */
function logged(): string[] {
  const lines = site.product.said().split('\n').slice(0, -1)
  const fresh = lines.slice(read).map((line) => JSON.parse(line) as Record<string, string>)
  read = lines.length
  return fresh
    .filter(({ reason }) => !OF_THE_MACHINE.includes(reason))
    .map(({ level, role, msg }) => `${level} ${role}: ${msg}`)
}

async function during(fault: () => unknown, codes: readonly string[], mend: () => unknown): Promise<string[]> {
  await findingsAre([])
  logged()
  await fault()
  await findingsAre(codes)
  await mend()
  await findingsAre([])
  // The port answers before the line has come through the pipes of two processes.
  const lines: string[] = []
  await expect.poll(() => lines.push(...logged()) && lines.at(-1), { timeout: 30_000 }).toMatch(/has ended/)
  return lines
}

const answering = (respond: Respond) => () => site.api.respond(respond)

describe('the log of a product with 50 lanes', () => {
  it('the log has one line when the API begins to answer 500, and one when that ends', async () => {
    const lines = await during(answering(status(500)), ['upstream_down'], answering(ok))
    expect(lines).toEqual([
      expect.stringMatching(/^error admin: begins: the tracking API answers 500/),
      expect.stringMatching(/^info admin: has ended: the tracking API answers 500/),
    ])
  })

  it('the log has one line when the API begins to refuse the apikey of all lanes, and one when that ends', async () => {
    const lines = await during(
      answering((request, response) => (request.apikey === 'next' ? ok : status(403))(request, response)),
      ['apikey_refused'],
      async () => {
        const yaml = await site.product.read('gateway.yaml')
        await site.product.write('gateway.yaml', yaml.replace(`apikey: ${COMPANY.apikey}`, 'apikey: next'))
        await expect.poll(() => site.product.said(), { timeout: 60_000 }).toContain('configuration reloaded')
      },
    )
    // The worker may use the new apikey before the admin process has read it, and the finding begins with the first lane.
    expect(lines.toSorted()).toEqual([
      expect.stringMatching(
        /^error admin: begins: the tracking API refuses the apikey of company 7 \(403\): \d+ lanes?/,
      ),
      'info admin: configuration reloaded',
      expect.stringMatching(/^info admin: has ended: the tracking API refuses the apikey of company 7/),
    ])
  })

  it('the log has one line when Redis is frozen for 15 s, and one when that ends', async () => {
    const lines = await during(
      () => site.redis.kill('SIGSTOP'),
      ['redis_down'],
      async () => {
        await expect.poll(ageOfFirst, { timeout: 60_000 }).toBeGreaterThan(15_000)
        await site.redis.kill('SIGCONT')
      },
    )
    expect(lines).toEqual([
      expect.stringMatching(/^error admin: begins: Redis does not answer/),
      'info admin: has ended: Redis does not answer: nothing is stored and nothing acknowledged',
    ])
  })
})

/** Findings that only occur on a busy machine. */
const OF_THE_MACHINE = ['event_loop_delay', 'slow_script']
