import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { adminFixture, TOKEN } from '../support/admin.ts'
import { type Ended, waybridge } from '../support/cli.ts'

const admin = adminFixture({ gateway: `time_zone: Europe/Berlin\nadmin: { port: 0, tokens: [${TOKEN}] }` })

/** Runs the command on a machine in another time zone, without files of the gateway. */
function fromNewYork(...args: string[]): Promise<Ended> {
  return waybridge([...args, '--url', admin.url, '--token', TOKEN], { env: { TZ: 'America/New_York' } })
}

async function put(name: string, ...lines: string[]): Promise<Ended> {
  const file = join(admin.dir, name)
  await writeFile(file, `device,courier_id,route_id,from,until\n${lines.map((line) => `${line}\n`).join('')}`)
  return fromNewYork('routes', 'put', file)
}

async function routesPut(): Promise<string[]> {
  const { json } = await admin.ask('/admin/routes?company_id=7')
  const { results } = json as { results: { route_id: string; source: string }[] }
  return results.filter(({ source }) => source.startsWith('admin ')).map(({ route_id }) => route_id)
}

it('routes put replaces the local days of the gateway, wherever it runs', async () => {
  await put('yesterday.csv', 'Van 12,42,1,2099-11-19 20:00,2099-11-19 23:00')
  await put('tomorrow.csv', 'Van 12,42,3,2099-11-21 00:15,2099-11-21 05:00')
  const { code, out } = await put('today.csv', 'Van 12,42,2,2099-11-20 00:15,2099-11-20 05:00')
  expect([code, out.split('\n')[0]]).toEqual([
    0,
    'company 7, 2099-11-20 00:00 to 2099-11-21 00:00 (Europe/Berlin): 1 added, 0 changed, 0 removed',
  ])
  expect(await routesPut()).toEqual(['1', '2', '3'])
})

it('routes put does not change days on which none of its lines begins', async () => {
  await put(
    'saturday.csv',
    'Van 12,42,6,2099-11-20 23:00,2099-11-21 03:00',
    'Van 12,42,7,2099-11-21 06:00,2099-11-21 20:00',
  )
  const { code, out } = await put(
    'week.csv',
    'Van 12,42,5,2099-11-20 06:00,2099-11-20 20:00',
    'Van 12,42,8,2099-11-23 06:00,2099-11-23 20:00',
  )
  expect([code, out.split('\n').filter((line) => line.startsWith('company'))]).toEqual([
    0,
    [
      'company 7, 2099-11-20 00:00 to 2099-11-21 00:00 (Europe/Berlin): 1 added, 0 changed, 1 removed',
      'company 7, 2099-11-23 00:00 to 2099-11-24 00:00 (Europe/Berlin): 1 added, 0 changed, 0 removed',
    ],
  ])
  expect(await routesPut()).toEqual(['5', '7', '8'])
})
