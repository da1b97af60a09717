import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { connectionsThatFit, openFilesMistake } from '../../src/config/open-files.ts'
import { folder } from '../support/config-folder.ts'
import { CLI } from '../support/processes.ts'

it('a tenth of the open files, at most 1,000, is reserved for other files than connections', () => {
  expect([1024, 4096, 20_000, 1_048_576].map((files) => connectionsThatFit(files))).toEqual([
    921, 3686, 19_000, 1_047_576,
  ])
})

it('an unknown limit of open files does not limit the connections', () => {
  expect([
    connectionsThatFit(Number.POSITIVE_INFINITY),
    openFilesMistake(10_000_000, 1, Number.POSITIVE_INFINITY),
  ]).toEqual([Number.POSITIVE_INFINITY, undefined])
})

it('too many connections for the limit of open files are refused with what fits and what to do', () => {
  expect(openFilesMistake(19_001, 1, 20_000)).toBe(
    '19001 connections need 20001 open files, and a process may open 20000: raise that limit (ulimit -n, LimitNOFILE), or set at most 19000',
  )
  const fitting = [openFilesMistake(19_000, 1, 20_000), openFilesMistake(Number.NaN, 1, 20_000)]
  expect(fitting).toEqual([undefined, undefined])
})

it('the limit of open files applies to each gateway if several share the connections', () => {
  expect(openFilesMistake(100_000, 6, 20_000)).toBe(undefined)
  expect(openFilesMistake(100_000, 4, 20_000)).toBe(
    '25000 connections of each gateway need 26000 open files, and a process may open 20000: raise that limit (ulimit -n, LimitNOFILE), or set at most 76000',
  )
})

it.for([
  ['refuses more connections than fit', 'limits: { max_connections: 5000 }', 1],
  ['accepts as many as fit', 'limits: { max_connections: 1800 }', 0],
  ['lowers the default to what fits', '', 0],
] as const)('under ulimit -n 2000, check %s', async ([, yaml, exit]) => {
  const dir = await folder({ 'gateway.yaml': yaml })
  const command = `ulimit -n 2000; exec "${process.execPath}" "${CLI}" check --config "${dir}"`
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.on('data', (part) => (out += part))
  const [code] = await once(child, 'close')
  expect(code).toBe(exit)
  if (exit === 1)
    expect(out).toContain('limits.max_connections: 5000 connections need 5200 open files, and a process may open 2000')
})
