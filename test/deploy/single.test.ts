import { afterAll, beforeAll, expect, it } from 'vitest'
import { documentedCommands } from './documented.ts'
import { shell } from './engine.ts'
import { COPY } from './place.mjs'
import { checkHealth, endAll, prepareSite } from './site.ts'

/* docker/compose.yaml by the commands of docker/README.md, in a network namespace of its own. */

const [up, list, token, status, ready] = documentedCommands('## With docker compose')
const end = new AbortController()
let health: Promise<void> | undefined
beforeAll(prepareSite)
afterAll(async () => {
  end.abort()
  await health
  await endAll()
})

it('by the documented commands the image is built and becomes healthy', async () => {
  await shell(up, COPY)
  health = checkHealth(end.signal)
  await expect.poll(() => shell(list, COPY), { timeout: 120_000, interval: 1000 }).toContain('(healthy)')
})

it('the documented commands show the token and the state, and the admin port is ready on this machine', async () => {
  expect(await shell(token, COPY)).toMatch(/^[\w-]{20,}\s*$/)
  expect(await shell(status, COPY)).toContain('All well')
  expect(await shell(ready, COPY)).toContain('"ok":true')
})
