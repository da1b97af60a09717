import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { int64 } from '../domain/units.ts'
import { UserError } from '../errors.ts'
import { type ImportOptions, takeList } from './device-import.ts'
import { countText, listText, printExact, printLines } from './output.ts'
import { readArgument } from './routes.ts'

interface TraccarOptions extends Omit<ImportOptions, 'url' | 'token'> {
  /** Of the Traccar server. */
  readonly url?: string
  readonly token?: string
  readonly adminUrl?: string
  readonly adminToken?: string
  readonly group?: string
  readonly couriers?: boolean
  readonly toTrial?: boolean
}

/** The used part of a fleet in Traccar's REST API. */
interface TraccarFleet {
  readonly devices: readonly TraccarDevice[]
  readonly groups: readonly TraccarGroup[]
  /** The drivers of each device, by its number there; undefined: not asked for. */
  readonly drivers?: ReadonlyMap<number, readonly TraccarDriver[]>
  /** The protocols of the latest positions. */
  readonly protocols: readonly string[]
}

interface TraccarDevice {
  readonly id: number
  readonly name: string
  readonly uniqueId: string
  readonly groupId?: number
  readonly disabled?: boolean
  readonly attributes?: unknown
}

interface TraccarGroup {
  readonly id: number
  readonly name: string
  readonly groupId?: number
}

interface TraccarDriver {
  readonly name: string
  readonly uniqueId: string
}

/**
 * `waybridge import traccar`: imports the devices of a Traccar server, through its REST API or from a file with the answer of
 * `GET /api/devices`. @returns the exit code: 1 if a device is skipped @throws UserError
 */
export async function importTraccarCommand(file: string | undefined, options: TraccarOptions): Promise<number> {
  const { adminToken, adminUrl, column = [], group, couriers, toTrial, token, url, ...rest } = options
  if ((file === undefined) === (url === undefined))
    throw new UserError('import traccar: give --url and --token of the server, or a file with its devices.')
  const server = url === undefined ? undefined : serverAt(url, token ?? process.env.WAYBRIDGE_TRACCAR_TOKEN)
  const fleet = server
    ? await readServer(server, couriers === true)
    : fleetIn(await readArgument(file as string), file as string)
  const name = server?.origin ?? file ?? ''
  const { entries, notes } = entriesOf(fleet, { column, group, couriers })
  if (!rest.json) printLines(notes.map((note) => `${name}: ${note}`))
  if (entries.length === 0) throw new UserError(`${name}: there is no device to take over.`)
  const code = await takeList('import', { name, json: entries }, { ...rest, column, url: adminUrl, token: adminToken })
  if (toTrial && !rest.json) printExact(await trialLines(fleet.protocols, server?.host))
  return code
}

/** A Traccar server, and the token for it. */
interface TraccarServer extends Pick<URL, 'origin'> {
  /** Its name, or its address without brackets. */
  readonly host: string
  /** Without a slash at its end. */
  readonly base: string
  readonly token: string
}

function serverAt(url: string, token: string | undefined): TraccarServer {
  const parsed = URL.parse(url)
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.username || parsed.search || parsed.hash)
    throw new UserError('--url: expected the address of the Traccar server, such as https://traccar.example:8082.')
  if (!token?.trim())
    throw new UserError('--token: give the token of a user of the Traccar server (or WAYBRIDGE_TRACCAR_TOKEN).')
  if (/[^!-~]/.test(token.trim())) throw new UserError('--token: expected printable characters without spaces.')
  const { hostname, origin, pathname } = parsed
  return {
    origin,
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    base: origin + pathname.replace(/\/+$/, ''),
    token: token.trim(),
  }
}

async function readServer(server: TraccarServer, withDrivers: boolean): Promise<TraccarFleet> {
  // An administrator sees all devices only with this parameter; other users are refused.
  const all = await ask(server, '/api/devices?all=true', REFUSED)
  const devices = devicesIn(all ?? (await ask(server, '/api/devices')), server.origin)
  const groups = await ask(server, `/api/groups${all ? '?all=true' : ''}`)
  const positions = await ask(server, '/api/positions', REFUSED)
  return {
    devices,
    groups: objectsIn(groups).filter(isGroup),
    protocols: protocolsIn(positions),
    drivers: withDrivers ? await driversOf(server, devices) : undefined,
  }
}

