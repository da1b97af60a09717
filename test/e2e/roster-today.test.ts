import { expect, it, onTestFinished, vi } from 'vitest'
import { startProduct } from '../rig/product.ts'

const DAY_MS = 86_400_000
const soon = { timeout: 60_000, interval: 200 }
const HEADER = 'device,courier_id,route_id,from,until\n'

it('a company without a line for today is a finding on a working day, until a line begins today', async () => {
  // The clock of the product is set to noon of the next Wednesday.
  const today = Math.floor(Date.now() / DAY_MS) * DAY_MS + ((10 - new Date().getUTCDay()) % 7) * DAY_MS
  vi.stubEnv('CLOCK_SHIFT_MS', String(today + DAY_MS / 2 - Date.now()))
  vi.stubEnv('NODE_OPTIONS', `--import ${import.meta.resolve('../support/process/shifted-clock.ts')}`)
  onTestFinished(() => void vi.unstubAllEnvs())
  const lineOf = (daysAgo: number) => {
    const day = new Date(today - daysAgo * DAY_MS).toISOString().slice(0, 10)
    return `1,42,1001,${day}T06:00:00Z,${day}T20:00:00Z\n`
  }
  const before = HEADER + [1, 2, 5, 6, 7].map(lineOf).join('')
  const product = await startProduct({ 'devices.yaml': '1: { company_id: 7, courier_id: 42 }\n', 'routes.csv': before })
  onTestFinished(async () => void (await product.end()))
  const holding = async () => {
    const { results } = await product.admin<{ results: Finding[] }>('/admin/findings')
    return results.filter(({ code, ended_at }) => code === 'roster_stale' && ended_at === undefined)
  }
  await expect.poll(holding, soon).toMatchObject([
    {
      subject: { company_id: '7' },
      message: 'company 7 has no line for today, and had some on each of the last five working days',
    },
  ])
  await product.write('routes.csv', before + lineOf(0))
  await expect.poll(holding, soon).toEqual([])
})

interface Finding {
  readonly code: string
  readonly ended_at?: string
}
