import { yieldToEventLoop } from '../async.ts'
import { pathText } from '../config/node.ts'
import type { Mistake } from '../config/problem.ts'
import type { DeviceFile, PlacedDevice } from './devices.ts'
import { type Device, sameId } from './directory.ts'

/**
 * What is wrong with devices beside one another: the same id or name twice, also in two files, and unknown companies.
 * @param companyIds undefined where they are not known
 * @returns for each of `files` what is wrong in it
 */
export async function fleetMistakes(
  files: readonly DeviceFile[],
  companyIds: ReadonlySet<string> | undefined,
): Promise<Mistake[][]> {
  const byId = new Map<string, Device>()
  const byName = new Map<string, Device>()
  const repeated = await inEach(files, (placed) => [repeatedIn(placed, byId, byName)])
  const wrong = await inEach(files, (placed) => [nameOfAnother(placed, byId), unknownCompany(placed, companyIds)])
  return files.map((_, index) => [...repeated[index], ...wrong[index]])
}

/** Devices of no file as if they were of one, where each is at its place in the list. */
export function unplaced(devices: readonly Device[]): DeviceFile {
  return { devices: devices.map((device, at) => ({ device, at, companyAt: at, nameAt: at })), mistakes: [] }
}

/** What `find` finds wrong with each device of each file. */
async function inEach(
  files: readonly DeviceFile[],
  find: (placed: PlacedDevice) => readonly (Mistake | undefined)[],
): Promise<Mistake[][]> {
  const found = files.map((): Mistake[] => [])
  for (const [index, { devices }] of files.entries())
    for (const placed of devices) {
      await yieldToEventLoop()
      for (const mistake of find(placed)) if (mistake) found[index].push(mistake)
    }
  return found
}

/** Enters a device into both indexes, or says what it repeats. */
function repeatedIn(placed: PlacedDevice, byId: Map<string, Device>, byName: Map<string, Device>): Mistake | undefined {
  const { device, at, nameAt } = placed
  const same = byId.get(sameId(device.id))
  if (same) return { at, key: device.id, message: `this device stands at ${same.source} already` }
  byId.set(sameId(device.id), device)
  if (device.name === undefined) return undefined
  const namesake = byName.get(device.name)
  if (namesake) return { at: nameAt, key: pathText([device.id, 'name']), ...sharedName(device, namesake) }
  byName.set(device.name, device)
  return undefined
}

/** Two trackers of one van share its name; two vans cannot, as lines of routes.csv would mean both. */
function sharedName(device: Device, namesake: Device): Pick<Mistake, 'message' | 'severity'> {
  const which = whichText(namesake)
  if (device.company_id !== namesake.company_id) return { message: `${which}, of another company, has this name too` }
  const [one, other] = [device.courier_id, namesake.courier_id]
  if (one !== undefined && other !== undefined && one !== other)
    return { message: `${which}, with another courier, has this name too` }
  return { severity: 'warning', message: `shared with ${which}: right for two trackers of one van` }
}

/** How a device is told from others: a place in a file does so, the time of a put does not. */
export function whichText({ id, source }: Device): string {
  return source.startsWith('admin ') ? `device ${id} (${source})` : `the device at ${source}`
}

function nameOfAnother({ device, nameAt }: PlacedDevice, byId: ReadonlyMap<string, Device>): Mistake | undefined {
  const other = device.name === undefined ? undefined : byId.get(sameId(device.name))
  if (!other || sameId(other.id) === sameId(device.id)) return undefined
  return { at: nameAt, key: pathText([device.id, 'name']), message: `this is the id of the device at ${other.source}` }
}

function unknownCompany({ device, companyAt }: PlacedDevice, companyIds?: ReadonlySet<string>): Mistake | undefined {
  if (!companyIds || companyIds.has(device.company_id)) return undefined
  const message = `company ${device.company_id} is not among the companies of gateway.yaml`
  return { at: companyAt, key: pathText([device.id, 'company_id']), message }
}
