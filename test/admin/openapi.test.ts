import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../src/tracking/operations.ts'
import { adminFixture, store, workerOf } from '../support/admin.ts'

interface Described {
  readonly operationId: string
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required: boolean }[]
  readonly responses: Readonly<Record<string, object>>
  readonly security: readonly object[]
}

interface Document {
  readonly openapi: string
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, object>>>>
}

const admin = adminFixture()

async function readDocument(): Promise<Document> {
  return (await admin.ask('/openapi.json')).json as Document
}

describe('GET /openapi.json of the admin port', () => {
  it('answers an OpenAPI 3.1 document with a token, and 401 without', async () => {
    expect((await readDocument()).openapi).toBe('3.1.1')
    expect((await admin.ask('/openapi.json', { headers: {} })).status).toBe(401)
  })

  it('describes itself and each relayed operation, with the statuses that the relay adds', async () => {
    const { paths } = await readDocument()
    expect(paths['/openapi.json'].get).toMatchObject({ operationId: 'getOpenApi', security: [{ token: [] }] })
    for (const [name, { method, path }] of Object.entries(OPERATIONS)) {
      const described = paths[path]?.[method.toLowerCase()]
      if (name === 'pushPositions') expect(described).toBeUndefined()
      else {
        expect(described.operationId).toBe(name)
        expect(Object.keys(described.responses)).toEqual(expect.arrayContaining(['200', '401', '404', '502', '504']))
      }
    }
  })

  it('names each operation once', async () => {
    const { paths } = await readDocument()
    const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId))
    expect(ids).toEqual([...new Set(ids)])
  })

  it('refers to components that exist', async () => {
    const document = await readDocument()
    const references = Array.from(JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/(\w+)"/g))
    expect(references.length).toBeGreaterThan(30)
    for (const [, kind, name] of references) expect(Object.keys(document.components[kind])).toContain(name)
  })

  it('declares a query parameter that has a default as optional', async () => {
    const { parameters } = (await readDocument()).paths['/admin/lanes'].get
    expect(parameters.map(({ name, required }) => [name, required])).toEqual([
      ['max_results', false],
      ['page_token', false],
      ['sort', false],
    ])
  })

  it('describes what GET /admin/lanes answers', async () => {
    await store(admin.redis, '7/42/1', { count: 2 })
    const { leases, lease } = workerOf(admin.redis)
    await leases.park(await lease('7/42/1'), { status: 404, message: 'no such route' })
    const { json } = await admin.ask('/admin/lanes')
    const { responses } = (await readDocument()).paths['/admin/lanes'].get
    const { schema } = (responses['200'] as { content: Record<string, { schema: object }> }).content['application/json']
    const fits = new Ajv2020({ strict: false, validateFormats: false }).compile(schema)
    expect(fits(json) ? [] : fits.errors).toEqual([])
    expect((json as { results: unknown[] }).results).not.toEqual([])
  })
})
