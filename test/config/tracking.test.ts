import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { ConfigError, problemText } from '../../src/config/problem.ts'
import { loadTracking, type TrackingConfig, type TrackingRead, followTracking } from '../../src/config/tracking.ts'
import { COMPANY, checked, folder } from '../support/config-folder.ts'

afterEach(() => vi.unstubAllEnvs())

const MAX_ID = '9223372036854775807'

async function config(text: string): Promise<TrackingConfig | undefined> {
  return loadTracking(await folder({ 'tracking.yaml': text }))
}

async function mistakes(text: string): Promise<string[]> {
  return (await checked({ 'tracking.yaml': text })).mistakes
}

describe('tracking.yaml', () => {
  it('an empty tracking.yaml has the documented defaults', async () =>
    expect(await config('')).toEqual({
      listen: { host: '127.0.0.1', port: 8090 },
      data_dir: '.data',
      time_limit: 60_000,
      companies: [],
      routes: [],
      monitor: { host: '127.0.0.1', port: 9464 },
      log: { level: 'info', format: 'auto' },
    }))

  it('a missing tracking.yaml is no error', async () =>
    expect(await loadTracking(await folder({ 'gateway.yaml': COMPANY }))).toBeUndefined())

  it('tracking.yaml is read into values with exact, canonical ids', async () => {
    vi.stubEnv('WB_TEST_TOKEN', 'from-the-environment')
    const dir = await folder({ secret: 'from a file\n' })
    const text = `
listen: { host: 0.0.0.0, port: 0 }
data_dir: /var/lib/tracking
time_limit: 1.5s
companies:
  - { company_id: 007, apikeys: [0123, "\${file:${dir}/secret}"], oauth_tokens: ["\${env:WB_TEST_TOKEN}"] }
  - { company_id: ${MAX_ID} }
routes:
  - { route_id: 0, courier_id: 9007199254740993, company_id: 7 }
  - { route_id: 0, courier_id: 9007199254740992, company_id: "0007" }
`
    await writeFile(join(dir, 'tracking.yaml'), text)
    expect(await loadTracking(dir)).toMatchObject({
      listen: { host: '0.0.0.0', port: 0 },
      data_dir: '/var/lib/tracking',
      time_limit: 1500,
      companies: [
        { company_id: '7', apikeys: ['0123', 'from a file'], oauth_tokens: ['from-the-environment'] },
        { company_id: MAX_ID, apikeys: [], oauth_tokens: [] },
      ],
      routes: [
        { route_id: '0', courier_id: '9007199254740993', company_id: '7' },
        { route_id: '0', courier_id: '9007199254740992', company_id: '7' },
      ],
    })
  })

  it('tracking.yaml may give one OAuth token access to several companies', async () =>
    expect(
      await mistakes('companies: [{ company_id: 7, oauth_tokens: [t] }, { company_id: 8, oauth_tokens: [t] }]'),
    ).toEqual([]))

  it.each([
    [
      'an unknown key and the nearest known one',
      'companies: [{ company_id: 7, api_keys: [k] }]',
      '1:30 companies[0].api_keys: unknown key: did you mean apikeys?',
    ],
    ['an unknown section', 'route: []', '1:1 route: unknown key: did you mean routes?'],
    [
      'a duration without unit',
      'time_limit: 60',
      '1:13 time_limit: expected a duration such as 500ms, 60s or 5m, above 0 and at most 24h',
    ],
    [
      'a duration of zero',
      'time_limit: 0s',
      '1:13 time_limit: expected a duration such as 500ms, 60s or 5m, above 0 and at most 24h',
    ],
    [
      'one key in place of a list',
      'companies: [{ company_id: 7, apikeys: k }]',
      '1:39 companies[0].apikeys: expected a list',
    ],
    ['an empty key', 'companies: [{ company_id: 7, apikeys: [""] }]', '1:40 companies[0].apikeys[0]: expected text'],
    [
      'a token with a space',
      'companies: [{ company_id: 7, oauth_tokens: [a, canary b] }]',
      '1:48 companies[0].oauth_tokens[1]: expected printable ASCII characters without spaces',
    ],
    ['a company without id', 'companies:\n  - { apikeys: [k] }', '2:5 companies[0].company_id: missing'],
    [
      'a route without courier',
      'companies: [{ company_id: 7 }]\nroutes: [{ route_id: 1, company_id: 7 }]',
      '2:10 routes[0].courier_id: missing',
    ],
    [
      'an id out of int64',
      'companies: [{ company_id: 9223372036854775808 }]',
      '1:27 companies[0].company_id: expected an id of at most 9223372036854775807',
    ],
    [
      'a negative id',
      'companies: [{ company_id: -7 }]',
      `1:27 companies[0].company_id: expected an id: a whole number from 0 to ${MAX_ID}`,
    ],
    [
      'a company twice',
      'companies: [{ company_id: 7 }, { company_id: 007 }]',
      '1:46 companies[1].company_id: company 7 is listed twice',
    ],
    [
      'an apikey of two companies',
      'companies: [{ company_id: 7, apikeys: [a, b] }, { company_id: 8, apikeys: [c, b] }]',
      '1:79 companies[1].apikeys[1]: companies[0] has the same apikey',
    ],
    [
      'a route twice',
      'companies: [{ company_id: 7 }]\nroutes:\n  - { route_id: 1, courier_id: 2, company_id: 7 }\n  - { route_id: 01, courier_id: 2, company_id: 7 }',
      '4:5 routes[1]: repeats routes[0]',
    ],
    [
      'a route of an unknown company',
      'companies: [{ company_id: 7 }]\nroutes: [{ route_id: 1, courier_id: 2, company_id: 8 }]',
      '2:52 routes[0].company_id: company 8 is not in companies',
    ],
    ['the port of the monitor', 'listen: { port: 9464 }', '1:17 listen.port: monitor already uses tcp port 9464'],
    [
      'a reference that cannot be resolved',
      'data_dir: "${env:WB_TEST_NONE}"',
      '1:11 data_dir: the environment variable WB_TEST_NONE is not set',
    ],
  ])('check reports %s in tracking.yaml', async (_, text, mistake) =>
    expect(await mistakes(text)).toEqual([`tracking.yaml:${mistake}`]),
  )

  it('check reports all mistakes of tracking.yaml after those of the other files', async () => {
    const files = {
      'gateway.yaml': 'workers: 0',
      'tracking.yaml': 'listen: { prot: 1 }\nroutes: {}\nlog: { level: loud }',
    }
    expect((await checked(files)).mistakes).toEqual([
      'gateway.yaml:1:10 workers: expected a whole number from 1 to 1024',
      'tracking.yaml:1:11 listen.prot: unknown key: did you mean port?',
      'tracking.yaml:2:9 routes: expected a list',
      'tracking.yaml:3:15 log.level: expected one of trace, debug, info, warn, error, fatal',
    ])
  })

  it('check reports a tracking.yaml that cannot be read together with the other files', async () => {
    const files = { 'gateway.yaml': 'workers: 0', 'tracking.yaml/x': '' }
    expect((await checked(files)).mistakes).toEqual([
      'gateway.yaml:1:10 workers: expected a whole number from 1 to 1024',
      'tracking.yaml: cannot be read (EISDIR)',
    ])
  })

  it('loadTracking throws one error with a line for each mistake', async () => {
    const error = await config('time_limit: x\nroutes: 1').catch((caught: unknown) => caught)
    expect(error).toBeInstanceOf(ConfigError)
    expect((error as ConfigError).message.split('\n')).toHaveLength(2)
  })

  it('the mistakes of tracking.yaml never show a secret', async () => {
    vi.stubEnv('WB_TEST_SECRET', 'canary-1')
    const found = await mistakes(`
companies:
  - { company_id: "\${env:WB_TEST_SECRET}", apikeys: [canary-2, [canary-3]], oauth_tokens: { a: canary-4 } }
  - { company_id: 7, apikeys: [canary-5] }
  - { company_id: 8, apikeys: [canary-5] }
`)
    expect(found).toHaveLength(4)
    expect(found.join('\n')).not.toContain('canary')
  })
})

