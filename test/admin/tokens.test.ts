import { appendFile, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { adminFixture, TOKEN } from '../support/admin.ts'

const PAST = '2026-01-01T00:00:00Z'
const FUTURE = '2126-01-01T00:00:00+01:00'
const admin = adminFixture({
  gateway: `admin:
  port: 0
  tokens:
    - ${TOKEN}
    - { token: canary-expired, name: Anna, expires: "${PAST}" }
    - { token: canary-valid, name: Bert, expires: "${FUTURE}" }
`,
})

const as = (token: string, method = 'GET', path = '/admin/status') =>
  admin.ask(path, { method, headers: { authorization: `Bearer ${token}` } })
const statusOf = async (token: string) => (await as(token)).status
const soon = { timeout: 30_000 }

/** Replaces a file as a secret manager does. */
async function write(name: string, text: string): Promise<string> {
  const file = join(admin.dir, name)
  await writeFile(`${file}.new`, text)
  await rename(`${file}.new`, file)
  return file
}

it('an expired token is refused with a sentence that does not contain it', async () => {
  const { status, json, text } = await as('canary-expired')
  expect([status, json]).toEqual([401, { message: expect.stringContaining('the token Anna has expired') as string }])
  expect(text).not.toContain('canary')
  expect(await statusOf('canary-valid')).toBe(200)
})

it('a named token is in the audit log with its name', async () => {
  await as('canary-valid', 'DELETE', '/admin/parked?all=true')
  const { results } = (await admin.ask('/admin/audit?max_results=1')).json as { results: object[] }
  expect(results).toEqual([expect.objectContaining({ token: 'Bert', operation: '/admin/parked' })])
})

it('a changed token takes effect without a restart, and the previous one then ends', async () => {
  const yaml = await readFile(join(admin.dir, 'gateway.yaml'), 'utf8')
  const both = yaml.replace('    - { token: canary-valid', '    - canary-next\n    - { token: canary-valid')
  await write('gateway.yaml', both)
  await expect.poll(() => statusOf('canary-next'), soon).toBe(200)
  expect(await statusOf('canary-valid')).toBe(200)
  await write('gateway.yaml', both.replace(/    - \{ token: canary-valid.*\n/, ''))
  await expect.poll(() => statusOf('canary-valid'), soon).toBe(401)
  expect(await statusOf('canary-next')).toBe(200)
  await write('gateway.yaml', yaml)
  await expect.poll(() => statusOf('canary-next'), soon).toBe(401)
})

it('a token that is taken out during the upload of a roster writes nothing', async () => {
  const yaml = await readFile(join(admin.dir, 'gateway.yaml'), 'utf8')
  const url = `${admin.url}/admin/routes?company_id=7&from=2126-01-01T00:00:00Z&until=2126-01-02T00:00:00Z`
  const { promise: rest, resolve } = Promise.withResolvers<void>()
  async function* lines() {
    yield Buffer.from('device,courier_id,route_id,from,until\n')
    await rest
    yield Buffer.from('Van 12,42,3001,2126-01-01T06:00:00Z,2126-01-01T07:00:00Z\n')
  }
  const headers = { authorization: 'Bearer canary-valid', 'content-type': 'text/csv' }
  const upload = fetch(url, {
    method: 'PUT',
    headers,
    body: ReadableStream.from(lines()),
    duplex: 'half',
  })
  await write('gateway.yaml', yaml.replace(/    - \{ token: canary-valid.*\n/, ''))
  await expect.poll(() => statusOf('canary-valid'), soon).toBe(401)
  resolve()
  expect((await upload).status).toBe(401)
  expect(JSON.stringify((await admin.ask('/admin/routes')).json)).not.toContain('3001')
  await write('gateway.yaml', yaml)
  await expect.poll(() => statusOf('canary-valid'), soon).toBe(200)
})

it('a replaced token file of a secret manager takes effect, without its line end', async () => {
  const file = await write('secret', 'canary-of-file-1\r\n\n')
  await appendFile(join(admin.dir, 'gateway.yaml'), `    - "\${file:${file}}"\n`)
  // The fixture's lines of admin are the last ones of the file.
  await expect.poll(() => statusOf('canary-of-file-1'), soon).toBe(200)
  await write('secret', 'canary-of-file-2\n')
  await expect.poll(() => statusOf('canary-of-file-2'), soon).toBe(200)
  expect(await statusOf('canary-of-file-1')).toBe(401)
})

it('a change of the tokens that cannot be read changes nothing', async () => {
  await write('secret', '\n')
  await expect.poll(() => admin.live.complete, soon).toBe(true)
  expect(await statusOf('canary-of-file-2')).toBe(200)
  await write('secret', 'canary-of-file-3')
  await expect.poll(() => statusOf('canary-of-file-3'), soon).toBe(200)
})

it('the removal of a token takes effect while Redis is away', async () => {
  const yaml = await readFile(join(admin.dir, 'gateway.yaml'), 'utf8')
  await admin.server.kill('SIGKILL')
  await write('gateway.yaml', yaml.replace(/    - \{ token: canary-valid.*\n/, ''))
  await expect.poll(() => statusOf('canary-valid'), { timeout: 5000 }).toBe(401)
  await admin.server.restart()
  await write('gateway.yaml', yaml)
  await expect.poll(() => statusOf('canary-valid'), soon).toBe(200)
})
