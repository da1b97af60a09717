import type { Mapping } from '../config/node.ts'
import type { Mistake } from '../config/problem.ts'
import { readDeviceEntry } from './devices.ts'
import { type Device, sameId } from './directory.ts'
import { fleetMistakes, unplaced, whichText } from './fleet.ts'

/** A device, or what is wrong with its entry: keys are those of the entry, `id` where the device's id is meant. */
export type DeviceOrMistakes = { readonly device: Device } | { readonly mistakes: readonly Mistake[] }

/** Reads one entry of devices.yaml, of no file. What is wrong with it beside `others` counts as well, as in a file. */
export async function readDevice(
  { id, entry }: { readonly id: string; readonly entry: Mapping },
  { others, companyIds }: { readonly others: readonly Device[]; readonly companyIds: ReadonlySet<string> },
): Promise<DeviceOrMistakes> {
  const alone: Mistake[] = []
  const placed = readDeviceEntry({ key: id, keyAt: 0, value: entry }, '', alone)
  if (!placed) return { mistakes: alone.map((mistake) => withoutId(mistake, id)) }
  const [, beside] = await fleetMistakes([unplaced(others), { devices: [placed], mistakes: [] }], companyIds)
  const mistakes = [...beside.filter(({ severity }) => severity === undefined), ...namesakes(id, others)]
  return mistakes.length > 0 ? { mistakes: mistakes.map((mistake) => withoutId(mistake, id)) } : placed
}

/** A line of routes.csv could not tell an id from the same name. */
function namesakes(id: string, others: readonly Device[]): Mistake[] {
  const namesake = others.find(({ name }) => name !== undefined && sameId(name) === sameId(id))
  return namesake ? [{ at: 0, message: `${whichText(namesake)} has this id as its name` }] : []
}

function withoutId(mistake: Mistake, id: string): Mistake {
  const { key = id } = mistake
  return { ...mistake, key: key === id ? 'id' : key.replace(id, '').replace(/^\./, '') }
}
