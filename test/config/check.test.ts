import { join } from 'node:path'
import { expect, it } from 'vitest'
import { check } from '../../src/cli/check.ts'
import { loadConfig } from '../../src/config/files.ts'
import { ConfigError, problemText } from '../../src/config/problem.ts'
import { COMPANY, checked, folder, loadedFolder, PROTOCOLS } from '../support/config-folder.ts'

const FLEET = {
  'gateway.yaml': COMPANY,
  'devices.yaml': '1: { name: A, company_id: 7, courier_id: 41 }\n2:\n  { name: B, company_id: 7, courier_id: 42 }\n',
}

async function warnings(routes: string, files: Record<string, string> = FLEET): Promise<string[]> {
  return (await checked({ ...files, 'routes.csv': `device,route_id,from,until\n${routes}` })).warnings
}

const TODAY = '2026-11-20 06:00,2026-11-20 20:00'

it('check reports nothing about a valid configuration', async () =>
  expect(await checked({ ...FLEET, 'routes.csv': `device,route_id,from,until\nA,1,${TODAY}\nB,2,${TODAY}\n` })).toEqual(
    {
      mistakes: [],
      warnings: [],
    },
  ))

it('check warns about overlapping lines of a device', async () =>
  expect(
    await warnings(
      `A,1,${TODAY}\nB,2,${TODAY}\nA,3,2026-11-20 12:00,2026-11-20 13:00\nA,4,2026-11-20 14:00,2026-11-20 21:00\n`,
    ),
  ).toEqual([
    'routes.csv:4: from: overlaps routes.csv:2 for device 1: the later from wins',
    'routes.csv:5: from: overlaps routes.csv:2 for device 1: the later from wins',
  ]))

it('check accepts a line that begins when another one ends', async () =>
  expect(await warnings(`A,1,${TODAY}\nB,2,${TODAY}\nA,3,2026-11-20 20:00,2026-11-20 21:00\n`)).toEqual([]))

it('check warns about two devices on one route at the same time', async () =>
  expect(await warnings(`A,1,${TODAY}\nB,1,2026-11-20 12:00,2026-11-20 21:00\n`)).toEqual([
    'routes.csv:3: route_id: devices 1 and 2 are on route 1 at the same time: both are pushed',
  ]))

it('check warns about a line with the route of another device’s entry', async () => {
  const devices =
    '1: { company_id: 7, courier_id: 41, route_id: 5 }\n2: { company_id: 7, courier_id: 42, route_id: 6 }\n'
  expect(await warnings(`2,5,${TODAY}\n`, { ...FLEET, 'devices.yaml': devices })).toEqual([
    'routes.csv:2: route_id: devices 1 and 2 are on route 5 at the same time: both are pushed',
  ])
})

it('check accepts two devices on one route one after the other, and one route id in two companies', async () => {
  const files = {
    'gateway.yaml': 'companies: [{ company_id: 7, apikey: a }, { company_id: 8, apikey: b }]',
    'devices.yaml':
      '1: { company_id: 7, courier_id: 1 }\n2: { company_id: 8, courier_id: 1 }\n3: { company_id: 7, courier_id: 1 }\n',
  }
  const routes = `1,1,2026-11-20 06:00,2026-11-20 12:00\n2,1,${TODAY}\n3,1,2026-11-20 12:00,2026-11-20 20:00\n`
  expect(await warnings(routes, files)).toEqual([])
})

it('check warns about devices without a route today, with their place in the file', async () =>
  expect(await warnings('A,1,2026-11-19 06:00,2026-11-20 00:00\nB,2,2026-11-21 00:00,\n')).toEqual([
    'devices.yaml:1:1 1: this device has no route today',
    'devices.yaml:2:1 2: this device has no route today',
    'routes.csv:2: until: this line ended before today: only fixes of that time follow it',
  ]))

it('check uses time_zone to decide which day is today', async () => {
  const files = { ...FLEET, 'gateway.yaml': `${COMPANY}time_zone: Pacific/Kiritimati\n` }
  expect(await warnings('A,1,2026-11-21 06:00,\nB,2,2026-11-21 06:00,\n', files)).toEqual([])
})

it('check reports bad lines of routes together with mistakes in other files', async () =>
  expect(
    (
      await checked({
        ...FLEET,
        'gateway.yaml': 'workers: x',
        'routes.csv': 'device,route_id,date\nA,x,2026-11-20\n',
      })
    ).mistakes,
  ).toContain('routes.csv:2: route_id: expected an id: a whole number from 0 to 9223372036854775807, not "x"'))

it('check reports a directory that does not exist', async () => {
  const dir = join(await folder({}), 'none')
  const { mistakes } = await check(dir, PROTOCOLS, 0)
  expect(mistakes.map(problemText)).toEqual([`${dir}: there is no such directory: \`waybridge init ${dir}\` makes one`])
})

it('check reports a file that cannot be read', async () => {
  const dir = await folder({ 'gateway.yaml/x': '' })
  expect((await check(dir, PROTOCOLS, 0)).mistakes.map(problemText)).toEqual([
    `${dir}/gateway.yaml: cannot be read (EISDIR)`,
  ])
})

it('loadConfig throws one error with a line for each mistake', async () => {
  const dir = await folder({ 'gateway.yaml': 'workers: x\nlog: { level: y }', 'devices.yaml': '1: { x: 1 }' })
  const error = await loadConfig(dir, PROTOCOLS).catch((caught: unknown) => caught)
  expect(error).toBeInstanceOf(ConfigError)
  expect((error as ConfigError).message.replaceAll(`${dir}/`, '').split('\n')).toEqual([
    'gateway.yaml:1:10 workers: expected a whole number from 1 to 1024',
    'gateway.yaml:2:15 log.level: expected one of trace, debug, info, warn, error, fatal',
    'devices.yaml:1:4 1.company_id: missing',
    'devices.yaml:1:6 1.x: unknown key: expected one of company_id, name, courier_id, route_id, time_zone, secret, previous_secret, protocol, transports, networks, client_certificate, trial, feed, model, settings',
  ])
})

it('loadConfig accepts warnings and leaves bad lines out', async () => {
  const routes = `device,route_id,from,until\nA,1,${TODAY}\nA,2,${TODAY}\nC,1,${TODAY}\n`
  const { problems, routes: lines } = await loadedFolder(await folder({ ...FLEET, 'routes.csv': routes }))
  expect(lines.map(({ route_id }) => route_id)).toEqual(['1', '2'])
  expect(
    problems.filter(({ key }) => key === 'from' || key === 'device').map(({ severity, line }) => [severity, line]),
  ).toEqual([
    ['left_out', 4],
    ['warning', 3],
  ])
})
