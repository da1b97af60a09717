import { yieldToEventLoop } from '../async.ts'
import { type Device, type DeviceFile, type PlacedDevice, readDeviceEntry } from './devices.ts'
import { type Mapping, pathText } from './node.ts'
import type { Mistake } from './problem.ts'
import { sameId } from './units.ts'

/**
 * Finds what is wrong with devices together: repeated ids and names, also in two files, and unknown companies.
 * @param companyIds undefined where the companies are not known
 * @returns the mistakes of each of `files`
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

/** Calls `find` for every device, and collects the mistakes of each file. */
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

/** Adds a device to both indexes; returns a mistake where its id or name is already there. */
function repeatedIn(placed: PlacedDevice, byId: Map<string, Device>, byName: Map<string, Device>): Mistake | undefined {
  const { device, at, nameAt } = placed
  const same = byId.get(sameId(device.id))
  if (same) return { at, key: device.id, message: `this device is already defined at ${same.source}` }
  byId.set(sameId(device.id), device)
  if (device.name === undefined) return undefined
  const namesake = byName.get(device.name)
  if (namesake) return { at: nameAt, key: pathText([device.id, 'name']), ...sharedName(device, namesake) }
  byName.set(device.name, device)
  return undefined
}

/** Two trackers of one van may share a name; two vans may not, because a line with the name would mean both. */
function sharedName(device: Device, namesake: Device): Pick<Mistake, 'message' | 'severity'> {
  const which = whichText(namesake)
  if (device.company_id !== namesake.company_id) return { message: `${which} has the same name, but another company` }
  const [one, other] = [device.courier_id, namesake.courier_id]
  if (one !== undefined && other !== undefined && one !== other)
    return { message: `${which} has the same name, but another courier` }
  return { severity: 'warning', message: `${which} has the same name: correct only for two trackers of one van` }
}

/** Names a device by its place in a file; the source of a put is not unique, so its id is added. */
function whichText({ id, source }: Device): string {
  return source.startsWith('admin ') ? `device ${id} (${source})` : `the device at ${source}`
}

function nameOfAnother({ device, nameAt }: PlacedDevice, byId: ReadonlyMap<string, Device>): Mistake | undefined {
  const other = device.name === undefined ? undefined : byId.get(sameId(device.name))
  if (!other || sameId(other.id) === sameId(device.id)) return undefined
  return {
    at: nameAt,
    key: pathText([device.id, 'name']),
    message: `this name is the id of the device at ${other.source}`,
  }
}

function unknownCompany({ device, companyAt }: PlacedDevice, companyIds?: ReadonlySet<string>): Mistake | undefined {
  if (!companyIds || companyIds.has(device.company_id)) return undefined
  const message = `company ${device.company_id} is not among the companies of gateway.yaml`
  return { at: companyAt, key: pathText([device.id, 'company_id']), message }
}

/** A device, or the mistakes of its entry; their keys are keys of the entry, or `id`. */
export type DeviceOrMistakes = { readonly device: Device } | { readonly mistakes: readonly Mistake[] }

/** The devices that a new device is compared with. */
export interface OtherDevices {
  find(id: string): Device | undefined
  /** The devices whose name is this text, also with other leading zeros. */
  named(name: string): readonly Device[]
}

/** Reads an entry that comes from the admin port, by the rules of a file that also contains the other devices. */
export function readDevice(
  { id, entry }: { readonly id: string; readonly entry: Mapping },
  others: OtherDevices,
  companyIds: ReadonlySet<string>,
): DeviceOrMistakes {
  const alone: Mistake[] = []
  const placed = readDeviceEntry({ key: id, keyAt: 0, value: entry }, '', alone)
  const mistakes = placed ? mistakesBeside(placed, others, companyIds) : alone
  if (!placed || mistakes.length > 0) return { mistakes: mistakes.map((mistake) => withoutId(mistake, id)) }
  return { device: placed.device }
}

function mistakesBeside(placed: PlacedDevice, others: OtherDevices, companyIds: ReadonlySet<string>): Mistake[] {
  const { id, name } = placed.device
  const isOther = (device: Device) => sameId(device.id) !== sameId(id)
  const namesakes =
    name === undefined ? [] : others.named(name).filter((other) => other.name === name && isOther(other))
  const owner = name === undefined ? undefined : others.find(name)
  const byId = new Map(owner && [[sameId(owner.id), owner]])
  const named = others.named(id).find(isOther)
  const found: (Mistake | undefined)[] = [
    ...namesakes.map((other) => ({ at: 0, key: pathText([id, 'name']), ...sharedName(placed.device, other) })),
    nameOfAnother(placed, byId),
    unknownCompany(placed, companyIds),
    // A line of routes.csv with this text could mean either device.
    named && { at: 0, message: `${whichText(named)} has this id as its name` },
  ]
  return found.filter((mistake) => mistake !== undefined && mistake.severity === undefined) as Mistake[]
}

function withoutId(mistake: Mistake, id: string): Mistake {
  const { key = id } = mistake
  return { ...mistake, key: key === id ? 'id' : key.replace(id, '').replace(/^\./, '') }
}
