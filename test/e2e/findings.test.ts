import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { FAULTS } from '../faults/faults.ts'
import { measure, problemOf } from '../faults/measure.ts'
import { type Site, startSite } from '../faults/site.ts'

/** Quick faults; `npm run faults` runs all of them. */
const QUICK = FAULTS.filter(({ isQuick }) => isQuick)

const soon = { timeout: 60_000 }
let site: Site

beforeAll(async () => {
  site = await startSite()
})

afterAll(() => site?.close())

/** Returns the metrics of src/admin/metrics.txt without a sample, except those without one in a healthy system. */
async function metricsWithoutSample(): Promise<string[]> {
  const text = await (await fetch(`http://127.0.0.1:${site.product.ports.admin}/metrics`)).text()
  const listed = await readFile(new URL('../../src/admin/metrics.txt', import.meta.url), 'utf8')
  const names = listed.match(/^waybridge_\w+/gm) ?? []
  expect(names.length).toBeGreaterThan(40)
  const wanted = names.filter((name) => !WITHOUT_SAMPLE.test(name))
  return wanted.filter((name) => !new RegExp(`^${name}(?:_count)?[{ ]`, 'm').test(text))
}

it('every metric has a sample, and without Redis those known from other sources still have one', async () => {
  await expect.poll(metricsWithoutSample, soon).toEqual([])
  await site.redis.kill('SIGSTOP')
  await expect.poll(metricsWithoutSample, soon).toEqual(KNOWN_FROM_REDIS)
  await site.redis.kill('SIGCONT')
  await expect.poll(metricsWithoutSample, soon).toEqual([])
})

it.each(QUICK)('the fault is found as $code in time, and ends in time: $what', { timeout: 200_000 }, async (fault) => {
  expect(problemOf(await measure(site, fault))).toBeUndefined()
})

/** Metrics without a sample if nothing is wrong or waits, and without bridges and copies. */
const WITHOUT_SAMPLE = /^waybridge_(?:findings|oldest_waiting_timestamp_seconds|(?:bridge|copy)_\w+)$/
const KNOWN_FROM_REDIS = `
  api_push_in_flight api_up custody_difference devices fixes_discarded_total fixes_held fixes_parked fixes_redelivered_total fixes_waiting last_delivery_timestamp_seconds
  last_fix_timestamp_seconds misunderstood_frames process_restarts_total process_up push_in_flight
  push_oldest_in_flight_seconds redis_memory_share_ratio redis_memory_used_ratio roster_last_write_timestamp_seconds
  roster_lines trial_frames_total upstream_up`
  .trim()
  .split(/\s+/)
  .map((name) => `waybridge_${name}`)
