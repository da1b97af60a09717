import { type DeviceFile, readDeviceEntry } from './devices.ts'
import { type Device, sameId } from './directory.ts'
import { fleetMistakes } from './fleet.ts'
import type { Mistake } from './problem.ts'
import { parseYaml, repeatedKeys, withoutEchoes } from './yaml.ts'

/** A device, or what is wrong with its entry: keys are those of the entry, absent where the device's id is meant. */
export type DeviceOrMistakes = { readonly device: Device } | { readonly mistakes: readonly Mistake[] }

/**
 * Reads an entry of devices.yaml that is JSON: `{"company_id": 7, "courier_id": "42"}`; references are no references here.
 * What is wrong with it beside `others` counts as well, as in a file.
 */
export async function readDeviceJson(
  { id, json, source }: { readonly id: string; readonly json: string; readonly source: string },
  { others, companyIds }: { readonly others: readonly Device[]; readonly companyIds: ReadonlySet<string> },
): Promise<DeviceOrMistakes> {
  // JSON is YAML, and there ids have their digits.
  const { root, mistakes: unread } = parseYaml(json, (text) => ({ text }))
  if (root?.kind !== 'mapping') return { mistakes: [{ at: 0, message: 'expected an object with company_id' }] }
  const meaning: Mistake[] = []
  const placed = readDeviceEntry({ key: id, keyAt: 0, value: root }, source, meaning)
  const alone = withoutEchoes([...unread, ...repeatedKeys(root, [id])], meaning)
  if (!placed || alone.length > 0) return { mistakes: alone.map((mistake) => withoutId(mistake, id)) }
  const files: DeviceFile[] = [fileOf(others), { devices: [placed], mistakes: [] }]
  const [, beside] = await fleetMistakes(files, companyIds)
  const mistakes = [...beside.filter(({ severity }) => severity === undefined), ...namesakes(id, others)]
  return mistakes.length > 0 ? { mistakes: mistakes.map((mistake) => withoutId(mistake, id)) } : placed
}

/** A line of routes.csv could not tell an id from the same name. */
function namesakes(id: string, others: readonly Device[]): Mistake[] {
  const namesake = others.find(({ name }) => name !== undefined && sameId(name) === sameId(id))
  return namesake ? [{ at: 0, message: `the device at ${namesake.source} has this id as its name` }] : []
}

function fileOf(devices: readonly Device[]): DeviceFile {
  return { devices: devices.map((device) => ({ device, at: 0, companyAt: 0, nameAt: 0 })), mistakes: [] }
}

function withoutId(mistake: Mistake, id: string): Mistake {
  const { key } = mistake
  return { ...mistake, key: key?.startsWith(`${id}.`) ? key.slice(id.length + 1) : undefined }
}
