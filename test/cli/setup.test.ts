import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { loadProtocol } from '../../protocols/index.ts'
import { loadSetup, protocolsWithSetup } from '../../protocols/setups.ts'
import { waybridge } from '../support/cli.ts'

it('setup fills in what points a tracker to the server', async () => {
  const { code, out } = await waybridge(['setup', 'teltonika', '--host', 'gps.example.com', '--apn', 'm2m'])
  expect(code).toBe(0)
  expect(out).toContain('\n  setparam 2001:m2m;2002:;2003:;2004:gps.example.com;2005:5027;2006:0;113:1\n')
})

it('setup uses the given port', async () => {
  const { out } = await waybridge(['setup', 'ruptela', '--host', '203.0.113.7', '--port', '5000'])
  expect(out).toContain('\npass setconnection internet,,,TCP,203.0.113.7,5000\n')
})

it('setup uses the port of the configuration, and says that a protocol has none', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'waybridge-setup-'))
  onTestFinished(() => rm(dir, { recursive: true }))
  const listeners = 'listeners:\n  - { transport: tcp, port: 34827, protocol: ruptela }\n'
  await writeFile(join(dir, 'gateway.yaml'), `data_dir: ${dir}\n${listeners}`)
  const { out } = await waybridge(['setup', 'ruptela', '--host', '203.0.113.7', '--config', dir])
  expect(out).toContain('\npass setconnection internet,,,TCP,203.0.113.7,34827\n')
  const { code, errors } = await waybridge(['setup', 'teltonika', '--host', '203.0.113.7', '--config', dir])
  expect([code, errors]).toEqual([1, expect.stringContaining('has no listener for teltonika')])
  const { out: listed } = await waybridge(['protocols', '--config', dir])
  expect(listed.trimEnd().split('\n').slice(1)).toEqual([expect.stringMatching(/^ruptela +tcp 34827 /)])
})

it.each([
  [['--host', 'a', '--port', 'x'], '--port x: expected a port from 1 to 65535.\n'],
  [['--host', 'a', '--port', '65536'], '--port 65536: expected a port from 1 to 65535.\n'],
  [['--host', ''], '--host: empty; give the name or address of this server.\n'],
])('setup refuses %j', async (options, errors) =>
  expect(await waybridge(['setup', 'teltonika', ...options])).toEqual({ code: 1, out: '', errors }),
)

it('setup says what to set if no manual is known, and names the most similar protocol', async () => {
  const { code, errors } = await waybridge(['setup', 'fix', '--host', 'a'])
  expect([code, errors]).toEqual([1, expect.stringContaining('the manual of fix is not known here')])
  const { errors: unknown } = await waybridge(['setup', 'teltonica', '--host', 'a'])
  expect(unknown).toContain('did you mean teltonika?')
})

it.each(protocolsWithSetup)('the set-up of %s has a manual, and its steps use only known values', async (name) => {
  const setup = await loadSetup(name)
  expect(await loadProtocol(name)).toBeDefined()
  expect(setup?.manual).not.toBe('')
  const fields = setup?.steps.flatMap((step) => [...step.matchAll(/\{(\w+)\}/g)].map(([, field]) => field))
  expect(['apn', 'host', 'password', 'port', 'user']).toEqual(expect.arrayContaining([...new Set(fields)]))
  expect(fields).toEqual(expect.arrayContaining(['host', 'port']))
})
