import type { DeviceRowJson } from '../admin/schemas/devices.ts'
import { csvCell } from '../config/csv.ts'
import { UserError } from '../errors.ts'
import { type AdminPortOptions, findAdminPort } from './admin-port.ts'
import { listDevices, namedDevices, readChain } from './client.ts'
import { printExact, printLines, table } from './output.ts'

interface DevicesOptions extends AdminPortOptions, Readonly<Partial<Record<(typeof FILTERS)[number], string>>> {
  readonly json?: boolean
  readonly csv?: boolean
}

/** `waybridge devices`: a line for each device. @returns the exit code @throws UserError */
export async function devicesCommand(options: DevicesOptions): Promise<number> {
  if (options.csv && options.json) throw new UserError('devices: give --csv or --json, not both.')
  const admin = await findAdminPort(options)
  const query = Object.fromEntries(
    FILTERS.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  )
  const devices = await listDevices(admin, query)
  const rows = devices.map((device) => columnsOf(device, Date.now()))
  if (options.json) printExact([JSON.stringify({ results: devices }, undefined, 2)])
  else if (options.csv) printLines(csvLines(devices))
  else
    printLines(
      rows.length > 0
        ? table(['device', 'name', 'does', 'heard', 'courier', 'route', 'findings'], rows)
        : ['no device'],
    )
  return 0
}

/**
 * `waybridge where DEVICE`: prints state, place, age of the last fix, courier and route. @returns the exit code @throws
 * UserError
 */
export async function whereCommand(
  words: readonly string[],
  options: AdminPortOptions & { readonly json?: boolean },
): Promise<number> {
  const admin = await findAdminPort(options)
  const devices = await namedDevices(admin, words.join(' '))
  const answers = await Promise.all(devices.map(({ id }) => readChain(admin, id)))
  if (options.json) printExact(answers.map(({ chain, text }) => (chain ? JSON.stringify(chain.device) : text)))
  // The sentence begins with the place, followed by what is wrong.
  else {
    const texts = answers.map(({ chain, missing }) => chain?.sentence.split('; ', 1)[0] ?? missing)
    printLines(devices.length > 1 ? texts.map((text, index) => `${devices[index].id}: ${text}`) : texts)
  }
  return 0
}

function columnsOf(device: DeviceRowJson, now: number): string[] {
  const { condition, findings, id, lane, last_heard, name = '' } = device
  const heard = last_heard?.at === undefined ? 'never' : `${ageText(now - Date.parse(last_heard.at))} ago`
  return [id, name, condition, heard, lane?.courier_id ?? '', lane?.route_id ?? '', findings.join(' ')]
}

function csvLines(devices: readonly DeviceRowJson[]): string[] {
  const rows = devices.map((device) => Object.values(CSV).map((of) => String(of(device) ?? '')))
  return [Object.keys(CSV), ...rows].map((row) => row.map(csvCell).join(','))
}

/** How long ago something was, in one unit. */
export function ageText(ms: number): string {
  const s = Math.max(0, Math.round(ms / 1000))
  if (s < 120) return `${s} s`
  if (s < 7200) return `${Math.round(s / 60)} min`
  return s < 172_800 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86_400)} days`
}

const FILTERS = ['state', 'mapping', 'condition', 'q'] as const
/** The columns of CSV, and what each has of a device. */
const CSV: Readonly<Record<string, (device: DeviceRowJson) => string | number | undefined>> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  state: ({ state }) => state,
  condition: ({ condition }) => condition,
  mapping: ({ mapping }) => mapping,
  heard_at: ({ last_heard }) => last_heard?.at,
  fix_at: ({ position }) => position?.at,
  lat: ({ position }) => position?.lat,
  lon: ({ position }) => position?.lon,
  speed: ({ position }) => position?.speed,
  courier_id: ({ lane }) => lane?.courier_id,
  route_id: ({ lane }) => lane?.route_id,
  findings: ({ findings }) => findings.join(' '),
}
