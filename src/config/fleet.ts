import { yieldToEventLoop } from '../async.ts'
import { sameId } from '../domain/ids.ts'
import { say, type Text } from '../texts/text.ts'
import { type Device, type DeviceFile, type PlacedDevice, readDeviceEntry } from './devices.ts'
import { type Mapping, pathText } from './node.ts'
import { unknownProtocol } from './listener.ts'
import type { Mistake } from './problem.ts'

/** The devices that a device is compared with. */
interface OtherDevices {
  find(id: string): Device | undefined
  /** Returns the devices whose name is this text, also with other leading zeros. */
  named(name: string): readonly Device[]
}

/** Names that an entry may refer to; undefined: not known here. */
export interface KnownNames {
  readonly companyIds?: ReadonlySet<string>
  readonly protocolNames?: readonly string[]
}

/**
 * Finds mistakes among all devices: repeated ids and names, also across files, unknown companies and protocols. @returns the
 * mistakes of each of `files`
 */
export async function fleetMistakes(files: readonly DeviceFile[], known: KnownNames): Promise<Mistake[][]> {
  const byId = new Map<string, Device>()
  const byName = new Map<string | undefined, Device>()
  for (const { device } of files.flatMap(({ devices }) => devices)) {
    await yieldToEventLoop()
    const id = sameId(device.id)
    if (byId.has(id)) continue
    byId.set(id, device)
    if (!byName.has(device.name)) byName.set(device.name, device)
  }
  const first = { find: (id: string) => byId.get(sameId(id)), named: (name: string) => [byName.get(name) ?? []].flat() }
  const found = files.map((): Mistake[] => [])
  for (const [index, { devices }] of files.entries())
    for (const placed of devices) {
      await yieldToEventLoop()
      found[index].push(...repeatedId(placed, first), ...mistakesBeside(placed, first, known))
    }
  return found
}

function repeatedId({ device, at }: PlacedDevice, { find }: OtherDevices): Mistake[] {
  const same = find(device.id)
  if (!same || same === device) return []
  return [{ at, key: device.id, message: `this device is already defined at ${same.source}` }]
}

function mistakesBeside(
  placed: PlacedDevice,
  others: OtherDevices,
  { companyIds, protocolNames }: KnownNames,
): Mistake[] {
  const { device, nameAt, companyAt, protocolAt } = placed
  const { id, name, company_id, protocol } = device
  const isOther = (other: Device) => sameId(other.id) !== sameId(id)
  const found: Mistake[] = []
  if (name !== undefined) {
    const key = pathText([id, 'name'])
    for (const other of others.named(name))
      if (other.name === name && isOther(other)) found.push({ at: nameAt, key, ...sharedName(device, other) })
    const owner = others.find(name)
    if (owner && isOther(owner))
      found.push({ at: nameAt, key, message: say('this name is the id of {}', whichText(owner)) })
  }
  if (companyIds && !companyIds.has(company_id)) {
    const message = say('company {} is not among the companies of gateway.yaml', company_id)
    found.push({ at: companyAt, key: pathText([id, 'company_id']), message })
  }
  if (protocol !== undefined && protocolNames?.includes(protocol) === false)
    found.push({
      at: protocolAt,
      key: pathText([id, 'protocol']),
      message: unknownProtocol(protocol, protocolNames),
    })
  return found
}

/** Two trackers of one van may share a name; two vans may not, because a line with the name would mean both. */
function sharedName(device: Device, namesake: Device): Pick<Mistake, 'message' | 'severity'> {
  const which = whichText(namesake)
  if (device.company_id !== namesake.company_id)
    return { message: say('{} has the same name, but another company', which) }
  const [one, other] = [device.courier_id, namesake.courier_id]
  if (one !== undefined && other !== undefined && one !== other)
    return { message: say('{} has the same name, but another courier', which) }
  return {
    severity: 'warning',
    message: say('{} has the same name: correct only for two trackers of one van', which),
  }
}

/** Names a device by its place in a file; the source of a put is not unique, so its id is added. */
function whichText({ id, source }: Device): Text {
  return source.startsWith('admin ') ? say('device {} ({})', id, source) : say('the device at {}', source)
}

/**
 * Reads an entry that comes from the admin port, by the rules of a file that also contains the other devices.
 * @returns a device, or the mistakes of its entry; their keys are keys of the entry, or `id`
 */
export function readDevice(
  { id, entry }: { readonly id: string; readonly entry: Mapping },
  others: OtherDevices,
  known: KnownNames,
): { readonly device: Device } | { readonly mistakes: readonly Mistake[] } {
  const mistakes: Mistake[] = []
  const placed = readDeviceEntry({ key: id, keyAt: 0, value: entry }, '', mistakes)
  if (placed) {
    mistakes.push(...mistakesBeside(placed, others, known))
    // A line of routes.csv with this text could mean either device.
    const named = others.named(id).find((other) => sameId(other.id) !== sameId(id))
    if (named) mistakes.push({ at: 0, message: say('{} has this id as its name', whichText(named)) })
  }
  const wrong = mistakes.filter(({ severity = 'mistake' }) => severity === 'mistake')
  if (placed && wrong.length === 0) return { device: placed.device }
  return { mistakes: wrong.map(({ key = id, ...rest }) => ({ ...rest, key: key.slice(id.length + 1) || 'id' })) }
}