async function driversOf(server: TraccarServer, devices: readonly TraccarDevice[]) {
  const drivers = new Map<number, TraccarDriver[]>()
  for (const { id } of devices) {
    const answer = await ask(server, `/api/drivers?deviceId=${id}`)
    drivers.set(id, objectsIn(answer).filter(isDriver))
  }
  return drivers
}

/** The JSON of an answer; undefined for a status of `mayBe`. @throws UserError */
async function ask(
  { base, origin, token }: TraccarServer,
  path: string,
  mayBe: readonly number[] = [],
): Promise<unknown> {
  for (let tries = 1; ; tries++) {
    const answer = await request(base + path, {
      headers: { authorization: `Bearer ${token}`, accept: 'application/json' },
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
    }).catch((error: NodeJS.ErrnoException) => {
      throw new UserError(`${origin} does not answer (${error.code ?? error.name}).`)
    })
    const { statusCode: status } = answer
    const text = await answer.body.text().catch(() => undefined)
    if (mayBe.includes(status)) return undefined
    if (status === 429 && tries < MOST_TRIES) {
      await sleep(PAUSE_MS)
      continue
    }
    if (status === 401 || status === 403) throw new UserError(`${origin} refuses the token (${status}).`)
    if (status !== 200) throw new UserError(`${origin} answers ${status} for ${path.replace(/\?.*/, '')}.`)
    try {
      return JSON.parse(text ?? '')
    } catch {
      throw new UserError(`${origin} does not answer like a Traccar server: its answer is not JSON.`)
    }
  }
}

/** The fleet in a file: the answer of `GET /api/devices`, or an object with `devices`, `groups` and `positions`. @throws UserError */
function fleetIn(bytes: Buffer, file: string): TraccarFleet {
  let json: unknown
  try {
    json = JSON.parse(bytes.toString().replace(/^\ufeff/, ''))
  } catch {
    throw new UserError(`${file}: expected JSON, the answer of GET /api/devices; for a table use \`import csv\`.`)
  }
  const { devices = json, groups, positions } = (Array.isArray(json) ? {} : json) as Record<string, unknown>
  return {
    devices: devicesIn(devices, file),
    groups: objectsIn(groups).filter(isGroup),
    protocols: protocolsIn(positions),
  }
}

function devicesIn(json: unknown, place: string): TraccarDevice[] {
  if (!Array.isArray(json)) throw new UserError(`${place}: expected a list of devices.`)
  return objectsIn(json).filter(isDevice)
}

function objectsIn(json: unknown): Record<string, unknown>[] {
  return (Array.isArray(json) ? json : []).filter((each) => typeof each === 'object' && each !== null)
}

function isDevice(object: Record<string, unknown>): object is Record<string, unknown> & TraccarDevice {
  return typeof object.id === 'number' && typeof object.uniqueId === 'string'
}

function isGroup(object: Record<string, unknown>): object is Record<string, unknown> & TraccarGroup {
  return typeof object.id === 'number' && typeof object.name === 'string'
}

function isDriver(object: Record<string, unknown>): object is Record<string, unknown> & TraccarDriver {
  return typeof object.uniqueId === 'string' && typeof object.name === 'string'
}

function protocolsIn(positions: unknown): string[] {
  const names = objectsIn(positions).flatMap(({ protocol }) => (typeof protocol === 'string' ? protocol : []))
  return [...new Set(names)].toSorted()
}