describe('watchTracking', () => {
  const ONE = 'companies: [{ company_id: 7 }]\n'
  const TWO = 'companies: [{ company_id: 7 }, { company_id: 8 }]\n'
  /** Watches a tracking.yaml; `next` resolves to its next change. */
  async function watched(text = ONE) {
    const dir = await folder({ 'tracking.yaml': 'companies: []', secret: 'a' })
    const file = join(dir, 'tracking.yaml')
    const before = (await loadTracking(dir))!
    await writeFile(file, text)
    const heard: TrackingRead[] = []
    let hear: (() => void) | undefined
    const following = followTracking(dir, before, (change) => {
      heard.push(change)
      hear?.()
    })
    onTestFinished(() => following.close())
    const next = async (): Promise<TrackingRead> => {
      if (heard.length === 0) await new Promise<void>((resolve) => (hear = resolve))
      return heard.shift()!
    }
    // The watcher reads the file at its start, which must not be in the middle of a change.
    await next()
    return { dir, file, next }
  }

  it('watchTracking reports a file that is replaced by rename', async () => {
    const { file, next } = await watched()
    await writeFile(`${file}.new`, TWO)
    await rename(`${file}.new`, file)
    expect(ids(await next())).toEqual(['7', '8'])
  })

  it('watchTracking reports a file that is overwritten', async () => {
    const { file, next } = await watched()
    await writeFile(file, TWO)
    expect(ids(await next())).toEqual(['7', '8'])
  })

  it('watchTracking reports a wrong file once, then the corrected file, also if it equals the first one', async () => {
    const { dir, file, next } = await watched()
    await writeFile(file, 'companies: {}')
    const wrong = await next()
    expect([wrong.config, wrong.problems.map((problem) => problemText(problem).replace(`${dir}/`, ''))]).toEqual([
      undefined,
      ['tracking.yaml:1:12 companies: expected a list'],
    ])
    await writeFile(file, ONE)
    expect(ids(await next())).toEqual(['7'])
  })

  it('watchTracking reports that the file was deleted and that it is back', async () => {
    const { dir, file, next } = await watched()
    await rm(file)
    const { problems } = await next()
    expect(problems.map((problem) => problemText(problem).replace(`${dir}/`, ''))).toEqual([
      'tracking.yaml: this file does not exist any more: its last content stays in effect',
    ])
    await writeFile(file, ONE)
    expect(ids(await next())).toEqual(['7'])
  })

  it('watchTracking reports a change that was made before it started', async () => {
    const dir = await folder({ 'tracking.yaml': ONE })
    const before = (await loadTracking(dir))!
    await writeFile(join(dir, 'tracking.yaml'), TWO)
    const heard = await new Promise<TrackingRead>((resolve) => {
      const following = followTracking(dir, before, resolve)
      onTestFinished(() => following.close())
    })
    expect(ids(heard)).toEqual(['7', '8'])
  })

  it('watchTracking reads a secret from another file again when tracking.yaml is overwritten', async () => {
    const { dir, file, next } = await watched()
    await writeFile(file, `companies: [{ company_id: 7, apikeys: ["\${file:${dir}/secret}"] }]`)
    expect((await next()).config?.companies[0].apikeys).toEqual(['a'])
    await writeFile(join(dir, 'secret'), 'b')
    await writeFile(file, `companies: [{ company_id: 7, apikeys: ["\${file:${dir}/secret}"] }]\n`)
    expect((await next()).config?.companies[0].apikeys).toEqual(['b'])
  })
})

function ids({ config: read }: TrackingRead): string[] | undefined {
  return read?.companies.map(({ company_id }) => company_id)
}
