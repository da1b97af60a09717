import { afterAll, beforeAll, expect, it } from 'vitest'
import { FAULTS } from '../faults/faults.ts'
import { measure, problemOf } from '../faults/measure.ts'
import { type Site, startSite } from '../faults/site.ts'

/** The others take longer: `npm run faults`. */
const QUICK = FAULTS.filter(({ isQuick }) => isQuick)

let site: Site

beforeAll(async () => {
  site = await startSite()
}, 90_000)

afterAll(() => site?.close(), 30_000)

it.each(QUICK)('$what: found as $code, and over, in time', { timeout: 200_000 }, async (fault) => {
  expect(problemOf(await measure(site, fault))).toBeUndefined()
})