/** Returns the rows of the list, and notes on what is skipped. */
function entriesOf(
  { devices, groups, drivers }: TraccarFleet,
  { column = [], group, couriers }: Pick<TraccarOptions, 'column' | 'group' | 'couriers'>,
) {
  const more = column.map((text) => text.slice(text.indexOf('=') + 1))
  const within = group === undefined ? undefined : groupsBelow(group, groups)
  const inGroup = devices.filter(({ groupId = 0 }) => within === undefined || within.has(groupId))
  const taken = inGroup.filter(({ disabled }) => !disabled)
  const disabled = inGroup.length - taken.length
  const notes = [
    ...(within ? [`${countText(inGroup.length, 'device')} of ${devices.length} in the group ${group}`] : []),
    ...(disabled > 0 ? [`${countText(disabled, 'device')} left out: disabled there`] : []),
    ...groupNotes(taken, groups),
  ]
  for (const key of more)
    if (taken.every((device) => fieldOf(device, key) === ''))
      notes.push(`no device has ${key}, neither itself nor among its attributes`)
  const entries = taken.map((device) => {
    const { id, name, uniqueId } = device
    const courier = drivers && courierOf(drivers.get(id) ?? [])
    if (courier !== undefined && 'note' in courier) notes.push(`${name || uniqueId}: ${courier.note}`)
    return {
      device: uniqueId,
      name: typeof name === 'string' ? name : '',
      ...(couriers && { courier_id: courier !== undefined && 'id' in courier ? courier.id : '' }),
      ...Object.fromEntries(more.map((key) => [key, fieldOf(device, key)])),
    }
  })
  return { entries, notes }
}

/** A field of a device, or one of its attributes, as text. */
function fieldOf(device: TraccarDevice, key: string): string {
  const { attributes } = device
  const own = Object.entries(typeof attributes === 'object' && attributes !== null ? attributes : {})
  const value: unknown = new Map<string, unknown>([...Object.entries(device), ...own]).get(key)
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** The numbers of a group and of all below it. @throws UserError if there is no such group */
function groupsBelow(name: string, groups: readonly TraccarGroup[]): Set<number> {
  const found = new Set(groups.filter((group) => group.name === name).map(({ id }) => id))
  if (found.size === 0)
    throw new UserError(
      `--group ${name}: there is no such group${groups.length > 0 ? `; there are ${listText(groups.map((group) => group.name))}` : ''}.`,
    )
  for (let before = 0; before < found.size; ) {
    before = found.size
    for (const { id, groupId = 0 } of groups) if (found.has(groupId)) found.add(id)
  }
  return found
}

/** Returns the number of devices in each group: each can be put as a list of its own, with its own company. */
function groupNotes(devices: readonly TraccarDevice[], groups: readonly TraccarGroup[]): string[] {
  const counts = groups.flatMap(({ id, name }) => {
    const count = devices.filter(({ groupId }) => groupId === id).length
    return count > 0 ? [`${name} (${count})`] : []
  })
  return counts.length > 0 ? [`groups: ${listText(counts)}; --group takes the devices of one alone`] : []
}

/** The id of the only driver of a device, if it may be that of a courier. */
function courierOf(drivers: readonly TraccarDriver[]): { readonly id: string } | { readonly note: string } | undefined {
  const [driver, ...more] = drivers
  if (!driver) return undefined
  if (more.length > 0) return { note: `has ${drivers.length} drivers: no courier is taken over` }
  const id = int64(driver.uniqueId)
  return id === undefined
    ? { note: `the id of its driver ${driver.name} is no number: no courier is taken over` }
    : { id }
}

/** The listeners of gateway.yaml with which trackers reach the old server through this one. */
async function trialLines(protocols: readonly string[], host = 'OLD-SERVER'): Promise<string[]> {
  const { protocolPorts } = await import('../../protocols/index.ts')
  const known = protocolPorts.filter(({ name }) => protocols.includes(name))
  const lines = known.flatMap(({ name, ...ports }) =>
    (['tcp', 'udp', 'http'] as const).flatMap((transport) => {
      const port = ports[transport]
      if (port === undefined) return []
      return `  - { transport: ${transport}, port: ${port}, protocol: ${name}, trial: { host: "${host}", port: ${port} } }`
    }),
  )
  const others = protocols.filter((name) => !known.some((each) => each.name === name))
  return [
    '',
    '# gateway.yaml: this list replaces the default listeners. The ports are the usual ones: look whether the old server has others.',
    ...(lines.length > 0
      ? ['listeners:', ...lines]
      : ['# The protocols of the fleet are not known: no position was read.']),
    ...others.map((name) => `# ${name}: not a protocol of waybridge; its trackers stay at the old server`),
  ]
}

const REFUSED = [400, 403, 404]
const TIMEOUT_MS = 30_000
const MOST_TRIES = 5
const PAUSE_MS = 1000
