import { nearest } from '../config/problem.ts'
import { UserError } from '../errors.ts'
import type { AdminPort } from './admin-port.ts'
import { DeviceAnswer, DevicesPage, type ListedDevice, NoDevice } from './answers.ts'
import { ask, bodyOf, jsonOf } from './ask.ts'
import { printable } from './output.ts'

/** All devices that the gateway knows, in its order. @throws UserError */
export async function listDevices(admin: AdminPort): Promise<ListedDevice[]> {
  const devices: ListedDevice[] = []
  let token: string | undefined
  do {
    const query = { max_results: '1000', page_token: token }
    const page: DevicesPage = jsonOf(admin, await ask(admin, { path: '/admin/devices', query }), DevicesPage)
    devices.push(...page.results)
    token = page.next_page_token
  } while (token !== undefined)
  return devices
}

/** The devices with an id, else with a name; two trackers of one van share it. @throws UserError where there is none */
export async function devicesCalled(admin: AdminPort, idOrName: string): Promise<DeviceAnswer[]> {
  const device = await deviceWithId(admin, idOrName)
  if (device) return [device]
  const all = await listDevices(admin)
  const named = all.filter(({ name }) => name === idOrName)
  if (named.length === 0) throw new UserError(nobody(idOrName, all))
  const found = await Promise.all(named.map(({ id }) => deviceWithId(admin, id)))
  return found.filter((each) => each !== undefined)
}

/** One that was deleted while a file still has it is there too: it is to be said. */
async function deviceWithId(admin: AdminPort, id: string): Promise<DeviceAnswer | undefined> {
  const answer = await ask(admin, { path: `/admin/devices/${segment(id)}` })
  if (answer.status !== 404) return jsonOf(admin, answer, DeviceAnswer)
  const { deleted_at } = bodyOf(admin, answer, NoDevice)
  return deleted_at === undefined ? undefined : { id, configured: false, deleted_at, held: [] }
}

/** Of a path: an id may be `..`. */
function segment(id: string): string {
  return /^\.+$/.test(id) ? id.replaceAll('.', '%2E') : encodeURIComponent(id)
}

function nobody(idOrName: string, all: readonly ListedDevice[]): string {
  const names = all.flatMap(({ id, name }) => (name === undefined ? [id] : [name, id]))
  const near = nearest(idOrName, names)
  const hint = near === undefined ? 'look at GET /admin/devices, or configure it' : `did you mean ${near}?`
  return printable(`No device has the id or the name "${idOrName}": ${hint}`)
}
